#!/bin/sh
# Installs `fp`, the program of Fractal Planner: curl -fsSL …/install.sh | sh
#
# FP_INSTALL_DIR names the folder to install to (~/.local/bin), FP_VERSION a version other than the latest.
set -eu

main() {
  url=${FP_INSTALL_URL:-https://github.com/fractal-planner/fractal-planner/releases}
  folder=${FP_INSTALL_DIR:-$HOME/.local/bin}
  case ${FP_VERSION-} in
    '') url=$url/latest/download ;;
    *) url=$url/download/v${FP_VERSION#v} ;;
  esac
  case $(uname -s)-$(uname -m) in
    Linux-x86_64) target=x86_64-unknown-linux-musl ;;
    Linux-aarch64 | Linux-arm64) target=aarch64-unknown-linux-musl ;;
    Darwin-x86_64) target=x86_64-apple-darwin ;;
    Darwin-arm64) target=aarch64-apple-darwin ;;
    *) fail "there is no program for $(uname -s) on $(uname -m)" "build it: cargo install --git the repository" ;;
  esac
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  trap 'exit 1' HUP INT TERM

  download "$url/SHA256SUMS" "$scratch/SHA256SUMS"
  sum=$(grep -E "^[0-9a-f]{64}  fp-[0-9A-Za-z.+-]*-$target\.tar\.gz\$" "$scratch/SHA256SUMS" | head -n 1)
  [ -n "$sum" ] || fail "the release has no program for $target" "look at $url/SHA256SUMS"
  archive=${sum#*  }
  download "$url/$archive" "$scratch/$archive"
  echo "$sum" >"$scratch/expected"
  (cd "$scratch" && check expected) ||
    fail "the checksum of $archive is wrong" "try again; if it stays wrong, report it"
  tar -xzf "$scratch/$archive" -C "$scratch"
  mkdir -p "$folder"
  # In one step, also where the old program runs.
  cp "$scratch/${archive%.tar.gz}/fp" "$folder/.fp-new"
  chmod 755 "$folder/.fp-new"
  mv -f "$folder/.fp-new" "$folder/fp"
  echo "Installed $("$folder/fp" --version) to $folder/fp"
  case :$PATH: in
    *:"$folder":*) ;;
    *) echo "Add $folder to your PATH" ;;
  esac
  echo "Next: fp install puts the plugin into Claude Code"
}

download() { # address, file
  if command -v curl >/dev/null; then
    curl -fsSL --retry 3 "$1" -o "$2" || fail "$1 can't be downloaded" "check the network, and the version"
  elif command -v wget >/dev/null; then
    wget -q "$1" -O "$2" || fail "$1 can't be downloaded" "check the network, and the version"
  else
    fail "there is neither curl nor wget" "install one of them"
  fi
}

check() { # file of sums
  if command -v sha256sum >/dev/null; then
    sha256sum -c "$1" >/dev/null 2>&1
  else
    shasum -a 256 -c "$1" >/dev/null 2>&1
  fi
}

fail() { # what happened, what to do
  echo "error: $1" >&2
  echo "hint: $2" >&2
  exit 1
}

# Last: half a script, from a connection that broke, does nothing.
main
