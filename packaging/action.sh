#!/usr/bin/env bash
# The GitHub Action: aperture check with annotations. Uses the aperture on PATH, else that of a release, whose checksum is compared.
set -euo pipefail

if ! command -v aperture >/dev/null; then
    case $(uname -s)-$(uname -m) in
    Linux-x86_64) target=x86_64-unknown-linux-musl ;;
    Linux-aarch64) target=aarch64-unknown-linux-musl ;;
    Darwin-arm64) target=aarch64-apple-darwin ;;
    Darwin-x86_64) target=x86_64-apple-darwin ;;
    *)
        echo "::error::there is no release of aperture for $(uname -s) on $(uname -m); install it before this step"
        exit 2
        ;;
    esac
    name=aperture-$APERTURE_VERSION-$target
    folder=${RUNNER_TEMP:-$(mktemp -d)}/aperture
    mkdir -p "$folder"
    base=https://github.com/aperture-context/aperture/releases/download/v$APERTURE_VERSION
    curl --fail --silent --show-error --location --output "$folder/$name.tgz" "$base/$name.tgz"
    curl --fail --silent --show-error --location --output "$folder/sums" "$base/SHA256SUMS-$(uname -s | sed 's/Darwin/macOS/')"
    (cd "$folder" && grep " $name.tgz\$" sums | sha256sum --check --quiet -)
    tar -C "$folder" -xzf "$folder/$name.tgz"
    PATH=$folder/$name:$PATH
fi

if [ -n "${APERTURE_SESSIONS:-}" ]; then
    # Blanks separate files, and globs are expanded.
    # shellcheck disable=SC2206
    sessions=($APERTURE_SESSIONS)
else
    sessions=()
    while IFS= read -r -d '' file; do sessions+=("$file"); done < <(git ls-files -z '*.jsonl')
fi
if [ ${#sessions[@]} -eq 0 ]; then
    echo "no sessions to check"
    exit 0
fi
# shellcheck disable=SC2086
exec aperture check ${APERTURE_ARGUMENTS:---no-secrets --no-damage} --format github "${sessions[@]}"
