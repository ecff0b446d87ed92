//! A recording of a terminal as an animated SVG: each line of the screen is drawn once for each text that it had, and
//! shown while it had it.

use std::fmt::Write;
use std::io::{Read as _, Write as _};
use std::num::NonZero;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use vt100::Color;

use super::Outcome;
use super::sample::Stage;

/// The time between two looks at the screen.
const FRAME: Duration = Duration::from_millis(150);
/// How long the last screen stays before the recording begins again.
const REST: f64 = 5.0;
/// Nobody is at work when the log has been as it is for this long.
const QUIET: Duration = Duration::from_secs(7);
const CELL: (f64, f64) = (8.4, 18.0);
const MARGIN: (f64, f64) = (16.0, 44.0);

/// A line of the screen, as markup, from one moment to another.
struct Shown {
    row: u16,
    text: String,
    from: f64,
    to: f64,
}

pub(crate) struct Recording {
    title: String,
    columns: u16,
    rows: u16,
    shown: Vec<Shown>,
    seconds: f64,
}

impl Recording {
    /// Runs `fp` with these words in a terminal of this many columns and rows.
    pub(crate) fn of(stage: &Stage, words: &[&str], (columns, rows): (u16, u16)) -> Outcome<Self> {
        let size = PtySize {
            rows,
            cols: columns,
            ..PtySize::default()
        };
        let pair = native_pty_system().openpty(size)?;
        let mut command = CommandBuilder::new(stage.program());
        command.args(words);
        command.cwd(stage.repository());
        for (name, value) in stage.variables() {
            command.env(name, value);
        }
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        let mut child = pair.slave.spawn_command(command)?;
        drop(pair.slave);
        let mut output = pair.master.try_clone_reader()?;
        let mut keyboard = pair.master.take_writer()?;
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 8192];
            while let Ok(count) = output.read(&mut bytes) {
                if count == 0 || sender.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        let title = format!("fp {}", words.join(" "));
        let mut recording = Self {
            title,
            columns,
            rows,
            shown: Vec::new(),
            seconds: 0.0,
        };
        let mut screen =
            vt100::Parser::new(NonZero::try_from(rows)?, NonZero::try_from(columns)?, 0);
        let begin = Instant::now();
        let mut is_over = false;
        while !is_over {
            std::thread::sleep(FRAME);
            is_over = child.try_wait()?.is_some();
            if stage.is_quiet_for(QUIET)? {
                // Only the question is left.
                keyboard.write_all(b"\x03\x03")?;
                child.wait()?;
                break;
            }
            while let Ok(bytes) = receiver.try_recv() {
                screen.process(&bytes);
            }
            recording.look(screen.screen(), begin.elapsed().as_secs_f64());
        }
        recording.seconds = begin.elapsed().as_secs_f64() + REST;
        let end = recording.seconds;
        recording
            .shown
            .iter_mut()
            .filter(|one| one.to.is_infinite())
            .for_each(|one| one.to = end);
        Ok(recording)
    }

    /// Takes in the screen as it is `now`.
    fn look(&mut self, screen: &vt100::Screen, now: f64) {
        for row in 0..self.rows {
            let text = line(screen, row, self.columns);
            let last = self
                .shown
                .iter_mut()
                .rev()
                .find(|one| one.row == row && one.to.is_infinite());
            match last {
                Some(one) if one.text == text => continue,
                Some(one) => one.to = now,
                None => {}
            }
            if !text.is_empty() {
                self.shown.push(Shown {
                    row,
                    text,
                    from: now,
                    to: f64::INFINITY,
                });
            }
        }
    }

