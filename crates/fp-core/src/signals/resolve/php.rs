//! Classes of PHP by the namespace that their file declares, else by PSR-4's guess that folders are named like
//! namespaces; and files by their path.

use super::super::imports::Import;
use super::{Index, Target, join, split};
use crate::language::Language;

pub(super) fn resolve(index: &Index<'_>, from: &str, import: &Import) -> Option<Target> {
    match import {
        Import::File(file) => {
            let beside = join(split(from).0, file).and_then(|path| index.file(&path));
            beside.or_else(|| index.file(&join("", file)?))
        }
        Import::Name(name) => {
            let declared = index.types.get(&(Language::Php, name.clone()));
            declared.map(|at| Target::File(*at)).or_else(|| by_folder(index, from, name))
        }
        _ => None,
    }
}

/// The file whose path ends with the longest part of the name, of which at least one folder has to fit.
fn by_folder(index: &Index<'_>, from: &str, name: &str) -> Option<Target> {
    let parts: Vec<&str> = name.split('.').collect();
    let tails = (0..parts.len().saturating_sub(1)).map(|skip| parts[skip..].join("/") + ".php");
    tails.into_iter().find_map(|tail| index.nearest(from, &tail, |_| true))
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn classes_and_files_of_php() {
        check(
            &[
                (
                    "src/Http/Home.php",
                    "<?php namespace App\\Http;\nuse App\\Model\\User;\nuse App\\Old\\Thing;\nuse Vendor\\X;\nrequire __DIR__ . '/../boot.php';\nrequire 'config/app.php';\nrequire '../../../x.php';",
                ),
                ("lib/users/User.php", "<?php namespace App\\Model; class User {}"),
                ("src/Old/Thing.php", "<?php class Thing {}"),
                ("src/boot.php", ""),
                ("config/app.php", ""),
                ("X.php", ""),
            ],
            &["lib/users/User.php", "src/Old/Thing.php", "-", "src/boot.php", "config/app.php", "-"],
        );
    }
}
