//! The specs of a task as a part of what its builder is given, in whatever room there is.

use std::fmt::Write as _;

use super::{ReadMode, Spec};

/// The section of a payload with the specs that apply, as [`super::applicable`] lists them; empty where none does.
/// `room` is in bytes; `path` says where a spec is, `command` prints all of them.
///
/// Required ones are there as text as far as the room goes, quoted, so that none of their lines passes for a section of
/// the payload. What does not fit is to be read, by its path; where not even the paths fit, by `command`. Optional ones
/// have a line each. Only that last resort and the heading can exceed the room.
#[must_use]
pub fn payload_section(
    specs: &[(&Spec, String)],
    room: usize,
    path: impl Fn(&Spec) -> String,
    command: &str,
) -> String {
    if specs.is_empty() {
        return String::new();
    }
    let (required, optional): (Vec<&Spec>, Vec<&Spec>) =
        specs.iter().map(|(spec, _)| *spec).partition(|spec| spec.read_mode == ReadMode::Required);
    let mut text = String::from("\n## PROJECT SPECS\n");
    let named: Vec<String> = required
        .iter()
        .map(|spec| format!("- Read {} before you begin: {}\n", path(spec), spec.title))
        .collect();
    let mut used = text.len() + named.iter().map(String::len).sum::<usize>();
    if used > room {
        let _ = writeln!(text, "- Run `{command}` before you begin, and keep to what it prints");
        return text;
    }
    for (spec, line) in required.iter().zip(named) {
        let quoted = quoted(spec);
        if used - line.len() + quoted.len() <= room {
            used = used - line.len() + quoted.len();
            text.push_str(&quoted);
        } else {
            text.push_str(&line);
        }
    }
    text.push_str(&lines(&optional, room.saturating_sub(used), path, command));
    text
}

fn quoted(spec: &Spec) -> String {
    let mut text = format!("{}, which every task keeps to:\n", spec.title);
    for line in spec.body.lines() {
        text.push_str(if line.trim().is_empty() { ">" } else { "> " });
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A line for each, as many as there is room for; the last line says how many there are beside them.
fn lines(specs: &[&Spec], room: usize, path: impl Fn(&Spec) -> String, command: &str) -> String {
    let more = |count: usize| format!("- ({count} more where they help: `{command}`)\n");
    let reserved = more(specs.len()).len();
    let mut text = String::new();
    for (at, spec) in specs.iter().enumerate() {
        let line = format!("- Where it helps, read {}: {}\n", path(spec), spec.title);
        let last = at + 1 == specs.len();
        if text.len() + line.len() + if last { 0 } else { reserved } > room {
            let rest = more(specs.len() - at);
            return if text.len() + rest.len() > room { text } else { text + &rest };
        }
        text.push_str(&line);
    }
    text
}
