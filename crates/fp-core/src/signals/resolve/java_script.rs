//! Module specifiers: relative ones with their extension and `index` left out, aliases of a `tsconfig.json`, and
//! names of packages of the repository.

use super::{Index, Target, ancestors, below, join, manifest, split};

/// Extensions that may be left out, in the order in which they are tried.
const EXTENSIONS: [&str; 12] =
    ["ts", "tsx", "d.ts", "mts", "cts", "js", "jsx", "mjs", "cjs", "json", "vue", "svelte"];
/// What the extension of a compiled file stands for in TypeScript.
const COMPILED: [(&str, &[&str]); 4] =
    [(".js", &["ts", "tsx"]), (".jsx", &["tsx"]), (".mjs", &["mts"]), (".cjs", &["cts"])];

/// `baseUrl` and `paths` of a `tsconfig.json`.
#[derive(Debug)]
pub(super) struct Aliases {
    /// The folder that targets are relative to.
    base: String,
    /// Whether plain specifiers are looked for in it.
    has_base: bool,
    /// Patterns with at most one `*`, each with its targets.
    paths: Vec<(String, Vec<String>)>,
}

impl Aliases {
    /// What `text`, in `folder`, says of them; `None` where that is nothing.
    pub(super) fn read(folder: &str, text: &str) -> Option<Self> {
        let whole = manifest::lenient(text)?;
        let options = whole.get("compilerOptions")?;
        let base_url = options.get("baseUrl").and_then(|base| base.as_str());
        let paths = options.get("paths").and_then(|paths| paths.as_object());
        let targets = |value: &serde_json::Value| {
            let targets = value.as_array().into_iter().flatten();
            targets.filter_map(|target| target.as_str().map(str::to_owned)).collect()
        };
        let mut paths: Vec<(String, Vec<String>)> =
            paths.into_iter().flatten().map(|(pattern, to)| (pattern.clone(), targets(to))).collect();
        // The most exact pattern wins.
        paths.sort_by_key(|(pattern, _)| (pattern.contains('*'), std::cmp::Reverse(pattern.len())));
        if base_url.is_none() && paths.is_empty() {
            return None;
        }
        Some(Self { base: join(folder, base_url.unwrap_or("."))?, has_base: base_url.is_some(), paths })
    }

    /// The paths that `specifier` may stand for.
    fn candidates(&self, specifier: &str) -> Vec<String> {
        let aliased = self.paths.iter().filter_map(|(pattern, targets)| {
            let part = match pattern.split_once('*') {
                None => (pattern == specifier).then_some("")?,
                Some((start, end)) => specifier.strip_prefix(start)?.strip_suffix(end)?,
            };
            Some(targets.iter().map(move |target| target.replacen('*', part, 1)))
        });
        let plain = self.has_base.then(|| specifier.to_owned());
        aliased.flatten().chain(plain).filter_map(|path| join(&self.base, &path)).collect()
    }
}

pub(super) fn resolve(index: &Index<'_>, from: &str, specifier: &str) -> Option<Target> {
    // `./a.css?inline` asks a bundler for something about the file.
    let specifier = specifier.split('?').next()?;
    let folder = split(from).0;
    if specifier.starts_with("./") || specifier.starts_with("../") || matches!(specifier, "." | "..") {
        return module(index, &join(folder, specifier)?);
    }
    let aliases = ancestors(folder).filter_map(|above| index.aliases.get(above));
    let aliased =
        aliases.flat_map(|aliases| aliases.candidates(specifier)).find_map(|path| module(index, &path));
    aliased.or_else(|| package(index, specifier))
}

/// The file that `path` means when it is imported.
fn module(index: &Index<'_>, path: &str) -> Option<Target> {
    let with = |path: &str| EXTENSIONS.iter().find_map(|ext| index.file(&format!("{path}.{ext}")));
    let source = || {
        let (extension, sources) = COMPILED.iter().find(|(extension, _)| path.ends_with(extension))?;
        let stem = path.strip_suffix(extension)?;
        sources.iter().find_map(|source| index.file(&format!("{stem}.{source}")))
    };
    index.file(path).or_else(|| with(path)).or_else(source).or_else(|| with(&below(path, "index")))
}

/// A package of the repository, or something in it.
fn package(index: &Index<'_>, specifier: &str) -> Option<Target> {
    let cut = if specifier.starts_with('@') { 2 } else { 1 };
    let end = specifier.match_indices('/').nth(cut - 1).map_or(specifier.len(), |(at, _)| at);
    let folder = index.packages.get(&specifier[..end])?;
    let inner = specifier[end..].trim_start_matches('/');
    let places = [below(folder, "src"), folder.clone()];
    places.iter().filter_map(|place| join(place, inner)).find_map(|path| module(index, &path))
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn specifiers() {
        check(
            &[
                (
                    "src/a.ts",
                    "import './b'; import '../c'; import './d'; import './e.js'; import '.'; import './style.css?inline'; import 'react'; import '../../../x'",
                ),
                ("src/b.tsx", ""),
                ("c.js", ""),
                ("src/d/index.ts", ""),
                ("src/e.ts", ""),
                ("src/index.ts", ""),
                ("src/style.css", ""),
            ],
            &["src/b.tsx", "c.js", "src/d/index.ts", "src/e.ts", "src/index.ts", "src/style.css", "-", "-"],
        );
        check(&[("a.vue", "<script>import B from './B.vue'</script>"), ("B.vue", "")], &["B.vue"]);
        check(&[("a.ts", "import './b'"), ("b.d.ts", ""), ("b.js", "")], &["b.d.ts"]);
    }

    #[test]
    fn aliases_and_packages() {
        let config = (
            "web/tsconfig.json",
            "{ // x\n\"compilerOptions\": { \"baseUrl\": \".\", \"paths\": { \"@/*\": [\"src/*\"], \"#db\": [\"lib/db.ts\"], }, }, }",
        );
        check(
            &[
                ("web/src/a.ts", "import '@/b'; import '#db'; import 'lib/c'; import '@/none'"),
                config,
                ("web/src/b.ts", ""),
                ("web/lib/db.ts", ""),
                ("web/lib/c.ts", ""),
            ],
            &["web/src/b.ts", "web/lib/db.ts", "web/lib/c.ts", "-"],
        );
        check(
            &[
                ("packages/app/src/a.ts", "import '@org/ui'; import '@org/ui/button'; import 'tool/x'"),
                ("packages/ui/package.json", "{\"name\": \"@org/ui\"}"),
                ("packages/ui/src/index.ts", ""),
                ("packages/ui/src/button.ts", ""),
                ("tool/package.json", "{\"name\": \"tool\"}"),
                ("tool/x.js", ""),
            ],
            &["packages/ui/src/index.ts", "packages/ui/src/button.ts", "tool/x.js"],
        );
    }
}
