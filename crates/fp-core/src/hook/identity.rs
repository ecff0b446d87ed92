//! Which agent of a run one of the client's agents is. A teammate's type is its name. Of a background agent the
//! client tells an id, and the name shows in what it or its lead does; what was seen once is remembered in the log.

use crate::plan::id::AgentName;
use crate::run::State;
use crate::run::event::Event;

/// Type of the plugin's builders where they are no teammates.
pub const BUILDER: &str = "fp:builder";
/// Type of the plugin's verifiers where they are no teammates.
pub const VERIFIER: &str = "fp:verifier";

/// Longest id of the client that is remembered, in bytes.
pub const MAX_ID_BYTES: usize = 200;

/// Name of the builder that there is in any run: who a background agent is that nothing names, where it is the only one.
const ONLY_BUILDER: &str = "builder-1";

/// What the client says of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookAgent<'e> {
    /// It goes by its name.
    Named(AgentName),
    /// It has a type of this plugin.
    Background {
        /// Whether it is a builder.
        is_builder: bool,
        /// Its id.
        id: Option<&'e str>,
        /// The name that its description is, if it is one.
        described: Option<AgentName>,
    },
}

impl<'e> HookAgent<'e> {
    /// The agent with this type, id and description; nothing of one that is no run's.
    #[must_use]
    pub fn new(kind: &str, id: Option<&'e str>, description: Option<&str>) -> Option<Self> {
        if kind != BUILDER && kind != VERIFIER {
            return AgentName::new(kind).ok().map(Self::Named);
        }
        let described = description.and_then(|text| AgentName::new(text).ok());
        Some(Self::Background { is_builder: kind == BUILDER, id, described })
    }

    /// Its name in the run, if it is known to belong to it.
    #[must_use]
    pub fn known_in(&self, state: &State) -> Option<AgentName> {
        let name = match self {
            Self::Named(name) => Some(name),
            Self::Background { id, .. } => id.and_then(|id| state.agent_ids.get(id)),
        };
        name.filter(|name| state.has_agent(name)).cloned()
    }

    /// Its name in the run, if it belongs to it as far as can be told.
    #[must_use]
    pub fn name_in(&self, state: &State) -> Option<AgentName> {
        let Self::Background { is_builder, described, .. } = self else { return self.known_in(state) };
        self.known_in(state).or_else(|| {
            let guess = described.clone().or_else(|| only_builder(state).filter(|_| *is_builder));
            guess.filter(|name| state.has_agent(name))
        })
    }
}

fn only_builder(state: &State) -> Option<AgentName> {
    let alone = state.run.as_ref().is_some_and(|run| run.terms.builders == 1);
    AgentName::new(ONLY_BUILDER).ok().filter(|_| alone)
}

/// What has to be logged for the agent `id` of the client to be remembered as `name`, unless it is already.
#[must_use]
pub fn remember(state: &State, name: &AgentName, id: &str) -> Option<Event> {
    let fits = !id.is_empty() && id.len() <= MAX_ID_BYTES && !id.chars().any(char::is_control);
    let new = state.agent_ids.get(id) != Some(name);
    (state.is_running() && fits && new).then(|| Event::AgentKnown { name: name.clone(), id: id.to_owned() })
}
