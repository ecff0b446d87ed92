//! Where a value stands in JSON text. A parser's own error points behind a value, at times a line behind;
//! people look for where it begins.

/// The line and column (from 1, in characters) at which the value at the dotted path `path` begins in
/// `text`, or its key with `at_key`. `None` where there is no such value.
pub(super) fn of(text: &str, path: &str, at_key: bool) -> Option<(usize, usize)> {
    let mut scan = Scan { text, at: 0 };
    let mut offset = scan.blanks();
    let segments: Vec<&str> = path.split(['.', '[']).filter(|segment| !segment.is_empty()).collect();
    for (index, segment) in segments.iter().enumerate() {
        let key_wanted = at_key && index + 1 == segments.len();
        let (key, value) = match segment.strip_suffix(']') {
            Some(number) => scan.enter_list(number.parse().ok()?)?,
            None => scan.enter_object(segment)?,
        };
        offset = if key_wanted { key } else { value };
    }
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Some((before.matches('\n').count() + 1, before[line_start..].chars().count() + 1))
}

/// Where a parser stopped: at a newline, it counts that as the beginning of the next line.
pub(super) fn of_fault(text: &str, line: usize, column: usize) -> (usize, usize) {
    if column > 0 || line < 2 {
        return (line, column.max(1));
    }
    let before = text.lines().nth(line - 2).unwrap_or_default();
    (line - 1, before.chars().count() + 1)
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl Scan<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) -> usize {
        while self.peek().is_some_and(|b| b.is_ascii_whitespace()) {
            self.at += 1;
        }
        self.at
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        self.blanks();
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn string(&mut self) -> Option<&str> {
        let start = self.at;
        self.take(b'"')?;
        loop {
            match self.peek()? {
                b'\\' => self.at += 2,
                b'"' => break,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        self.text.get(start..self.at)
    }

    fn skip_value(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => drop(self.string()?.len()),
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' | b'}' | b']' if depth == 0 => return Some(()),
                _ => self.at += 1,
            }
        }
    }

    /// Goes to the value of `wanted` in the object that begins here; returns the offsets of key and value.
    fn enter_object(&mut self, wanted: &str) -> Option<(usize, usize)> {
        self.take(b'{')?;
        loop {
            let key_at = self.blanks();
            let key = serde_json::from_str::<String>(self.string()?).ok()?;
            self.take(b':')?;
            let value_at = self.blanks();
            if key == wanted {
                return Some((key_at, value_at));
            }
            self.skip_value()?;
            self.take(b',')?;
        }
    }

    fn enter_list(&mut self, index: usize) -> Option<(usize, usize)> {
        self.take(b'[')?;
        for _ in 0..index {
            self.blanks();
            self.skip_value()?;
            self.take(b',')?;
        }
        let value_at = self.blanks();
        Some((value_at, value_at))
    }
}
