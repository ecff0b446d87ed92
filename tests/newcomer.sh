#!/bin/sh
# What the README and docs/install.md promise to somebody who has a git, a cargo and a C compiler, and nothing else: a clone of the
# committed state in an otherwise empty root, where every command of its shell blocks that sets up or builds is run
# from top to bottom. Claude Code is not there, and commands that need it have to say so.
#
#   sudo sh tests/newcomer.sh [--without-tests]      (Linux; it changes root in a mount namespace of its own)
#
# The crates are downloaded unless FP_NEWCOMER_CARGO_HOME names a cargo folder whose registry may be copied.
set -eu

if [ "${1-}" != inside ]; then
  repository=$(cd "$(dirname "$0")/.." && pwd)
  root=$(mktemp -d "${TMPDIR:-/tmp}/newcomer.XXXXXX")
  trap 'rm -rf "$root"' EXIT INT TERM
  unshare --mount --fork -- sh "$0" inside "$repository" "$root" "${1-}"
  exit
fi

repository=$2
root=$3
skipped=nothing
[ "${4-}" = --without-tests ] && skipped='^cargo test'
home=/home/newcomer

# A folder of this machine, to be read there at the same place or at another one.
see() {
  if [ -d "$1" ]; then
    mkdir -p "$root/${2:-$1}"
    mount --bind -o ro "$1" "$root/${2:-$1}"
  fi
}
for folder in /usr/lib /usr/lib32 /usr/lib64 /usr/libexec /usr/include /usr/share/git-core /etc/ssl /usr/share/ca-certificates; do
  see "$folder"
done
see "$(git --exec-path)"
see "$(rustc --print sysroot)" /opt/rust
ln -s usr/lib "$root/lib"
ln -s usr/lib64 "$root/lib64"
ln -s usr/bin "$root/bin"
mkdir -p "$root/usr/bin" "$root/dev" "$root/proc" "$root/tmp" "$root/etc" "$root$home/.cargo"
chmod 1777 "$root/tmp"
mount -t proc proc "$root/proc"
for device in null zero urandom tty ptmx; do
  [ -e "/dev/$device" ] && : > "$root/dev/$device" && mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/pts" && mount --bind /dev/pts "$root/dev/pts"
ln -s /proc/self/fd "$root/dev/fd"
cp /etc/resolv.conf /etc/hosts /etc/nsswitch.conf "$root/etc/" 2>/dev/null || true
cp /etc/ld.so.cache "$root/etc/" 2>/dev/null || true
printf 'root:x:0:0:root:%s:/bin/sh\n' "$home" > "$root/etc/passwd"

# The compiler and git, and what every system has.
base='sh bash env ls cat cp mv rm mkdir rmdir ln chmod touch head tail tr cut sort uniq wc printf echo test true false
  sleep seq date dirname basename pwd id uname mktemp readlink grep sed find xargs kill ps tee yes stat diff cmp dd sync expr nohup timeout'
for program in git cc gcc as ld ar ranlib nm strip $base; do
  if found=$(command -v "$program") && [ -x "$found" ]; then
    cp -L "$found" "$root/usr/bin/$program"
  fi
done

git clone --quiet "file://$repository" "$root$home/fractal-planner"
for file in config.toml config; do
  cp "${CARGO_HOME:-$HOME/.cargo}/$file" "$root$home/.cargo/" 2>/dev/null || true
done
if [ -n "${FP_NEWCOMER_CARGO_HOME-}" ]; then
  cp -R "$FP_NEWCOMER_CARGO_HOME/registry" "$root$home/.cargo/registry"
fi

cat > "$root/run" <<'RUN'
set -u
cd /home/newcomer/fractal-planner
# The lines of the shell blocks, top to bottom.
sed -n '/^```sh$/,/^```$/p' README.md docs/install.md | grep '^cargo ' | grep -v "$1" > /tmp/commands
[ -s /tmp/commands ] || { echo 'the pages have no commands'; exit 1; }
failed=0
while IFS= read -r command; do
  echo "\$ $command"
  sh -c "$command" > /tmp/output 2>&1 < /dev/null
  status=$?
  case $command in
    *' install' | *' uninstall')
      # Without Claude Code there is nothing to install into, and nothing to remove.
      if grep -q 'Claude Code' /tmp/output || [ $status -eq 0 ]; then status=0; fi ;;
  esac
  tail -n 4 /tmp/output
  if [ $status -ne 0 ]; then
    echo "it ended with $status"
    grep -E '^(error|test .* FAILED|failures:|    [a-z_:]+$)' /tmp/output | tail -n 40
    failed=1
  fi
done < /tmp/commands
"$HOME/.cargo/bin/fp" --version || failed=1
echo "the program has $(wc -c < "$HOME/.cargo/bin/fp") bytes"
exit $failed
RUN
chroot "$root" /usr/bin/env -i HOME="$home" PATH="/opt/rust/bin:/usr/bin:$(git --exec-path)" LANG=C.UTF-8 USER=newcomer /bin/sh /run "$skipped"
