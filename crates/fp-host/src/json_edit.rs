//! Changes one value in the text of a JSON object and leaves every other byte as it is: people keep their order, their
//! indentation and keys of which this program knows nothing.

use serde_json::Value;

/// Why a text was not changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// It is not JSON.
    #[error("not JSON: {0}")]
    Syntax(#[from] serde_json::Error),
    /// It is no object, or what should be a group in it is none.
    #[error("{0} is not an object")]
    NotAnObject(String),
}

/// Says `value` for the key `path`, from the outermost group to the key itself, in the JSON object `text`. Groups that
/// are not there are made.
///
/// # Errors
/// `text` is no JSON object, or a group of `path` is something else.
pub fn set(text: &str, path: &[&str], value: &Value) -> Result<String, EditError> {
    let root = root(text)?;
    let style = Style::of(text, &root);
    let Some((object, rest)) = innermost(text, root, path)? else { return Ok(text.to_owned()) };
    let (key, inner) = rest.split_first().expect("a path ends in a key");
    if let Some(member) = object.member(text, key) {
        let (start, end) = member.value;
        let wanted = nested(inner, value);
        if serde_json::from_str::<Value>(&text[start..end])? == wanted {
            return Ok(text.to_owned());
        }
        let new = style.shown(&wanted, style.depth_of(text, member.key.0));
        return Ok(format!("{}{new}{}", &text[..start], &text[end..]));
    }
    Ok(style.insert(text, &object, key, &nested(inner, value)))
}

/// Takes the key `path` out of the JSON object `text`, and the groups that have nothing else in them.
///
/// # Errors
/// `text` is no JSON object, or a group of `path` is something else.
pub fn unset(text: &str, path: &[&str]) -> Result<String, EditError> {
    let root = root(text)?;
    let Some((object, [key])) = innermost(text, root, path)? else { return Ok(text.to_owned()) };
    if object.members.len() == 1 && path.len() > 1 && object.member(text, key).is_some() {
        return unset(text, &path[..path.len() - 1]);
    }
    let Some(at) = object.members.iter().position(|member| member.name(text) == *key) else {
        return Ok(text.to_owned());
    };
    let (start, end) = match (at.checked_sub(1), object.members.get(at + 1)) {
        (Some(before), _) => (object.members[before].value.1, object.members[at].value.1),
        (None, Some(next)) => (object.members[at].key.0, next.key.0),
        (None, None) => (object.open + 1, object.close),
    };
    Ok(format!("{}{}", &text[..start], &text[end..]))
}

/// The outermost object of `text`, which is JSON.
fn root(text: &str) -> Result<Object, EditError> {
    let value: Value = serde_json::from_str(text)?;
    if !value.is_object() {
        return Err(EditError::NotAnObject("the text".into()));
    }
    Ok(Scan { text, at: 0 }.object())
}

/// The innermost object on the way of `path` that is there, and what of the path is left; the last key always is.
fn innermost<'p, 'k>(
    text: &str,
    root: Object,
    path: &'p [&'k str],
) -> Result<Option<(Object, &'p [&'k str])>, EditError> {
    if path.is_empty() {
        return Ok(None);
    }
    let (mut object, mut rest) = (root, path);
    while let [key, inner @ ..] = rest
        && !inner.is_empty()
    {
        let Some(member) = object.member(text, key) else { break };
        let value = &text[member.value.0..member.value.1];
        if value == "null" {
            break;
        }
        if !value.starts_with('{') {
            let done = path.len() - inner.len();
            return Err(EditError::NotAnObject(path[..done].join(".")));
        }
        object = Scan { text, at: member.value.0 }.object();
        rest = inner;
    }
    Ok(Some((object, rest)))
}

/// `value` within the groups `path`.
fn nested(path: &[&str], value: &Value) -> Value {
    path.iter()
        .rev()
        .fold(value.clone(), |value, key| Value::Object([((*key).to_owned(), value)].into_iter().collect()))
}

/// Where the parts of an object are, in bytes.
struct Object {
    open: usize,
    close: usize,
    members: Vec<Member>,
}

struct Member {
    key: (usize, usize),
    value: (usize, usize),
}

impl Member {
    fn name(&self, text: &str) -> String {
        serde_json::from_str(&text[self.key.0..self.key.1]).unwrap_or_default()
    }
}

impl Object {
    fn member(&self, text: &str, key: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.name(text) == key)
    }
}

