//! Shells.

use super::check;

#[test]
fn bourne() {
    check(
        "a.sh",
        &[
            ("set -e\n# build the project\nmake build\n", &["# build the project"]),
            ("echo $# ${#x} ${x#y} ${x# y} a#b # yes", &["# yes"]),
            ("cat <<EOF # yes\n# no\nEOF\n# and", &["# yes", "# and"]),
            ("cat <<-'EOF'\n\t# no $(\n\tEOF\n# yes", &["# yes"]),
            ("x=\"$(f \"a # no\" # yes\n) # no\" # and", &["# yes", "# and"]),
            ("echo 'it # no' \"# no\" \\# no # yes", &["# yes"]),
            ("echo $'it\\'s # no' # yes", &["# yes"]),
            ("x=$((1 << 2)) # yes\ny=1 # and", &["# yes", "# and"]),
            ("((x <<= 1)) # yes\n# and", &["# yes", "# and"]),
            ("cat <<< \"# no\" # yes", &["# yes"]),
            ("cat <<A <<B\n# no\nA\n# no\nB\n# yes", &["# yes"]),
            ("x=$(case $y in a) b;; # one\nesac) # two", &["# one", "# two"]),
            ("x=`f # yes` # and", &["# yes", "# and"]),
            ("echo \"${x:-\"# no\"}\" # yes", &["# yes"]),
            ("echo \"${x:-it's}\" # yes", &["# yes"]),
            ("f() { :; } # yes\n(cd a;# and\n)", &["# yes", "# and"]),
            ("echo \"multi\n# no\n\" # yes", &["# yes"]),
            ("#!/bin/sh\r\n# a\r\nb\r\n", &["#!/bin/sh", "# a"]),
            ("echo a \\\n  # yes\n", &["# yes"]),
            ("echo $(( 16#ff + $# )) # yes", &["# yes"]),
        ],
    );
    check("a.zsh", &[("ls *(#qN) (#i)x # yes", &["# yes"]), ("x=${(s:#:)y} # yes", &["# yes"])]);
}

#[test]
fn fish() {
    check(
        "a.fish",
        &[
            ("echo 'it\\'s # no' # yes", &["# yes"]),
            ("set x (f a#b) # yes", &["# yes"]),
            ("echo \"# no $x\" # yes", &["# yes"]),
            ("echo \\# no # yes", &["# yes"]),
            ("echo \"$(f \"# no\")\" # yes", &["# yes"]),
            ("if true # yes\nend", &["# yes"]),
        ],
    );
}
