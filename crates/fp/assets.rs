//! The plugin's Markdown, JSON and images, embedded so that any `fp` executable can write the whole plugin.

use include_dir::{Dir, DirEntry, include_dir};

/// Each embedded tree, with its folder in the plugin.
static TREES: [(&str, Dir<'static>); 4] = [
    ("", include_dir!("$CARGO_MANIFEST_DIR/plugin")),
    ("skills/", include_dir!("$CARGO_MANIFEST_DIR/skills")),
    ("agents/", include_dir!("$CARGO_MANIFEST_DIR/agents")),
    ("hooks/", include_dir!("$CARGO_MANIFEST_DIR/hooks")),
];

/// One file of the plugin.
#[derive(Debug, Clone)]
pub(crate) struct PluginFile<'a> {
    /// Its path in the plugin, with `/` between parts, none of them `..`.
    pub(crate) path: String,
    pub(crate) contents: &'a [u8],
}

/// Every file of the plugin except its executable, sorted by path.
pub(crate) fn plugin_files() -> Vec<PluginFile<'static>> {
    let mut files = Vec::new();
    for (folder, tree) in &TREES {
        collect(folder, tree, &mut files);
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// The contents of one of the plugin's files, by its path in the plugin.
pub(crate) fn plugin_file(path: &str) -> Option<&'static [u8]> {
    TREES
        .iter()
        .find_map(|(folder, tree)| Some(tree.get_file(path.strip_prefix(folder)?)?.contents()))
}

fn collect(folder: &str, tree: &'static Dir<'static>, files: &mut Vec<PluginFile<'static>>) {
    for entry in tree.entries() {
        match entry {
            DirEntry::Dir(inner) => collect(folder, inner, files),
            DirEntry::File(file) => {
                let parts: Vec<_> = file
                    .path()
                    .iter()
                    .map(|part| part.to_string_lossy())
                    .collect();
                let path = format!("{folder}{}", parts.join("/"));
                files.push(PluginFile {
                    path,
                    contents: file.contents(),
                });
            }
        }
    }
}
