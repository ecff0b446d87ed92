//! Files of Ruby: relative ones, and those that are found in a folder that is usually on the load path.

use super::{Index, Target, join, split};

/// Folders of the load path, by name.
const FOLDERS: [&str; 5] = ["lib", "app", "spec", "test", "ext"];

pub(super) fn relative(index: &Index<'_>, from: &str, file: &str) -> Option<Target> {
    index.file(&with_extension(&join(split(from).0, file)?))
}

pub(super) fn required(index: &Index<'_>, from: &str, file: &str) -> Option<Target> {
    let path = with_extension(&join("", file)?);
    // Rails loads from every folder of `app`.
    let on_the_path = |front: &str| {
        let (above, name) = split(front);
        front.is_empty() || FOLDERS.contains(&name) || split(above).1 == "app"
    };
    index.nearest(from, &path, on_the_path)
}

fn with_extension(path: &str) -> String {
    if path.ends_with(".rb") { path.to_owned() } else { format!("{path}.rb") }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn files_of_ruby() {
        check(
            &[
                (
                    "lib/app/a.rb",
                    "require_relative 'b'\nrequire 'app/c'\nrequire 'json'\nrequire './d'\nautoload :E, 'app/e.rb'\nrequire 'user'",
                ),
                ("lib/app/b.rb", ""),
                ("lib/app/c.rb", ""),
                ("lib/app/d.rb", ""),
                ("lib/app/e.rb", ""),
                ("app/models/user.rb", ""),
                ("vendor/x/json.rb", ""),
            ],
            &["lib/app/b.rb", "lib/app/c.rb", "-", "lib/app/d.rb", "lib/app/e.rb", "app/models/user.rb"],
        );
        check(
            &[
                ("spec/a_spec.rb", "require 'spec_helper'\nrequire_relative '../../../x'"),
                ("spec/spec_helper.rb", ""),
            ],
            &["spec/spec_helper.rb", "-"],
        );
    }
}
