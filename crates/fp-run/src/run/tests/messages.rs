//! Messages between builders: each is shown to its receivers in one claim, unless that claim came to nothing.

use super::*;
use crate::run::peer_message::MESSAGES_PER_TASK;

/// `from` tells the builder with the number `to` something new, or all others if there is none.
pub(super) fn tell(machine: &mut Machine, from: &AgentName, to: u8) {
    let text = format!("PATTERN_FOUND: {}", machine.token());
    let to = if u32::from(to) < BUILDERS {
        builder(to)
    } else {
        name("all")
    };
    if let Ok((message, events)) = machine.state.tell(from, &[to], &text) {
        assert!(
            !message.to.is_empty() && !message.to.contains(from),
            "{message:?}"
        );
        machine.take(events);
    }
}

/// Plays the log of `machine` again, with an eye on what each claim prints.
pub(super) fn check(machine: &Machine) {
    let mut state = State::new(machine.state.plan_id.clone());
    // Of each builder, the number of its claim, and in which claim it was shown which message.
    let mut claims: BTreeMap<AgentName, usize> = BTreeMap::new();
    let mut shown: BTreeMap<(AgentName, usize), usize> = BTreeMap::new();
    for (entry, event) in machine
        .log
        .iter()
        .flat_map(|entry| entry.events.iter().map(move |e| (entry, e)))
    {
        let holder = |task: &TaskId| {
            state
                .task(task)
                .and_then(|t| Some(t.claim.as_ref()?.owner.clone()))
        };
        match event {
            Event::Claimed { owner, .. } => *claims.entry(owner.clone()).or_default() += 1,
            Event::SentBack { task, .. } => *claims.entry(holder(task).unwrap()).or_default() += 1,
            Event::Released { task, .. } => {
                let owner = holder(task).unwrap();
                let claim = claims.get(&owner).copied();
                shown.retain(|(name, _), in_claim| *name != owner || Some(*in_claim) != claim);
            }
            _ => {}
        }
        state.fold(event, entry.at);
        if let Event::Claimed { task, owner, .. } | Event::Resumed { task, owner } = event {
            print(&state, task, owner, claims[owner], &mut shown);
        }
    }
    for task in &state.tasks {
        let sent = state
            .messages
            .iter()
            .filter(|message| message.task == task.leaf.id)
            .count();
        assert!(
            sent <= MESSAGES_PER_TASK,
            "{sent} messages of task {}",
            task.leaf.id
        );
    }
}

fn print(
    state: &State,
    task: &TaskId,
    owner: &AgentName,
    claim: usize,
    shown: &mut BTreeMap<(AgentName, usize), usize>,
) {
    let (messages, left_out) = state.messages_for(state.task(task).unwrap());
    let to_owner = |(_, message): &(usize, &super::super::peer_message::PeerMessage)| {
        message.to.contains(owner)
    };
    for (i, message) in state.messages.iter().enumerate().filter(to_owner) {
        if messages.contains(&message) {
            let before = shown.insert((owner.clone(), i), claim);
            assert!(
                before.is_none_or(|before| before == claim),
                "{owner} is shown {message:?} again"
            );
        } else if left_out == 0 {
            assert!(
                shown.contains_key(&(owner.clone(), i)),
                "{owner} never saw {message:?}"
            );
        }
    }
}

#[test]
fn who_may_be_told() {
    let mut machine = Machine::new(vec![leaf(1, &[], 0), leaf(2, &[], 1)], true);
    machine.claim(&name("builder-1"));
    machine.claim(&name("someone"));
    let check = |from: &str, to: &[&str], expect: Result<&[&str], &str>| {
        let to: Vec<AgentName> = to.iter().map(|to| name(to)).collect();
        let told = machine
            .state
            .tell(&name(from), &to, "FILE_MOVED: f0")
            .map(|(message, _)| message.to);
        let told = told.map_err(|refusal| refusal.to_string());
        let expect = expect.map(|to| to.iter().map(|to| name(to)).collect::<Vec<_>>());
        assert_eq!(told, expect.map_err(str::to_owned), "{from} to {to:?}");
    };
    check("builder-1", &["builder-2"], Ok(&["builder-2"]));
    check(
        "builder-1",
        &["someone", "builder-2", "someone"],
        Ok(&["builder-2", "someone"]),
    );
    check(
        "someone",
        &["all"],
        Ok(&["builder-1", "builder-2", "builder-3"]),
    );
    check(
        "builder-1",
        &["builder-2", "builder-1"],
        Err("builder-1 can't send a message to itself"),
    );
    check("builder-2", &["builder-1"], Err("builder-2 holds no task"));
    let unknown =
        "builder-4 is no builder of this run: the others are builder-2, builder-3, someone";
    check("builder-1", &["builder-4"], Err(unknown));
}

#[test]
fn what_concerns_the_task_comes_before_what_is_newer() {
    let tree: Vec<Leaf> = (1..=8).map(|number| leaf(number, &[], number)).collect();
    let mut machine = Machine::new(tree, true);
    let receiver = name("builder-2");
    for number in 1..=6 {
        machine.claim(&name("builder-1"));
        for nth in 1..=2 {
            // The eighth task, which the receiver gets, changes `f8`.
            let about = if number == 1 { "f8" } else { "nothing" };
            let text = format!("FILE_MOVED: {about} {number}.{nth}");
            let (_, events) = machine
                .state
                .tell(&name("builder-1"), std::slice::from_ref(&receiver), &text)
                .unwrap();
            machine.take(events);
        }
        machine.submit(&name("builder-1"));
        machine.judge(&id(&number.to_string()), true);
    }
    let base = Base {
        tree: "b".into(),
        head: "h".into(),
        worktree: None,
        around: None,
    };
    let claim = machine.state.claim(
        &receiver,
        Some(&id("8")),
        &BTreeSet::new(),
        "t".into(),
        base,
    );
    machine.take(claim.unwrap().1);
    let (shown, left_out) = machine
        .state
        .messages_for(machine.state.task(&id("8")).unwrap());
    let shown: Vec<&str> = shown.iter().map(|message| message.text.as_str()).collect();
    let expect: Vec<String> = [1, 3, 4, 5, 6]
        .iter()
        .flat_map(|number| [1, 2].map(|nth| (*number, nth)))
        .map(|(number, nth)| {
            format!(
                "{} {number}.{nth}",
                if number == 1 { "f8" } else { "nothing" }
            )
        })
        .collect();
    assert_eq!(
        (shown, left_out),
        (expect.iter().map(String::as_str).collect(), 2)
    );
}
