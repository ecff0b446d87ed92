//! Tells cargo to rebuild when a file is added, since `include_dir!` doesn't notice that.

fn main() {
    for tree in ["plugin", "skills", "agents", "hooks"] {
        println!("cargo::rerun-if-changed={tree}");
    }
}
