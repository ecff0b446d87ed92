//! `import … from 'x'`, `import 'x'`, `export … from 'x'`, `import('x')`, `require('x')` and
//! `import a = require('x')`. Of a component of Vue or Svelte only its scripts are read.

use super::lexer::{Lexer, Token};
use super::{Found, Import, text};
use crate::language::Language;

pub(super) fn find(path: &str, source: &[u8], found: &mut Found) {
    if path.ends_with(".vue") || path.ends_with(".svelte") {
        scripts(source, found);
    } else {
        script(source, found);
    }
}

/// Reads what stands between `<script …>` and `</script>`.
fn scripts(mut source: &[u8], found: &mut Found) {
    let position =
        |text: &[u8], what: &[u8]| text.windows(what.len()).position(|w| w.eq_ignore_ascii_case(what));
    while let Some(start) = position(source, b"<script") {
        source = &source[start..];
        let Some(open) = source.iter().position(|&b| b == b'>') else { return };
        source = &source[open + 1..];
        let end = position(source, b"</script").unwrap_or(source.len());
        script(&source[..end], found);
        source = &source[end..];
    }
}

fn script(source: &[u8], found: &mut Found) {
    // The last tokens, the newest first.
    let mut last = [Token::Line; 3];
    // Whether a clause is open that ends with `from 'x'`.
    let mut clause = false;
    for token in Lexer::new(source, Language::JavaScript).filter(|token| *token != Token::Line) {
        match token {
            Token::Word(b"import" | b"export") => clause = last[0] != Token::Sign(b'.'),
            Token::Sign(b';' | b'=' | b'(') => clause = false,
            Token::Text(specifier) if imports(&last, clause) && !specifier.windows(2).any(|w| w == b"${") => {
                found.add(Import::File(text(specifier)));
                clause = false;
            }
            _ => {}
        }
        last = [token, last[0], last[1]];
    }
}

/// Whether a text behind the tokens `last` is what is imported.
fn imports(last: &[Token<'_>; 3], clause: bool) -> bool {
    let is_member = |before: Token<'_>| before == Token::Sign(b'.');
    match last {
        [Token::Word(b"from"), ..] => clause,
        [Token::Word(b"import"), before, _] => !is_member(*before),
        [Token::Sign(b'('), Token::Word(b"import" | b"require"), before] => !is_member(*before),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn imports_of_java_script() {
        check(
            "a.ts",
            "import a from './a';\nimport { b, type C as D } from \"../b\";\nimport * as e from 'e'",
            &["file ./a", "file ../b", "file e"],
        );
        check(
            "a.ts",
            "import './side';\nimport type { T } from './t';\nimport x = require('./x');",
            &["file ./side", "file ./t", "file ./x"],
        );
        check(
            "a.js",
            "export * from './a'; export { b } from './b'; export default from_; Array.from('c')",
            &["file ./a", "file ./b"],
        );
        check(
            "a.js",
            "const a = require('./a'), b = await import(`./b`); import(`./${c}`); x.require('d')",
            &["file ./a", "file ./b"],
        );
        check(
            "a.js",
            "// import './a'\n/* require('./b') */ const s = \"import './c'\"; const r = /import '.\\/d'/;",
            &[],
        );
        check("a.js", "export const from = 'x'; const from2 = 'y'\nimport.meta.url", &[]);
        check("a.mjs", "import json from './a.json' with { type: 'json' };", &["file ./a.json"]);
        check(
            "a.vue",
            "<template>it's `</template>\n<script setup lang=\"ts\">\nimport A from './A.vue'\n</script>\n<style>import 'x'</style>",
            &["file ./A.vue"],
        );
        check("a.tsx", "const a = <p>Don't</p>\nimport b from './b'", &["file ./b"]);
    }
}
