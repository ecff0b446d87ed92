//! `include_dir!` does not see a file that is added later; cargo has to be told to look.

fn main() {
    for tree in ["plugin", "skills", "agents", "hooks"] {
        println!("cargo::rerun-if-changed={tree}");
    }
}
