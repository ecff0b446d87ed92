//! The page of a roadmap: what it is begun with, and how its layers are to be written.

use super::Layer;
use crate::plan::id::RoadmapId;
use crate::plan::task::Item;

/// How a layer is written, for whoever writes one.
pub const FORM: &str = "\
## [1] What can be used when it is done
- Goal: one sentence in the user's words
- Inputs: none
- Outputs: name of what later layers build on
- Done when:
  - what can be seen, with the input that shows it

## [2] The next one
- Goal: …
- Inputs: name of what later layers build on
- Outputs: …
- Done when: …
- Depends on: 1
";

/// The page of a roadmap for `goal`, without layers.
#[must_use]
pub fn skeleton(goal: &str) -> String {
    let quoted: String =
        goal.trim().lines().map(|line| format!("> {}", line.trim()).trim_end().to_owned() + "\n").collect();
    format!("# Roadmap\n\n{quoted}")
}

/// The goal that a page quotes before its first layer, its lines as they were; empty where it quotes none.
#[must_use]
pub fn goal_of(text: &str) -> String {
    let before = text.lines().take_while(|line| !line.starts_with("##"));
    let quoted = before.skip_while(|line| !line.starts_with('>')).take_while(|line| line.starts_with('>'));
    let lines: Vec<&str> = quoted.map(|line| line[1..].trim()).collect();
    lines.join("\n").trim().to_owned()
}

/// The goal of a plan that makes `layer` of the roadmap `id`, for which somebody said `words`.
#[must_use]
pub fn plan_goal(words: &str, id: &RoadmapId, layer: &Layer<'_>) -> String {
    let mut goal = format!("{}\n\nLayer {} of the roadmap {id}: {}\n", words.trim(), layer.id, layer.title);
    let list = |items: &[Item<'_>]| items.iter().map(|item| &*item.text).collect::<Vec<_>>().join(", ");
    for (label, items) in [("Builds on", &layer.inputs), ("Makes", &layer.outputs)] {
        if !items.is_empty() {
            goal += &format!("{label}: {}\n", list(items));
        }
    }
    goal += "Done when:\n";
    goal.extend(layer.done_when.iter().map(|item| format!("- {}\n", item.text)));
    goal.trim_end().to_owned()
}
