//! Headers: beside the file that includes them, else in a folder of the repository that ends with what is written.

use super::{Index, Target, join, split};

/// Names of folders that compilers are told to look in.
const FOLDERS: [&str; 5] = ["include", "includes", "inc", "headers", "public"];

pub(super) fn quoted(index: &Index<'_>, from: &str, file: &str) -> Option<Target> {
    let beside = join(split(from).0, file).and_then(|path| index.file(&path));
    beside.or_else(|| index.nearest(from, &plain(file)?, |_| true))
}

/// `<a.h>` is a header of the system unless a folder for headers has it; `<a/b.h>` names its library.
pub(super) fn angled(index: &Index<'_>, from: &str, file: &str) -> Option<Target> {
    let path = plain(file)?;
    let in_folder = |front: &str| FOLDERS.contains(&split(front).1);
    index
        .nearest(from, &path, in_folder)
        .or_else(|| index.nearest(from, &path, |_| true).filter(|_| path.contains('/')))
}

/// The path without what leads up in front of it.
fn plain(file: &str) -> Option<String> {
    let parts: Vec<&str> = file.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn headers() {
        check(
            &[
                (
                    "src/a.c",
                    "#include \"a.h\"\n#include \"../inc/b.h\"\n#include \"lib/c.h\"\n#include <string.h>\n#include <proj/d.h>\n#include <d2.h>\n#include \"none.h\"",
                ),
                ("src/a.h", ""),
                ("inc/b.h", ""),
                ("third/lib/c.h", ""),
                ("other/string.h", ""),
                ("include/proj/d.h", ""),
                ("include/d2.h", ""),
            ],
            &["src/a.h", "inc/b.h", "third/lib/c.h", "-", "include/proj/d.h", "include/d2.h", "-"],
        );
        check(&[("x/a.cc", "#include \"u.h\""), ("y/u.h", ""), ("x/deep/u.h", "")], &["x/deep/u.h"]);
        check(&[("a.c", "#include \"../../etc/passwd\""), ("b.c", "")], &["-"]);
    }
}
