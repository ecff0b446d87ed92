//! The little that is needed of manifests in JSON, also with comments and commas that JSON doesn't have.

use serde_json::Value;

/// The name of the package that a `package.json` describes.
pub(super) fn package_name(text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    value.get("name")?.as_str().filter(|name| !name.is_empty()).map(str::to_owned)
}

/// A `tsconfig.json`, which may have comments and a comma behind the last entry.
pub(super) fn lenient(text: &str) -> Option<Value> {
    let text = text.trim_start_matches('\u{feff}');
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&strict(text))).ok()
}

/// `text` as JSON has it: comments are left out, and commas in front of a closing bracket.
fn strict(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if c == '"' {
            let length = text_length(rest);
            out.push_str(&rest[..length]);
            length
        } else {
            if matches!(c, ']' | '}') {
                let kept = out.trim_end();
                let kept = kept.strip_suffix(',').map_or(kept.len(), str::len);
                out.truncate(kept);
            }
            out.push(c);
            c.len_utf8()
        };
        rest = &rest[length..];
    }
    out
}

/// Bytes of the text in quotes that `source` begins with.
fn text_length(source: &str) -> usize {
    let bytes = source.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_with_comments() {
        let text = "{ // a\n \"b\": \"c // \\\" /* d */\", /* e */ \"f\": [1, 2,], }";
        assert_eq!(lenient(text).unwrap(), serde_json::json!({ "b": "c // \" /* d */", "f": [1, 2] }));
        assert_eq!(lenient("{ \"a"), None);
        assert_eq!(lenient("{ \"a\\"), None);
        assert_eq!(lenient("/* "), None);
        assert_eq!(package_name("{\"name\": \"@a/b\"}").as_deref(), Some("@a/b"));
        assert_eq!(package_name("[]"), None);
    }
}
