#!/usr/bin/env bash
# Builds the archives of a release into target/release-archives: packaging/release.sh [TARGET…]; without a target, for this machine.
# A target that cannot be linked here is checked only, and named at the end.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
host=$(rustc -vV | sed -n 's/^host: //p')
out=target/release-archives
profile=${APERTURE_PROFILE:-dist}
mkdir -p "$out"
checked=()

# Prints the command of cargo that builds for a target, or nothing if nothing here links it.
builder() {
    case $1 in
    "$host") echo build ;;
    *-linux-musl | *-linux-gnu) command -v cargo-zigbuild >/dev/null && echo zigbuild ;;
    x86_64-pc-windows-gnu) command -v x86_64-w64-mingw32-gcc >/dev/null && echo build ;;
    *-apple-darwin) [ "$(uname)" = Darwin ] && echo build ;;
    esac
}

for target in "${@:-$host}"; do
    command=$(builder "$target" || true)
    if [ -z "$command" ]; then
        cargo check --locked --target "$target"
        checked+=("$target")
        continue
    fi
    cargo "$command" --locked --profile "$profile" --target "$target"
    end=
    case $target in *windows*) end=.exe ;; esac
    name=aperture-$version-$target
    folder=$out/$name
    rm -rf "$folder"
    mkdir -p "$folder/man" "$folder/completions"
    cp "${CARGO_TARGET_DIR:-target}/$target/$profile/aperture$end" "$folder/"
    cp README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$folder/"
    cp man/*.1 "$folder/man/"
    cp completions/* "$folder/completions/"
    tar -C "$out" --sort=name --owner=0 --group=0 --numeric-owner -czf "$out/$name.tgz" "$name"
    rm -rf "$folder"
done

# The list of all crates in the program, where cargo-cyclonedx is installed.
if cargo cyclonedx --version >/dev/null 2>&1; then
    cargo cyclonedx --format json --override-filename "aperture-$version.cdx"
    mv "aperture-$version.cdx.json" "$out/"
else
    echo "no SBOM: cargo install cargo-cyclonedx" >&2
fi
(cd "$out" && sha256sum -- *.tgz >SHA256SUMS 2>/dev/null || true)
ls -l "$out"
for target in ${checked[@]+"${checked[@]}"}; do
    echo "$target: checked, not built: nothing here links it"
done