    pub(crate) fn svg(&self) -> String {
        let width = f64::from(self.columns) * CELL.0 + 2.0 * MARGIN.0;
        let height = f64::from(self.rows) * CELL.1 + MARGIN.1 + 14.0;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"{0}\">\n\
             <style>text{{font:14px ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#d8dae0;white-space:pre}}\
             g.l{{visibility:hidden;animation:{1:.1}s step-end infinite}}",
            self.title, self.seconds
        );
        for (number, one) in self.shown.iter().enumerate() {
            let share = |at: f64| at / self.seconds * 100.0;
            let (from, to) = (share(one.from), share(one.to));
            let hidden = if to < 99.9 {
                format!("{to:.2}%{{visibility:hidden}}")
            } else {
                String::new()
            };
            let _ = write!(
                svg,
                "@keyframes k{number}{{{from:.2}%{{visibility:visible}}{hidden}}}"
            );
        }
        // Whoever wants no motion sees the end.
        svg.push_str("@media (prefers-reduced-motion:reduce){g.l{animation:none!important}g.end{visibility:visible}}</style>\n");
        let _ = writeln!(
            svg,
            "<rect width=\"100%\" height=\"100%\" rx=\"10\" fill=\"#16181d\"/>\
             <circle cx=\"20\" cy=\"19\" r=\"6\" fill=\"#ff5f57\"/><circle cx=\"40\" cy=\"19\" r=\"6\" fill=\"#febc2e\"/>\
             <circle cx=\"60\" cy=\"19\" r=\"6\" fill=\"#28c840\"/>\
             <text x=\"{:.0}\" y=\"24\" text-anchor=\"middle\" style=\"fill:#8b8f99\">{}</text>",
            width / 2.0,
            self.title
        );
        for (number, one) in self.shown.iter().enumerate() {
            let class = if one.to >= self.seconds { "l end" } else { "l" };
            let y = MARGIN.1 + f64::from(one.row) * CELL.1 + 14.0;
            let _ = writeln!(
                svg,
                "<g class=\"{class}\" style=\"animation-name:k{number}\"><text y=\"{y:.0}\">{}</text></g>",
                one.text
            );
        }
        svg.push_str("</svg>\n");
        svg
    }
}

/// The look of a cell.
#[derive(PartialEq, Clone, Copy)]
struct Look {
    colour: Color,
    bold: bool,
    dim: bool,
}

/// A line of the screen as spans of one look, each at its column.
fn line(screen: &vt100::Screen, row: u16, columns: u16) -> String {
    let mut spans: Vec<(u16, Look, String)> = Vec::new();
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column) else {
            continue;
        };
        if cell.is_wide_continuation() {
            continue;
        }
        let look = Look {
            colour: cell.fgcolor(),
            bold: cell.bold(),
            dim: cell.dim(),
        };
        let text = if cell.has_contents() {
            cell.contents()
        } else {
            " "
        };
        match spans.last_mut() {
            Some((_, last, span)) if *last == look => span.push_str(text),
            _ => spans.push((column, look, text.to_owned())),
        }
    }
    let mut markup = String::new();
    for (column, look, text) in spans {
        let (text, skipped) = (text.trim_end(), text.len() - text.trim_start().len());
        if text.is_empty() {
            continue;
        }
        let x = MARGIN.0 + (f64::from(column) + skipped as f64) * CELL.0;
        let width = text.trim_start().chars().count() as f64 * CELL.0;
        let weight = if look.bold {
            " font-weight=\"700\""
        } else {
            ""
        };
        let fill = fill(look).map_or_else(String::new, |fill| format!(" style=\"fill:{fill}\""));
        let text = text.trim_start().replace('&', "&amp;").replace('<', "&lt;");
        let _ = write!(
            markup,
            "<tspan x=\"{x:.1}\" textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\"{weight}{fill}>{text}</tspan>"
        );
    }
    markup
}

fn fill(look: Look) -> Option<&'static str> {
    match look.colour {
        Color::Idx(1 | 9) => Some("#ff8b85"),
        Color::Idx(2 | 10) => Some("#6bd394"),
        Color::Idx(3 | 11) => Some("#f4b455"),
        Color::Idx(4 | 12) => Some("#7fb6ff"),
        Color::Idx(5 | 13) => Some("#c4a6ff"),
        Color::Idx(6 | 14) => Some("#6fd3d8"),
        Color::Idx(8) => Some("#8b8f99"),
        _ if look.dim => Some("#8b8f99"),
        _ => None,
    }
}