/// How a text is laid out.
struct Style {
    newline: &'static str,
    /// One step of indentation.
    unit: String,
    /// Whether all of it is on one line.
    flat: bool,
}

impl Style {
    fn of(text: &str, root: &Object) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let first = root.members.first();
        let unit = first.map(|member| indentation(text, member.key.0)).filter(|unit| !unit.is_empty());
        let flat = first.is_some() && !text[root.open..root.close].contains('\n');
        Self { newline, unit: unit.unwrap_or("  ").to_owned(), flat }
    }

    /// How many steps the line of the byte `at` is indented.
    fn depth_of(&self, text: &str, at: usize) -> usize {
        indentation(text, at).len() / self.unit.len().max(1)
    }

    /// `text` with another member in `object`.
    fn insert(&self, text: &str, object: &Object, key: &str, value: &Value) -> String {
        let key = Value::from(key);
        let Some(last) = object.members.last() else {
            let depth = self.depth_of(text, object.open);
            let inner = self.shown(value, depth + 1);
            let inside = if self.flat {
                format!("{key}: {inner}")
            } else {
                let (newline, unit) = (self.newline, &self.unit);
                format!("{newline}{}{key}: {inner}{newline}{}", unit.repeat(depth + 1), unit.repeat(depth))
            };
            return format!("{}{inside}{}", &text[..=object.open], &text[object.close..]);
        };
        let own_line = text[object.open..last.key.0].contains('\n');
        let indent = indentation(text, last.key.0);
        let before = if own_line { format!("{}{indent}", self.newline) } else { " ".to_owned() };
        let shown = if own_line { self.shown(value, self.depth_of(text, last.key.0)) } else { flat(value) };
        let at = last.value.1;
        format!("{},{before}{key}: {shown}{}", &text[..at], &text[at..])
    }

    /// `value` as it is written where its line is indented by `depth` steps.
    fn shown(&self, value: &Value, depth: usize) -> String {
        match value {
            Value::Object(fields) if !self.flat && !fields.is_empty() => {
                let (newline, inner) = (self.newline, self.unit.repeat(depth + 1));
                let fields = fields.iter().map(|(key, value)| {
                    format!("{newline}{inner}{}: {}", Value::from(key.as_str()), self.shown(value, depth + 1))
                });
                let fields = fields.collect::<Vec<_>>().join(",");
                format!("{{{fields}{newline}{}}}", self.unit.repeat(depth))
            }
            value => flat(value),
        }
    }
}

/// `value` on one line.
fn flat(value: &Value) -> String {
    let list = |parts: Vec<String>| parts.join(", ");
    match value {
        Value::Array(entries) => format!("[{}]", list(entries.iter().map(flat).collect())),
        Value::Object(fields) => {
            let member =
                |(key, value): (&String, &Value)| format!("{}: {}", Value::from(key.as_str()), flat(value));
            format!("{{{}}}", list(fields.iter().map(member).collect()))
        }
        value => value.to_string(),
    }
}

/// The blanks that the line of the byte `at` begins with.
fn indentation(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &text[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// A walk over text that is known to be JSON.
struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl Scan<'_> {
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(b'}')
    }

    fn skip(&mut self, passed_over: impl Fn(u8) -> bool) -> usize {
        while self.at < self.text.len() && passed_over(self.peek()) {
            self.at += 1;
        }
        self.at
    }

    fn object(&mut self) -> Object {
        let open = self.skip(|byte| byte.is_ascii_whitespace());
        self.at += 1;
        let mut members = Vec::new();
        loop {
            let between = |byte: u8| byte.is_ascii_whitespace() || byte == b',';
            let start = self.skip(between);
            if self.peek() == b'}' {
                return Object { open, close: start, members };
            }
            self.string();
            let key = (start, self.at);
            let value = self.skip(|byte| byte.is_ascii_whitespace() || byte == b':');
            self.value();
            members.push(Member { key, value: (value, self.at) });
        }
    }

    fn string(&mut self) {
        self.at += 1;
        while self.at < self.text.len() && self.peek() != b'"' {
            self.at += if self.peek() == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
    }

    fn value(&mut self) {
        let mut depth = 0_usize;
        while self.at < self.text.len() {
            match self.peek() {
                b'"' => {
                    self.string();
                    if depth == 0 {
                        return;
                    }
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth == 0 => return,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        self.at += 1;
                        return;
                    }
                }
                b',' if depth == 0 => return,
                byte if byte.is_ascii_whitespace() && depth == 0 => return,
                _ => {}
            }
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests;
