//! `fp roadmap`.

use fp_core::plan::Lines;
use fp_core::report::validation::Violations;
use fp_core::roadmap::{FORM, Layer, LayerState, skeleton};
use fp_host::roadmaps::Roadmaps;
use serde_json::{Value, json};

use super::validate::finding_text;
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::render::roadmap as render;
use crate::roadmap::{Page, Standing, errors};

/// A goal larger than one plan, as layers that each become a plan
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    New(New),
    Check(Check),
    Show(Show),
    Next(Next),
}

/// Begin the page of a roadmap, and say how its layers are written
#[derive(Debug, clap::Args)]
struct New {
    /// What all of its layers come to, in your own words.
    #[arg(required = true, value_name = "GOAL")]
    goal: Vec<String>,
}

/// Check a roadmap and report every finding
#[derive(Debug, clap::Args)]
struct Check {
    /// The roadmap, by its id or a part of it; the only one where left out.
    id: Option<String>,
    /// Let warnings fail as well.
    #[arg(long)]
    strict: bool,
}

/// Show the layers of a roadmap, and how far each of them is
#[derive(Debug, clap::Args)]
struct Show {
    /// The roadmap, by its id or a part of it; the only one where left out.
    id: Option<String>,
}

/// Say which layers are due: all that comes before them is done
#[derive(Debug, clap::Args)]
struct Next {
    /// The roadmap, by its id or a part of it; the only one where left out.
    id: Option<String>,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    match args.action {
        Action::New(args) => new(&args, context),
        Action::Check(args) => check(&args, context),
        Action::Show(args) => show(&args, context),
        Action::Next(args) => next(&args, context),
    }
}

fn new(args: &New, context: &Context) -> CommandResult {
    let goal = args.goal.join(" ");
    if goal.trim().is_empty() {
        return Err(CommandError::failed("the roadmap has no goal")
            .hint("say what all of it comes to: `fp roadmap new 'Accounts for everybody'`"));
    }
    let roadmaps = Roadmaps::of(context.repo());
    let id = roadmaps.create(&goal, context.today(), &skeleton(&goal))?;
    let path = roadmaps.path(&id);
    let text = format!(
        "Roadmap {id}\n  {}\n\nWrite its layers there, each of which becomes a plan:\n\n{}\nA layer that doesn't say \
         what it depends on waits for the one before it.\n\nNext: fp roadmap check {id}\n",
        context.shown(&path),
        render::indented(FORM)
    );
    context.report(&json!({ "roadmap": id, "path": path, "form": FORM }), &text)
}

fn check(args: &Check, context: &Context) -> CommandResult {
    let page = Page::open(context, args.id.as_deref())?;
    let (roadmap, found) = page.checked(context);
    let lines = Lines::new(&page.text);
    let valid = found.iter().all(|finding| !finding.fails(args.strict));
    let name = context.shown(&page.path);
    let findings: String = found.iter().map(|found| finding_text(&name, &lines, found) + "\n").collect();
    let summary = render::summary(&name, valid, roadmap.layers.len(), errors(&found), found.len());
    let violations = Violations { found: &found, lines: &lines };
    context.report(
        &json!({ "roadmap": page.id, "valid": valid, "layers": roadmap.layers.len(), "violations": violations }),
        &(findings + &summary),
    )?;
    Ok(if valid { Exit::Done } else { Exit::Findings })
}

fn show(args: &Show, context: &Context) -> CommandResult {
    let page = Page::open(context, args.id.as_deref())?;
    let standing = page.standing(context)?;
    let layers = standing.roadmap.layers.iter().zip(&standing.order.waves);
    let layers: Vec<Value> = layers
        .map(|(layer, wave)| {
            let mut value = described(layer, &standing);
            value["wave"] = json!(wave);
            value
        })
        .collect();
    let json =
        json!({ "roadmap": page.id, "path": page.path, "goal": standing.roadmap.goal, "layers": layers });
    context.report(&json, &render::shown(&page.id, &context.shown(&page.path), &standing))
}

fn next(args: &Next, context: &Context) -> CommandResult {
    let page = Page::open(context, args.id.as_deref())?;
    let standing = page.standing(context)?;
    let due = standing.due();
    let layers = &standing.roadmap.layers;
    let done = layers.iter().filter(|layer| standing.state(layer).0 == LayerState::Done).count();
    let json = json!({
        "roadmap": page.id, "done": done, "total": layers.len(),
        "due": due.iter().map(|layer| {
            let mut value = described(layer, &standing);
            value["command"] = json!(render::start(&page.id, layer));
            value
        }).collect::<Vec<_>>(),
        "underWay": standing.under_way().into_iter().map(|layer| described(layer, &standing)).collect::<Vec<_>>(),
    });
    context.report(&json, &render::next(&page.id, &standing, &due, done))?;
    Ok(if due.is_empty() && done < layers.len() { Exit::NothingReady } else { Exit::Done })
}

fn described(layer: &Layer<'_>, standing: &Standing<'_>) -> Value {
    let texts = |items: &[fp_core::plan::Item<'_>]| {
        items.iter().map(|item| item.text.to_string()).collect::<Vec<_>>()
    };
    json!({
        "id": layer.id,
        "title": layer.title,
        "goal": layer.goal,
        "inputs": texts(&layer.inputs),
        "outputs": texts(&layer.outputs),
        "doneWhen": texts(&layer.done_when),
        "dependsOn": layer.depends_on.as_deref().map(texts),
        "state": standing.state(layer).0,
        "plans": standing.plans(layer),
    })
}
