#!/usr/bin/env bash
# Prints what each hook costs as a whole process beside a process that does nothing, `fp --version`, and a hook of
# shell and Python of the same duty; and the size of the program. Needs cargo, python3 and git.
#
#     benches/hooks.sh [ROUNDS]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo build --quiet --release --locked --bin fp
python3 benches/hooks.py "$PWD/target/release/fp" "${1:-51}"
