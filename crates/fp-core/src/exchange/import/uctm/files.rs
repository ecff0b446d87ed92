//! The files that a task of uctm lists, in a table or as a list.

use super::labels::is;
use crate::exchange::import::markdown::{Section, entries, plain, tables};
use crate::exchange::import::words;
use crate::exchange::portable::PortableFile;

/// The files that a section lists.
pub(super) fn files(section: &Section<'_>) -> Vec<PortableFile> {
    let found = tables(&section.lines);
    let of_table = found.iter().flat_map(|table| {
        table.rows.iter().filter_map(|(_, row)| {
            let path =
                table.cell(row, is(&["path", "file", "경로", "파일"])).or(row.first().map(String::as_str))?;
            let action =
                table.cell(row, is(&["action", "change", "작업", "동작", "액션", "유형"])).map(plain);
            let what = table.cell(row, is(&["description", "purpose", "설명", "내용"]));
            words::file(path_in(path), action.as_deref(), what)
        })
    });
    let of_list = entries(&section.lines).into_iter().flat_map(|entry| of_line(&entry.text));
    of_table.chain(of_list).collect()
}

/// `` `src/a.rs` — CREATE `` and the like; several where a line lists several.
pub(super) fn of_line(text: &str) -> Vec<PortableFile> {
    let dash = [" — ", " – ", " - ", ": "].into_iter().find_map(|dash| text.split_once(dash));
    let Some((path, action)) = dash else {
        return words::pieces(text)
            .iter()
            .filter_map(|path| words::file(path_in(path), None, None))
            .collect();
    };
    let action = plain(action);
    let is_new_or_gone = words::file("a", Some(&action), None).is_some_and(|file| file.note.is_some());
    let changes = ["modify", "update", "edit", "수정", "변경"].contains(&action.to_lowercase().as_str());
    let what = (!is_new_or_gone && !changes).then_some(&*action);
    words::file(path_in(path), Some(&action), what).into_iter().collect()
}

/// The path in a cell, which may be code, a link, or emphasised.
fn path_in(text: &str) -> &str {
    let text = text.trim();
    let text = text.strip_prefix("**").and_then(|rest| rest.strip_suffix("**")).unwrap_or(text);
    let of_link = text.strip_prefix('[').and_then(|rest| rest.split_once("](")).map(|(path, _)| path);
    of_link.unwrap_or(text).trim_matches('`')
}
