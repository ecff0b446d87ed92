//! The cost of a run's agents, in words and in tables.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::run::State;
use crate::run::crew::{AgentCost, TokenUse, total_cost};
use crate::run::state::Role;

/// The cost of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CostReport {
    pub tokens: TokenUse,
    /// In millionths of a US dollar; counts only costs that the programs report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub micro_usd: Option<u64>,
    /// By task, iteration, role, program and model.
    pub agents: Vec<AgentCost>,
    /// The tokens spent on attempts that verification sent back, including their verification.
    pub sent_back: TokenUse,
    /// The refused calls, as rules for `agents.allow` that would allow them.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub denied: BTreeSet<String>,
}

impl CostReport {
    /// Builds the report on `state`; `None` if no agent has reported a cost or a refused call.
    pub fn new(state: &State) -> Option<Self> {
        let mut agents = state.costs.clone();
        agents.sort_by_cached_key(|cost| {
            let is_verifier = cost.role == Role::Verifier;
            (cost.task.clone(), cost.iteration, is_verifier)
        });
        let (tokens, micro_usd) = total_cost(&agents);
        let is_sent_back = |cost: &&AgentCost| {
            let task = cost.task.as_ref().and_then(|id| state.task(id));
            task.is_some_and(|task| cost.iteration < task.iteration)
        };
        let (sent_back, _) = total_cost(agents.iter().filter(is_sent_back));
        let denied = agents.iter().flat_map(|cost| &cost.denied);
        let denied: BTreeSet<String> = denied.cloned().collect();
        if tokens.total() == 0 && micro_usd.is_none() && denied.is_empty() {
            return None;
        }
        Some(Self {
            tokens,
            micro_usd,
            sent_back,
            denied,
            agents,
        })
    }

    /// The run's cost in dollars, counting only costs that the programs report.
    pub fn dollars(&self) -> Option<String> {
        self.micro_usd.map(in_cents)
    }

    /// The headings of [`CostReport::rows`].
    pub const COLUMNS: [&str; 6] = ["Task", "Attempt", "Role", "Model", "Tokens", "USD"];

    /// A row for each agent's work on an attempt.
    pub fn rows(&self) -> impl Iterator<Item = [String; 6]> {
        self.agents.iter().map(|cost| {
            let task = cost.task.as_ref();
            let attempt = task.map(|_| cost.iteration.to_string());
            let model = cost.model.as_ref().map(|model| format!(" {model}"));
            [
                task.map(ToString::to_string).unwrap_or_default(),
                attempt.unwrap_or_default(),
                cost.role.into_str().to_owned(),
                cost.program.clone() + &model.unwrap_or_default(),
                thousands(cost.tokens.total()),
                cost.micro_usd.map(in_cents).unwrap_or_default(),
            ]
        })
    }

    /// The total in words, then the cost of attempts that were sent back, then the refused calls.
    pub fn summary_lines(&self) -> Vec<String> {
        let all = spent_in_words(self.tokens, self.micro_usd);
        let mut lines = vec![format!("Cost: {all}")];
        if self.sent_back.total() > 0 {
            let lost = spent_in_words(self.sent_back, None);
            lines.push(format!("  for attempts that were sent back: {lost}"));
        }
        lines.extend(self.denied.iter().map(|rule| {
            format!("  refused to agents; to allow it, add this to `agents.allow`: {rule}")
        }));
        lines
    }
}

/// A cost in words, such as `1.2M tokens, 0.34 USD`.
pub fn spent_in_words(tokens: TokenUse, micro_usd: Option<u64>) -> String {
    let tokens = format!("{} tokens", thousands(tokens.total()));
    match micro_usd {
        Some(micro) => format!("{tokens}, {} USD", in_cents(micro)),
        None => tokens,
    }
}

/// Dollars to the whole cent; an amount below one cent is shown with four decimals.
pub fn in_cents(micro: u64) -> String {
    match micro {
        1..10_000 => format!("0.{:04}", micro.div_ceil(100)),
        _ => format!(
            "{}.{:02}",
            micro.div_ceil(10_000) / 100,
            micro.div_ceil(10_000) % 100
        ),
    }
}

/// A number in at most four digits, such as `441k`.
pub fn thousands(number: u64) -> String {
    match number {
        0..10_000 => number.to_string(),
        10_000..1_000_000 => format!("{}k", number / 1000),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_in_words() {
        let tokens = |input| TokenUse {
            input,
            ..TokenUse::default()
        };
        for (input, micro, words) in [
            (0, None, "0 tokens"),
            (9_999, Some(0), "9999 tokens, 0.00 USD"),
            (10_500, Some(1), "10k tokens, 0.0001 USD"),
            (999_999, Some(9_999), "999k tokens, 0.0100 USD"),
            (1_250_000, Some(10_001), "1.2M tokens, 0.02 USD"),
            (123_456_789, Some(20_000_000), "123.4M tokens, 20.00 USD"),
        ] {
            assert_eq!(spent_in_words(tokens(input), micro), words);
        }
    }
}
