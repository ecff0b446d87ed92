//! `fp commit` on real repositories: commits exactly the named files, in the style of the history, and leaves
//! the user's other work alone.

mod choosing;
mod names;
mod style;
mod surroundings;

use crate::common::{Environment, Output};

/// A repository with one commit per subject, oldest first, each of which changes `a.txt`.
fn history(subjects: &[&str]) -> Environment {
    let environment = Environment::new();
    environment.git(&["init", "--quiet", "--initial-branch", "main"]);
    for (number, subject) in subjects.iter().enumerate() {
        environment.write("a.txt", format!("{number}\n"));
        environment.git(&["add", "a.txt"]);
        environment.git(&["commit", "--quiet", "--message", subject]);
    }
    environment
}

/// A repository whose commits have plain subjects; the last one adds these files, each with one line.
fn with(files: &[&str]) -> Environment {
    let environment = Environment::new().repo();
    for file in files {
        environment.write(file, "one\n");
    }
    environment.git(&["add", "--all"]);
    environment.git(&[
        "commit",
        "--quiet",
        "--allow-empty",
        "--message",
        "Add the files of the sample",
    ]);
    environment
}

impl Environment {
    /// `fp commit` with these arguments, commit ids masked.
    fn commit(&self, args: &[&str]) -> Output {
        let output = self.fp(&[&["commit"], args].concat());
        let mask = |text: &str| {
            regex::Regex::new(r"\b[0-9a-f]{10}\b")
                .unwrap()
                .replace_all(text, "[COMMIT]")
                .into_owned()
        };
        Output {
            stdout: mask(&output.stdout),
            stderr: mask(&output.stderr),
            code: output.code,
        }
    }

    /// Commits with these arguments and the message `Do it`; it must succeed.
    #[track_caller]
    fn committed(&self, args: &[&str]) -> Output {
        let before = self.count();
        let output = self.commit(&[&["--message", "Do it"], args].concat());
        assert_eq!(output.code, 0, "{output}");
        assert_eq!(self.count(), before + 1, "one commit was made");
        output
    }

    /// Like [`Self::committed`], but `fp commit` must refuse and change neither index nor history. Returns the error.
    #[track_caller]
    fn refused_commit(&self, args: &[&str]) -> String {
        let state = || {
            (
                self.git_status(),
                self.git(&["for-each-ref"]),
                self.git(&["ls-files", "--stage"]),
            )
        };
        let before = state();
        let output = self.commit(&[&["--message", "Do it"], args].concat());
        assert_eq!((output.code, output.stdout.as_str()), (1, ""), "{output}");
        assert_eq!(state(), before, "something was left behind");
        output.stderr
    }

    fn count(&self) -> usize {
        self.run("git", &["rev-list", "HEAD"])
            .stdout
            .lines()
            .count()
    }

    /// The changes in the last commit, each as a letter and a path.
    fn last(&self) -> String {
        let shown = self.git(&["show", "--no-renames", "--format=", "--name-status", "HEAD"]);
        shown.replace('\t', " ")
    }
}
