#!/bin/sh
# Makes the pictures of the screen and of the page: docs/tui.svg and docs/page.png. Needs tmux and chromium.
set -eu
cd "$(dirname "$0")/.."
cargo build --profile quick
program=$PWD/target/quick/aperture
[ -z "${CARGO_TARGET_DIR:-}" ] || program=$CARGO_TARGET_DIR/quick/aperture
home=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; tmux -L aperture-pictures kill-server 2>/dev/null || true; rm -rf "$home"' EXIT
mkdir -p "$home/.claude/projects/-home-dev-aperture"
session=$home/.claude/projects/-home-dev-aperture/11111111-1111-4111-8111-111111111111.jsonl
cp fixtures/score/one-place-for-numbers.jsonl "$session"

tmux -L aperture-pictures new-session -d -x 110 -y 32 "env -i HOME=$home PATH=$PATH TERM=xterm-256color LANG=C.UTF-8 $program tui '$session'"
sleep 2
for key in G Enter Down Down Down; do tmux -L aperture-pictures send-keys "$key"; sleep 0.3; done
sleep 1
tmux -L aperture-pictures capture-pane -e -p > "$home/screen.ansi"
APERTURE_SCREEN=$home/screen.ansi cargo test --quiet --test it fresh::a_captured_screen_becomes_a_picture

env -i HOME="$home" PATH="$PATH" "$program" serve "$session" > "$home/page" &
server=$!
sleep 2
address=$(sed -n 's/^page: //p' "$home/page")
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$home/profile" --window-size=1180,720 \
  --virtual-time-budget=6000 --screenshot=docs/page.png "$address" 2> "$home/log"
ls -l docs/tui.svg docs/page.png
