//! Modules of Swift are folders: those below `Sources` and `Tests`, as its package manager has them, else the
//! folder at the top. A project of Xcode may see it otherwise; nothing in its files says so in a readable way.

/// The module that the file `path` belongs to.
pub(super) fn module_of(path: &str) -> Option<&str> {
    let folders = path.rsplit_once('/')?.0;
    let mut parts = folders.split('/');
    let marked = parts.by_ref().find(|part| matches!(*part, "Sources" | "Source" | "Tests"));
    match (marked, parts.next()) {
        (Some(_), module) => module,
        (None, _) => folders.split('/').next(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn modules_of_swift() {
        check(
            &[
                ("Sources/App/Main.swift", "import Core\nimport Foundation\nimport Kit"),
                ("Sources/Core/A.swift", ""),
                ("Sources/Core/deep/B.swift", ""),
                ("Kit/C.swift", ""),
                ("Package.swift", ""),
            ],
            &["module Core", "-", "module Kit"],
        );
    }
}
