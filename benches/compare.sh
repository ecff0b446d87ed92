#!/usr/bin/env bash
# Prints, side by side and from one run, what commands cost as whole processes beside the bare events of
# `pulldown-cmark` over the same text: wall time, processor time and peak memory. Needs cargo, python3 and git.
#
#     benches/compare.sh [ROUNDS]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo build --quiet --release --locked --bin fp --example yardstick
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
benches/repository.sh "$folder/repository" >/dev/null
python3 benches/compare.py "$PWD/target/release" "$folder" "${1:-5}"
