//! The plugin inside the real Claude Code client, and agents inside the real Codex, driven by a scripted model on
//! loopback.
//!
//! Nothing here needs an account or the network: [`stand_in`] plays the Messages API and the Responses API, a script
//! plays the model, and the clients are the public releases. If a client isn't installed, its tests are ignored; with
//! `FP_REQUIRE_CLIENT=1`, they fail.

mod agents;
mod asking;
mod assumptions;
mod bundle;
mod cast;
mod client_binary;
mod consent;
mod crew;
mod figures;
mod headless;
mod hooks;
mod implement;
mod lead;
mod plan;
mod probe;
mod process;
#[path = "../common/program.rs"]
mod program;
mod rehearsal;
mod request;
mod responses;
mod resume;
mod run;
mod sample;
mod session;
mod stand_in;
mod teammates;
mod terminal;
mod wait;
mod whole;

use std::path::PathBuf;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Completion, Failed, Trial};

/// Lists the tests of a module, each with the module's path in its name.
macro_rules! tests {
    ($($name:ident),* $(,)?) => {
        /// The tests of this module.
        pub(crate) const TESTS: &[(&str, fn())] =
            &[$((concat!(module_path!(), "::", stringify!($name)), $name)),*];
    };
}
pub(crate) use tests;

/// Sessions spend most of their time waiting, so more of them run at once than there are cores.
const THREADS: usize = 4;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(THREADS);
    let trials = [
        assumptions::TESTS,
        rehearsal::TESTS,
        bundle::TESTS,
        plan::TESTS,
        consent::TESTS,
        implement::TESTS,
        teammates::TESTS,
        resume::TESTS,
        hooks::TESTS,
        asking::TESTS,
        whole::TESTS,
        figures::TESTS,
        agents::TESTS,
        lead::TESTS,
    ]
    .concat()
    .into_iter()
    .map(|(name, test)| trial(name, test, client_binary::find));
    let codex = || Ok(client_binary::find()?.and(client_binary::find_codex()?));
    let with_codex = agents::CODEX_TESTS
        .iter()
        .chain(lead::CODEX_TESTS)
        .map(|(name, test)| trial(name, *test, codex));
    libtest_mimic::run(&arguments, trials.chain(with_codex).collect()).exit_code()
}

/// A test that runs if `find` finds the program it needs, and is ignored otherwise.
fn trial(name: &str, test: fn(), find: fn() -> Result<Option<PathBuf>, String>) -> Trial {
    let name = name.strip_prefix("client::").unwrap_or(name);
    Trial::ignorable_test(name, move || match find() {
        Ok(Some(_)) => {
            test();
            Ok(Completion::Completed)
        }
        Ok(None) => Ok(Completion::ignored_with("skipped: no client")),
        Err(reason) => Err(Failed::from(reason)),
    })
}
