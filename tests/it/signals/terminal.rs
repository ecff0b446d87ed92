//! A sign of life on a terminal, and none in a pipe.

use std::io::Read as _;
use std::num::NonZeroU16;

use portable_pty::{CommandBuilder, PtySize, native_pty_system};

use super::{sample, tree};

#[test]
fn a_terminal_shows_that_it_works() {
    let environment = sample();
    for number in 0..3000 {
        environment.write(&format!("src/many/file{number}.rs"), "use crate::signals::a;\n".repeat(50));
    }
    environment.write("tree.md", tree(&["src/a.rs"]));
    let pty = native_pty_system().openpty(PtySize { rows: 24, cols: 80, ..PtySize::default() }).unwrap();
    let plain = environment.command(env!("CARGO_BIN_EXE_fp"));
    let mut command = CommandBuilder::new(plain.get_program());
    command.args(["signals", "tree.md"]);
    command.cwd(environment.path(""));
    command.env_clear();
    for (name, value) in plain.get_envs().filter_map(|(name, value)| Some((name, value?))) {
        command.env(name, value);
    }
    command.env("TERM", "xterm-256color");
    let mut child = pty.slave.spawn_command(command).unwrap();
    drop(pty.slave);
    let mut reader = pty.master.try_clone_reader().unwrap();
    let mut bytes = Vec::new();
    // The end of a terminal is an error to its reader.
    drop(reader.read_to_end(&mut bytes));
    assert!(child.wait().unwrap().success());
    assert!(String::from_utf8_lossy(&bytes).contains("Files read: "), "{}", String::from_utf8_lossy(&bytes));
    let [rows, columns] = [24, 80].map(|size| NonZeroU16::new(size).unwrap());
    let mut screen = vt100::Parser::new(rows, columns, 0);
    screen.process(&bytes);
    let shown = screen.screen().contents();
    assert!(shown.contains("Write part 1") && !shown.contains("Files read"), "{shown}");
    let piped = environment.fp(&["signals", "tree.md"]);
    assert_eq!(piped.stderr, "");
}
