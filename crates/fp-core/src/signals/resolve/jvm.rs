//! Names of packages, namespaces and types, by what files declare: a file that is named like a type holds it. It
//! serves Java and its kin and C#, whose names work the same way.

use super::{Index, Target};
use crate::language::Language;

pub(super) fn resolve(index: &Index<'_>, language: Language, name: &str) -> Option<Target> {
    if let Some(package) = name.strip_suffix(".*") {
        return index.group(language, package).or_else(|| type_of(index, language, package));
    }
    // `using A.B` means a namespace before it means a type.
    let group = || index.group(language, name);
    let inner = || name.rsplit_once('.').and_then(|(package, _)| index.group(language, package));
    match language {
        Language::CSharp => group().or_else(|| type_of(index, language, name)).or_else(inner),
        _ => type_of(index, language, name).or_else(inner),
    }
}

/// The file of a type, or of the type that `name` is a member of.
fn type_of(index: &Index<'_>, language: Language, name: &str) -> Option<Target> {
    let names = std::iter::successors(Some(name), |name| name.rsplit_once('.').map(|(outer, _)| outer));
    names.filter_map(|name| index.types.get(&(language, name.to_owned()))).next().map(|at| Target::File(*at))
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn types_and_packages() {
        check(
            &[
                (
                    "app/src/main/java/a/Main.java",
                    "package a;\nimport a.b.Foo;\nimport a.b.Foo.Inner;\nimport static a.b.Foo.bar;\nimport a.c.*;\nimport java.util.List;\nimport static a.b.Foo.*;",
                ),
                ("app/src/main/java/a/b/Foo.java", "package a.b;"),
                ("lib/src/a/c/X.kt", "package a.c"),
                ("lib/src/a/c/Y.kt", "package a.c"),
            ],
            &[
                "app/src/main/java/a/b/Foo.java",
                "app/src/main/java/a/b/Foo.java",
                "app/src/main/java/a/b/Foo.java",
                "package a.c",
                "-",
                "app/src/main/java/a/b/Foo.java",
            ],
        );
        check(
            &[
                ("a.kt", "import b.twice\nimport b.C as D"),
                ("anywhere/functions.kt", "package b\nfun twice() {}"),
                ("C.kt", "package b"),
            ],
            &["package b", "C.kt"],
        );
        check(
            &[
                (
                    "App/Program.cs",
                    "using Shop.Orders;\nusing static Shop.Math;\nusing O = Shop.Orders.Order;\nusing System.Linq;\nnamespace App;",
                ),
                ("Shop/Orders/Order.cs", "namespace Shop.Orders { class Order {} }"),
                ("Shop/Math.cs", "namespace Shop;\nstatic class Math {}"),
            ],
            &["namespace Shop.Orders", "Shop/Math.cs", "Shop/Orders/Order.cs", "-"],
        );
    }
}
