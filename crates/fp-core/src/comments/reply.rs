//! What the model is told about the comments that its edit added.

/// Longest reply, in bytes.
pub const MAX_BYTES: usize = 2048;

/// Most comments that are shown.
const MAX_SHOWN: usize = 10;

/// Longest text of one comment that is shown, in characters.
const MAX_COMMENT: usize = 90;

/// Longest path that is shown, in characters; its end says more than its beginning.
const MAX_PATH: usize = 160;

/// Where a request of the user's own wants the list.
const PLACE: &str = "{{comments}}";

const REQUEST: &str = "Remove each one that only restates the code next to it. Keep one that tells what the code can't \
                       say (why it is so, what it relies on, what would go wrong otherwise), and say in a few words why \
                       you keep it. Add no new comments for this.";

/// The reply about the remarks at `lines`, each the number of its line and its text, in the file called `path`; all of
/// it fit to be shown, and on one line each. `request` replaces what the model is asked to do: `{{comments}}` in it
/// stands for the list, which is put before it where it has none. At most [`MAX_BYTES`].
#[must_use]
pub fn reply<'l>(
    path: &str,
    lines: impl ExactSizeIterator<Item = (usize, &'l str)>,
    request: Option<&str>,
) -> String {
    let count = lines.len();
    let name = tail(path, MAX_PATH);
    let what = if count == 1 { "a comment".to_owned() } else { format!("{count} comments") };
    let mut list = format!("This edit added {what} to {name}:\n");
    for (line, text) in lines.take(MAX_SHOWN) {
        list.push_str(&format!("  {line}: {}\n", head(text, MAX_COMMENT)));
        if list.len() > MAX_BYTES / 2 {
            break;
        }
    }
    let shown = list.lines().count() - 1;
    if count > shown {
        list.push_str(&format!("  and {} more\n", count - shown));
    }
    let request = request.unwrap_or(REQUEST);
    let whole =
        if request.contains(PLACE) { request.replacen(PLACE, list.trim_end(), 1) } else { list + request };
    within(&whole, MAX_BYTES)
}

/// The first `count` characters.
fn head(text: &str, count: usize) -> String {
    match text.char_indices().nth(count) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}

/// The last `count` characters.
fn tail(text: &str, count: usize) -> String {
    match text.char_indices().rev().nth(count) {
        None => text.to_owned(),
        Some((at, c)) => format!("…{}", &text[at + c.len_utf8()..]),
    }
}

fn within(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let sign = "…";
    let mut end = bytes - sign.len();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{sign}", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_model_reads() {
        let one = reply("src/a.rs", [(2, "// sort it")].into_iter(), None);
        assert_eq!(one, format!("This edit added a comment to src/a.rs:\n  2: // sort it\n{REQUEST}"));
        let own = |request| reply("a.rs", [(2, "// x")].into_iter(), Some(request));
        assert_eq!(own("Why?"), "This edit added a comment to a.rs:\n  2: // x\nWhy?");
        assert_eq!(own("See {{comments}} Why?"), "See This edit added a comment to a.rs:\n  2: // x Why?");
    }

    #[test]
    fn it_is_bounded_whatever_the_edit() {
        for (text, path) in [("// x", "a.rs"), (&*"// 한글 ".repeat(500), &*"é".repeat(5000))] {
            for count in [1, 10, 11, 20_000] {
                for request in [None, Some("요청 ".repeat(3000))] {
                    let lines = vec![(1_000_000, text); count];
                    let reply = reply(path, lines.into_iter(), request.as_deref());
                    assert!(reply.len() <= MAX_BYTES, "{}", reply.len());
                    let rest = count.saturating_sub(MAX_SHOWN);
                    assert!(count <= MAX_SHOWN || reply.contains("more\n"), "{rest}: {reply}");
                }
            }
        }
    }
}
