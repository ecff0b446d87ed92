#!/bin/sh
# Makes a repository to measure on: FILES source files of five languages that import each other, a history of
# COMMITS commits over the five months before END by eight authors, and a plan of LEAVES leaves with two or three
# files each. The same arguments make the same repository, to the byte.
#
#     benches/repository.sh FOLDER [FILES [COMMITS [LEAVES [END]]]]
#
# FOLDER must not exist. END is in seconds since 1970; the plan is `bench-20261121`.
set -eu

folder=${1:?the folder to make}
files=${2:-5000}
commits=${3:-2000}
leaves=${4:-100}
end=${5:-1795251600}

if [ -e "$folder" ]; then
    echo "error: $folder exists" >&2
    echo "hint: name a folder that is to be made" >&2
    exit 2
fi
git init --quiet --initial-branch main "$folder"
cd "$folder"

# Prints a stream for `git fast-import`. A file is named after its number alone, so that any file can import any.
# shellcheck disable=SC2016
stream='
function random(limit) { seed = (seed * 48271) % 2147483647; return seed % limit }
function folder(n) { return "part" int(n / 50) }
function path(n,   kind) {
    kind = n % 5
    if (kind == 0) return "rust/src/" folder(n) "/m" n ".rs"
    if (kind == 1) return "web/src/" folder(n) "/m" n ".ts"
    if (kind == 2) return "python/" folder(n) "/m" n ".py"
    if (kind == 3) return "go/" folder(n) "/m" n ".go"
    return "java/src/main/java/" folder(n) "/M" n ".java"
}
# Another file of the same language.
function other(n) { return n % 5 + 5 * random(int(files / 5)) }
function import_of(n, m,   kind) {
    kind = n % 5
    if (kind == 0) return "use crate::" folder(m) "::m" m "::run;\n"
    if (kind == 1) return "import { run as run" m " } from \"../" folder(m) "/m" m "\";\n"
    if (kind == 2) return "from python." folder(m) ".m" m " import run\n"
    if (kind == 3) return "import _ \"example.com/bench/" folder(m) "\"\n"
    return "import " folder(m) ".M" m ";\n"
}
function content(n, revision,   text, i, mark) {
    mark = n % 5 == 2 ? "#" : "//"
    text = ""
    if (n % 5 == 3) text = "package " folder(n) "\n"
    if (n % 5 == 4) text = "package " folder(n) ";\n"
    for (i = 0; i < 4; i++) text = text import_of(n, other(n))
    for (i = 0; i < 40 + n % 160; i++)
        text = text mark " line " i " of file " n ", which says nothing but takes its place\n"
    return text mark " revision " revision "\n"
}
function file(name, text) { printf "M 100644 inline %s\ndata %d\n%s\n", name, length(text), text }
function commit(number, subject,   author) {
    author = random(8)
    printf "commit refs/heads/main\n"
    printf "author Author %d <author%d@example.com> %d +0000\n", author, author, end - (commits - number) * step
    printf "committer Author %d <author%d@example.com> %d +0000\n", author, author, end - (commits - number) * step
    printf "data %d\n%s\n", length(subject), subject
}
BEGIN {
    seed = 20261121
    step = int(150 * 86400 / commits)
    commit(1, "Start")
    file(".gitignore", "ignored/\n")
    file("rust/Cargo.toml", "[package]\nname = \"bench\"\n")
    file("rust/src/lib.rs", "// the root\n")
    file("go/go.mod", "module example.com/bench\n")
    for (n = 0; n < files; n++) file(path(n), content(n, 0))
    for (i = 2; i <= commits; i++) {
        commit(i, random(4) == 0 ? "Fix part " i : "Change part " i)
        for (k = 0; k < 3; k++) {
            n = random(files)
            file(path(n), content(n, i))
        }
    }
    print "done"
}
'
awk -v files="$files" -v commits="$commits" -v end="$end" "$stream" | git fast-import --quiet --done
git reset --quiet --hard main

plan=.fractal-planner/plans/bench-20261121
mkdir -p "$plan"
printf '*\n' >.fractal-planner/plans/.gitignore
# shellcheck disable=SC2016
tree='
function random(limit) { seed = (seed * 48271) % 2147483647; return seed % limit }
BEGIN {
    seed = 7
    while (("git ls-files rust web python go java" | getline line) > 0) names[count++] = line
    print "## Root Task\n- [ID: root] Bench (Complexity: 9)\n\n### Subtasks"
    for (i = 1; i <= leaves; i++) {
        list = names[random(count)] ", " names[random(count)]
        if (i % 2) list = list ", " names[random(count)]
        printf "- [ID: %d] Task %d (Complexity: 2)\n  - Acceptance:\n    - `run` returns %d\n", i, i, i
        printf "  - Dependencies: none\n  - Files: %s\n  - Tests Required: yes\n", list
        printf "  - Hints:\n    - One\n    - Two\n  - Guardrails:\n    - Do NOT modify files outside: %s\n", list
        printf "    - Do NOT add new dependencies\n  - Test Commands: true\n"
    }
}
'
awk -v leaves="$leaves" "$tree" >"$plan/tasks.md"
