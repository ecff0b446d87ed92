//! What a user can set, said once: the table below is at the same time the settings, their defaults,
//! their ranges and the form in which a configuration file gives some of them.
//!
//! A layer (user, project, plan, flags) is a [`PartialSettings`]; layers are applied in turn to the
//! defaults, group by group and key by key, so that a layer that sets one key of a group keeps the others.

mod schema;
mod value;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

pub use schema::{SCHEMA_URL, schema, schema_of};
pub use value::{Layer, Name, PlansDir, Ranged, RangedFloat};

macro_rules! settings {
    ($(
        $(#[$doc:meta])*
        $name:ident / $partial:ident $(+ { $(#[$extra_doc:meta])* $extra:ident: $extra_type:ty })? {$(
            $(#[doc = $field_doc:literal])*
            $field:ident: $full:ty as $given:ty = $default:expr;
        )*}
    )*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {$(
            $(#[doc = $field_doc])*
            pub $field: $full,
        )*}

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        #[doc = concat!("What one layer says about [`", stringify!($name), "`]; `None` leaves it as it is.")]
        #[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase", deny_unknown_fields, remote = "Self")]
        pub struct $partial {
            $(
                $(#[doc = $field_doc])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $field: Option<$given>,
            )*
            $(
                $(#[$extra_doc])*
                #[serde(default, skip_serializing)]
                pub $extra: $extra_type,
            )?
        }

        impl Serialize for $partial {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                Self::serialize(self, serializer)
            }
        }

        impl value::FromMap for $partial {
            fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
                Self::deserialize(MapAccessDeserializer::new(map))
            }
        }

        impl<'de> Deserialize<'de> for $partial {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                value::object(deserializer)
            }
        }

        impl schema::Described for $partial {
            fn schema() -> Value {
                schema::group([$((
                    stringify!($field),
                    concat!($($field_doc),*),
                    <$given as schema::Described>::schema(),
                ),)*])
            }
        }

        impl Layer<$name> for $partial {
            fn apply(self, to: &mut $name) {
                $(if let Some(given) = self.$field {
                    given.apply(&mut to.$field);
                })*
            }
        }
    )*};
}

settings! {
    /// Everything that can be set, with the value that is in force.
    Settings / PartialSettings + {
        /// Where an editor finds the schema of the file; of no meaning to the settings.
        #[serde(rename = "$schema")]
        schema: Option<String>
    } {
        /// Highest complexity (1–10) that a leaf may have.
        max_complexity: u32 as Ranged<1, 10> = 4;
        /// How often a task is implemented (1–20) before it counts as failed.
        max_iterations: u32 as Ranged<1, 20> = 3;
        /// How many builders (1–16) work at once.
        max_parallel_tasks: u32 as Ranged<1, 16> = 1;
        /// Whether planning ends after the research.
        research_only: bool as bool = false;
        /// Whether planning ends with the plan, without offering to run it.
        plan_only: bool as bool = false;
        /// Whether the plan is approved without being shown for review.
        skip_plan_review: bool as bool = false;
        /// Whether the goal is analysed before the interview, for the intents that profit.
        pre_analysis: bool as bool = true;
        /// Whether a task that passed is left uncommitted.
        no_commit: bool as bool = false;
        /// The folder of all plans, relative to the repository, with `/` between its parts.
        plans_dir: String as PlansDir = ".fractal-planner/plans".into();
        /// The permission mode that agents are started with, where the client takes one.
        permission_mode: PermissionMode as PermissionMode = PermissionMode::Default;
        /// Which of several tasks that could run goes first.
        execution_order: ExecutionOrder as ExecutionOrder = ExecutionOrder::DocumentOrder;
        /// Whether the tasks run at once, one by one, in phases, or tests first.
        execution_model: ExecutionModel as ExecutionModel = ExecutionModel::Parallel;
        /// Generated files that one task at a time may change, beside lock files.
        exclusive: Vec<String> as Vec<String> = Vec::new();
        /// Whether each builder has a git worktree of its own.
        isolation: Isolation as Isolation = Isolation::Auto;
        /// Iterations that grow with a task's measured complexity.
        iteration_scaling: IterationScaling as PartialIterationScaling = IterationScaling::default();
        /// The check of the comments that an edit adds.
        comment_checker: CommentChecker as PartialCommentChecker = CommentChecker::default();
        /// Reminding a builder that stops in the middle of its task.
        nudge: Nudge as PartialNudge = Nudge::default();
        /// Keeping a builder to its task's files.
        guard: Guard as PartialGuard = Guard::default();
        /// Mirroring the plan in Linear.
        linear: Linear as PartialLinear = Linear::default();
        /// The mechanical checks of a submitted task.
        verify: Verify as PartialVerify = Verify::default();
        /// Minutes (1–1440) after which an agent that was started and never reported is given up.
        dispatch_timeout_minutes: u32 as Ranged<1, 1440> = 30;
        /// Seconds (0–600) to wait for another `fp` that holds the plan's lock.
        lock_timeout_seconds: u32 as Ranged<0, 600> = 10;
        /// Language of interviews, reports and commits; absent where the user's own words decide.
        language: Option<String> as Name = None;
    }

    /// Iterations of a task: `max(maxIterations, round(base + factor × composite signal))`.
    IterationScaling / PartialIterationScaling {
        /// Whether they grow at all.
        enabled: bool as bool = false;
        /// The part (0–20) that every task has.
        base: f64 as RangedFloat<0, 20> = 2.0;
        /// What each step (0–10) of the composite signal, which is 1–5, adds.
        factor: f64 as RangedFloat<0, 10> = 0.5;
    }

    /// The comment check after an edit.
    CommentChecker / PartialCommentChecker {
        /// Whether edits are checked.
        enabled: bool as bool = true;
        /// How the model is told.
        mode: CommentMode as CommentMode = CommentMode::Warn;
        /// The text that replaces the check's own request to the model.
        custom_prompt: Option<String> as String = None;
        /// Globs of the files that are not checked.
        ignore: Vec<String> as Vec<String> = Vec::new();
    }

    /// The reminder of a builder that stops while it owns a task.
    Nudge / PartialNudge {
        /// Whether it is reminded.
        enabled: bool as bool = true;
        /// How often (0–20) for one task and iteration.
        max_retries: u32 as Ranged<0, 20> = 3;
    }

    /// The guard of a task's file boundary.
    Guard / PartialGuard {
        /// What becomes of an edit outside it.
        mode: GuardMode as GuardMode = GuardMode::Deny;
        /// What becomes of a builder's wish for a file that no task lists.
        extend: ExtensionPolicy as ExtensionPolicy = ExtensionPolicy::Ask;
    }

    /// The mirror of a plan in Linear.
    Linear / PartialLinear {
        /// Whether there is one.
        enabled: bool as bool = false;
        /// Name or key of the team that gets the issues.
        team: Option<String> as Name = None;
        /// Name of the project that they belong to.
        project: Option<String> as Name = None;
        /// The team's names for the states; an absent one is found by its type.
        status_map: LinearStatusMap as PartialLinearStatusMap = LinearStatusMap::default();
    }

    /// What the Linear team calls each state of a task.
    LinearStatusMap / PartialLinearStatusMap {
        /// Not begun.
        pending: Option<String> as Name = None;
        /// Being implemented.
        in_progress: Option<String> as Name = None;
        /// Implemented and verified, waiting for people.
        review: Option<String> as Name = None;
        /// Done.
        completed: Option<String> as Name = None;
        /// Given up.
        failed: Option<String> as Name = None;
    }

    /// The mechanical checks.
    Verify / PartialVerify {
        /// Seconds (1–86400) that one command of a task may take.
        timeout_seconds: u32 as Ranged<1, 86_400> = 600;
    }
}

impl Nudge {
    /// How often whoever stops too early is told to go on; 0 where nobody is.
    #[must_use]
    pub fn times(&self) -> u32 {
        if self.enabled { self.max_retries } else { 0 }
    }
}

impl Settings {
    /// The defaults with `layers` applied in turn, the last one having the last word.
    #[must_use]
    pub fn from_layers(layers: impl IntoIterator<Item = PartialSettings>) -> Self {
        let mut settings = Self::default();
        for layer in layers {
            layer.apply(&mut settings);
        }
        settings
    }
}

macro_rules! choices {
    ($(
        $(#[$doc:meta])*
        $name:ident, $rename:literal {$( $(#[$choice_doc:meta])* $choice:ident, )*}
    )*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = $rename)]
        pub enum $name {$( $(#[$choice_doc])* $choice, )*}

        impl Layer<$name> for $name {
            fn apply(self, to: &mut $name) {
                *to = self;
            }
        }

        impl schema::Described for $name {
            fn schema() -> Value {
                schema::choice(&[$(Self::$choice,)*])
            }
        }
    )*};
}

choices! {
    /// A permission mode of the client, by the client's own name.
    PermissionMode, "camelCase" {
        /// Asks as the user's rules say.
        Default,
        /// Edits without asking.
        AcceptEdits,
        /// Does everything without asking.
        BypassPermissions,
        /// Refuses what it would have to ask for.
        DontAsk,
        /// Reads only.
        Plan,
        /// Leaves it to the client's own check.
        Auto,
    }

    /// Which of several ready tasks goes first.
    ExecutionOrder, "kebab-case" {
        /// The one that stands first in the plan.
        DocumentOrder,
        /// The one with the highest composite signal, then complexity.
        RiskFirst,
        /// The one with the lowest.
        EasyFirst,
    }

    /// How the tasks of a plan relate in time.
    ExecutionModel, "lowercase" {
        /// Whatever is ready runs, up to `maxParallelTasks` at once.
        Parallel,
        /// One task at a time.
        Sequential,
        /// One group after the other.
        Phased,
        /// As parallel, and a task's check must fail before its work and pass after it.
        Tdd,
    }

    /// Where a builder works.
    Isolation, "lowercase" {
        /// In a git worktree of its own.
        Worktree,
        /// In the user's checkout, together with the others.
        Shared,
        /// In a worktree where more than one builder works, else in the checkout.
        Auto,
    }

    /// How the comment check tells the model.
    CommentMode, "lowercase" {
        /// As additional context of the edit.
        Warn,
        /// As a reason to go back to it.
        Block,
    }

    /// What becomes of a builder's wish to change another file.
    ExtensionPolicy, "lowercase" {
        /// It is granted, if no other task lists the file; else the user is asked.
        Allow,
        /// The user is asked.
        Ask,
        /// It is refused.
        Deny,
    }

    /// What becomes of an edit outside the task's files.
    GuardMode, "lowercase" {
        /// It is refused, with the way out.
        Deny,
        /// It is made, and the builder is told.
        Warn,
        /// It is made.
        Off,
    }
}

#[cfg(test)]
mod tests;
