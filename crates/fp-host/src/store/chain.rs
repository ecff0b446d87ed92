//! Finds the lines of a log that this machine's `fp` didn't write. Each line ends with a code computed over the line
//! and the previous code, using a key that no repository can supply. So lines from a pull, a merge or an editor are
//! detected where they stand, without any state beside the log.

use fp_plan::plan::id::PlanId;

use crate::error::HostResult;
use crate::trust::MachineKey;

const FIELD: &[u8] = b",\"code\":\"";
/// Number of digits in a code.
const DIGITS: usize = 64;

/// Computes the codes of a log, line by line.
#[derive(Debug)]
pub(super) struct Chain<'k> {
    key: Option<&'k MachineKey>,
    plan: &'k PlanId,
    /// The code of the last line.
    pub(super) last: String,
}

impl<'k> Chain<'k> {
    /// Continues the chain of a log of `plan` whose last line has the code `last`, which is empty for a new log.
    pub(super) fn new(key: Option<&'k MachineKey>, plan: &'k PlanId, last: &str) -> Self {
        Self {
            key,
            plan,
            last: last.to_owned(),
        }
    }

    /// Advances past `line`; true if this machine wrote it. Without a key, no line counts as this machine's.
    pub(super) fn read(&mut self, line: &[u8]) -> bool {
        let (body, code) = parts_of(line);
        let due = self.go_on(body);
        due.is_some_and(|due| code == Some(due.as_bytes()))
    }

    /// `line` with the code that comes next in the chain.
    pub(super) fn write(&mut self, line: &[u8]) -> Vec<u8> {
        let (body, _) = parts_of(line);
        let mut written = body.to_vec();
        if let Some(code) = self.go_on(body) {
            written.extend([FIELD, code.as_bytes(), b"\""].concat());
        }
        written.extend(b"}\n");
        written
    }

    fn go_on(&mut self, body: &[u8]) -> Option<String> {
        let parts = [
            b"line",
            self.plan.as_str().as_bytes(),
            self.last.as_bytes(),
            body,
        ];
        let code = self.key?.code_of(&parts);
        self.last.clone_from(&code);
        Some(code)
    }
}

/// Splits `line` into its text, without the code and the last brace, and its code.
fn parts_of(line: &[u8]) -> (&[u8], Option<&[u8]>) {
    let line = line.trim_ascii();
    let line = line.strip_suffix(b"}").unwrap_or(line);
    let coded = line.strip_suffix(b"\"").and_then(|line| {
        let (body, code) = line.split_at_checked(line.len().checked_sub(DIGITS)?)?;
        let is_code = code.iter().all(u8::is_ascii_hexdigit);
        Some((body.strip_suffix(FIELD)?, code)).filter(|_| is_code)
    });
    match coded {
        Some((body, code)) => (body, Some(code)),
        None => (line, None),
    }
}

/// Signs `lines`, a whole log of `plan`, with the key of the user whose trust store is in `folder`.
///
/// # Errors
/// The user's key can't be used.
pub fn log_of_user(folder: &std::path::Path, plan: &PlanId, lines: &[u8]) -> HostResult<Vec<u8>> {
    let key = MachineKey::make(folder)?;
    let mut chain = Chain::new(Some(&key), plan, "");
    let lines = lines.split(|byte| *byte == b'\n');
    let lines = lines.filter(|line| !line.trim_ascii().is_empty());
    Ok(lines.flat_map(|line| chain.write(line)).collect())
}
