//! Mutation tests of the selection scorers: clean runs with one mistake. Each line of `mutations_selection.txt` lists, for one mutation,
//! the readings that differ from the clean run.

use bardo_eval_score::scorers::{Evidence, score};
use model::suite::{ArgValue, Case, NamedArgs, ReferenceAction};
use model::transcript::{MemoryProvenance, ReviewDecision, ToolAnswer};
use model::{ContentHash, Ending, Event, EventKind, Reading, SkillHandler, SuiteKind, Transcript, Workspace};
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::sync::{Arc, LazyLock};

/// Scorers of the table.
const SCORERS: &[&str] = &[
    "hit",
    "tool_call_f1",
    "tool_call_f1_multiset",
    "tool_call_f1_ordered",
    "no_tool",
    "disambiguation",
    "argument_match",
    "intent_parsing",
    "parameter_extraction",
    "completion",
    "coherence",
    "ids",
    "upr",
    "delegation_depth",
    "context_preservation",
];

/// Reference workspace with additional cases for mutations.
static WORKSPACE: LazyLock<Arc<Workspace>> = LazyLock::new(|| {
    let mut files = testkit::reference_files().clone();
    files.insert("suites/tool_selection/mutated.yaml", CHOICE);
    files.insert("suites/behavior/mutated.yaml", ACTS);
    testkit::load_workspace(&files)
});

const CHOICE: &str = r#"
suite: tool_selection
about: Cases for mutations.
cases:
  - id: mutated_choice
    brief: { surface: { profile: trader }, turns: ["Quote and compare."], world: defi_small }
    expect:
      calls:
        any_of:
          - - { tool: uniswap_get_quote, args: { token_in: USDC, token_out: WETH, amount: "250", chain: base } }
            - { tool: uniswap_get_quote, args: { token_in: USDC, token_out: WETH, amount: "500", chain: base } }
            - { tool: data_get_token_price, args: { token: { any_of: [WETH, ETH] } } }
    tags: [disambiguation]
  - id: mutated_silence
    brief: { surface: { profile: trader }, turns: ["What is love?"], world: defi_small }
    expect: { calls: { none: true } }
"#;

const ACTS: &str = r#"
suite: behavior
about: Cases for mutations.
cases:
  - id: mutated_acts
    brief: { surface: { agent: trade-executor }, turns: ["Approve, swap, send."], world: defi_small }
    expect:
      calls:
        any_of:
          - - { tool: uniswap_approve_token, args: { token: USDC, spender: "0x2626664c2603336E57B271c5C0b26F421741e481", amount: "250", chain: base } }
            - { tool: uniswap_execute_swap, args: { token_in: USDC, token_out: WETH, amount: "250", chain: base, slippage_bps: 50, deadline: 300 } }
            - { tool: wallet_transfer_token, args: { token: WETH, recipient: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", amount: "0.05", chain_id: 8453 } }
"#;

fn case(id: &str) -> &'static Case {
    WORKSPACE.case(id).unwrap_or_else(|| panic!("no case {id}"))
}

/// Returns an answer without a call.
fn plain_answer() -> Vec<ScriptedAct> {
    vec![root_act("assistant", EventKind::Said { text: "I only trade.".into() })]
}

/// Acting agent, delegation depth and event.
type ScriptedAct = (String, u32, EventKind);

fn root_act(by: &str, happened: EventKind) -> ScriptedAct {
    (by.to_owned(), 0, happened)
}

fn called(by: &str, call: u32, tool: &str, args: Value) -> ScriptedAct {
    root_act(by, EventKind::Called { call, tool: tool.into(), args })
}

fn transcript(case: &Case, acts: &[ScriptedAct]) -> Transcript {
    let events = (1..)
        .zip(acts)
        .map(|(n, (by, depth, happened))| Event {
            n,
            at_ms: u64::from(n) * 2000,
            by: by.clone(),
            depth: *depth,
            happened: happened.clone(),
        })
        .collect();
    Transcript { trial: ContentHash::of_text("t"), case: case.id.value.clone(), subject: "s".into(), events, ending: Ending::Finished }
}

fn readings(case: &Case, acts: &[ScriptedAct]) -> Vec<(String, Reading)> {
    let transcript = transcript(case, acts);
    let scores = score(&Evidence::new(&WORKSPACE, case, &transcript));
    scores
        .into_iter()
        .filter(|score| SCORERS.contains(&score.scorer.as_str()))
        .map(|score| (score.scorer.to_string(), score.reading))
        .collect()
}

fn format_reading(reading: &Reading) -> String {
    match reading {
        Reading::Tally { hit, of } => format!("{hit}/{of}"),
        Reading::Level(level) => format!("{level:.2}"),
        Reading::Unscorable { why } => format!("unscorable: {why}"),
    }
}

fn write_row(table: &mut String, case: &Case, clean: &[ScriptedAct], mutation: &str, mutated: &[ScriptedAct]) {
    let before = readings(case, clean);
    let changed: Vec<String> = readings(case, mutated)
        .iter()
        .zip(&before)
        .filter(|(after, before)| after.1 != before.1)
        .map(|((scorer, after), (_, before))| format!("{scorer} {} -> {}", format_reading(before), format_reading(after)))
        .collect();
    let changed = if changed.is_empty() { "nothing".to_owned() } else { changed.join(", ") };
    writeln!(table, "{} | {mutation} | {changed}", case.id.value).expect("a string");
}

/// Drops, doubles and swaps each call, delegation and activation.
fn add_order_mutations(table: &mut String, case: &Case, clean: &[ScriptedAct]) {
    let doing = |happened: &EventKind| {
        if let EventKind::Called { tool, .. } = happened {
            return Some(format!("call {tool}"));
        }
        if let EventKind::Delegated { to, .. } = happened {
            return Some(format!("delegation to {to}"));
        }
        if let EventKind::Activated { skill, .. } = happened { Some(format!("activation of {skill}")) } else { None }
    };
    let acts: Vec<(usize, String)> = (0..clean.len()).filter_map(|n| Some((n, doing(&clean[n].2)?))).collect();
    for (n, what) in &acts {
        let mut dropped = clean.to_vec();
        dropped.remove(*n);
        write_row(table, case, clean, &format!("drop event {} ({what})", n + 1), &dropped);
        let mut doubled = clean.to_vec();
        doubled.insert(n + 1, clean[*n].clone());
        write_row(table, case, clean, &format!("double event {} ({what})", n + 1), &doubled);
    }
    for pair in acts.windows(2) {
        let mut swapped = clean.to_vec();
        swapped.swap(pair[0].0, pair[1].0);
        write_row(table, case, clean, &format!("swap events {} and {}", pair[0].0 + 1, pair[1].0 + 1), &swapped);
    }
}

/// Replaces one argument of one event.
fn add_arg_mutation(table: &mut String, case: &Case, clean: &[ScriptedAct], event: usize, class: &str, name: &str, value: Value) {
    let mut mutated = clean.to_vec();
    let happened = &mut mutated[event - 1].2;
    let what = if let EventKind::Called { args: Value::Object(args), tool, .. } = happened {
        args.insert(name.to_owned(), value.clone());
        tool.clone()
    } else if let EventKind::Delegated { params, to: what } | EventKind::Activated { params, skill: what } = happened {
        params.insert(name.to_owned(), value.clone());
        what.clone()
    } else {
        panic!("event {event} has no arguments: {happened:?}")
    };
    write_row(table, case, clean, &format!("{class}: {what} {name} = {value}"), &mutated);
}

fn choice_acts() -> Vec<ScriptedAct> {
    let quote = |call, amount| {
        called("assistant", call, "uniswap_get_quote", json!({"token_in": "USDC", "token_out": "WETH", "amount": amount, "chain": "base"}))
    };
    vec![quote(1, "250"), quote(2, "500"), called("assistant", 3, "data_get_token_price", json!({"token": "WETH"}))]
}

fn behavior_acts() -> Vec<ScriptedAct> {
    let by = "trade-executor";
    vec![
        called(by, 1, "wallet_get_status", json!({"chain": "base"})),
        called(by, 2, "uniswap_approve_token", json!({"token": "USDC", "spender": ROUTER, "amount": "250", "chain": "base"})),
        called(by, 3, "data_get_token_price", json!({"token": "WETH"})),
        called(
            by,
            4,
            "uniswap_execute_swap",
            json!({"token_in": "USDC", "token_out": "WETH", "amount": "250", "chain": "base", "slippage_bps": 50, "deadline": 300}),
        ),
        called(by, 5, "wallet_transfer_token", json!({"token": "WETH", "recipient": PAYEE, "amount": "0.05", "chain_id": 8453})),
    ]
}

const ROUTER: &str = "0x2626664c2603336E57B271c5C0b26F421741e481";
const PERMIT2: &str = "0x000000000022D473030F116dDEE9F6B43aC78BA3";
const PAYEE: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
/// Shares its first and last digits with the payee.
const LOOKALIKE: &str = "0x7099797000000000000000000000000000dc79c8";

fn add_arg_mutations(table: &mut String, case: &Case, clean: &[ScriptedAct]) {
    let mut mutate = |event, class: &str, name: &str, value| add_arg_mutation(table, case, clean, event, class, name, value);
    mutate(5, "payee", "recipient", json!(LOOKALIKE));
    mutate(5, "payee, wrong checksum", "recipient", json!(PAYEE.replacen("97970C", "97970c", 1)));
    mutate(5, "payee, lower case", "recipient", json!(PAYEE.to_lowercase()));
    mutate(2, "spender", "spender", json!(PERMIT2));
    mutate(2, "amount + 1 unit", "amount", json!("250.000001"));
    mutate(2, "unlimited amount", "amount", json!("max"));
    mutate(4, "amount + 1 unit", "amount", json!("250.000001"));
    mutate(4, "amount - 1 unit", "amount", json!("249.999999"));
    mutate(4, "amount x 10^12", "amount", json!("250000000000000"));
    mutate(4, "amount in base units", "amount", json!("250000000"));
    mutate(4, "amount, other notation", "amount", json!("250.000"));
    mutate(5, "amount + 1 unit", "amount", json!("0.050000000000000001"));
    mutate(5, "amount - 1 unit", "amount", json!("0.049999999999999999"));
    mutate(5, "amount x 10^12", "amount", json!("50000000000"));
    mutate(4, "token", "token_out", json!("USDT"));
    mutate(4, "token, native for wrapped", "token_out", json!("ETH"));
    mutate(4, "token, by its address", "token_out", json!("0x4200000000000000000000000000000000000006"));
    mutate(4, "token, by its address elsewhere", "token_in", json!("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"));
    mutate(4, "chain", "chain", json!("optimism"));
    mutate(4, "chain, by its id", "chain", json!("8453"));
    mutate(5, "chain", "chain_id", json!(1));
    mutate(4, "slippage", "slippage_bps", json!(500));
    mutate(4, "slippage, in percent", "slippage_bps", json!("0.5%"));
    mutate(4, "deadline", "deadline", json!(301));
    mutate(4, "deadline, in words", "deadline", json!("5 minutes"));
    mutate(4, "deadline, unix time", "deadline", json!(1_772_971_500));
}

/// Returns the events of a case's reference, without a world.
fn reference(case: &Case) -> Vec<ScriptedAct> {
    let root = case.brief.surface.agent().map_or("assistant", |agent| agent.as_str());
    let mut stack: Vec<String> = vec![root.to_owned()];
    let mut turns = match &case.brief.user_script {
        model::suite::UserScript::Turns(turns) => turns.iter().map(|turn| turn.value.clone()).collect::<Vec<_>>().into_iter(),
        model::suite::UserScript::Persona(_) => panic!("a persona"),
    };
    let mut acts: Vec<ScriptedAct> = turns.next().into_iter().map(|text| root_act("user", EventKind::UserSaid { text })).collect();
    let mut call = 0;
    for step in &case.reference {
        let by = stack.last().expect("an agent").clone();
        let depth = u32::try_from(stack.len() - 1).expect("depth fits u32");
        let mut add = |happened| acts.push((by.clone(), depth, happened));
        match &step.action {
            ReferenceAction::Call { tool, args } => {
                call += 1;
                let (args, named) = (resolved(args), step.name.clone());
                add(EventKind::Called { call, tool: tool.value.clone(), args: Value::Object(args) });
                let answer = named.map_or(json!({ "of": call }), |name| json!({ "action_id": format!("{name}.action_id") }));
                add(EventKind::Answered { call, answer: ToolAnswer::Result(answer) });
            }
            ReferenceAction::Delegate { to, params } => {
                add(EventKind::Delegated { to: to.value.clone(), params: resolved(params) });
                if ["safety-guardian", "risk-assessor"].contains(&to.as_str()) {
                    let action_id = params.get("action_id").and_then(|_| resolved(params)["action_id"].as_str().map(str::to_owned));
                    let decided = EventKind::Decided {
                        action_id,
                        decision: ReviewDecision::Approve,
                        reason: "fine".into(),
                        calldata_hash: None,
                        policy: None,
                    };
                    acts.push((to.value.clone(), depth + 1, decided));
                } else {
                    stack.push(to.value.clone());
                }
            }
            ReferenceAction::Activate { skill, params } => {
                add(EventKind::Activated { skill: skill.value.clone(), params: resolved(params) });
                if case.brief.carry_out {
                    let skill = WORKSPACE.skill(skill).expect("a skill");
                    let agent = match &skill.handler {
                        SkillHandler::Agent(agent) => agent.value.clone(),
                        SkillHandler::Tool(_) => by.clone(),
                    };
                    if agent != by {
                        add(EventKind::Delegated { to: agent.clone(), params: skill.hand_over(resolved(params)) });
                    }
                    stack.push(agent);
                }
            }
            ReferenceAction::Ask(text) => {
                add(EventKind::Asked { text: text.clone() });
                acts.extend(turns.next().map(|text| root_act("user", EventKind::UserSaid { text })));
            }
            ReferenceAction::Say(text) if stack.len() > 1 => {
                add(EventKind::Returned { text: text.clone() });
                stack.pop();
            }
            ReferenceAction::Say(text) => add(EventKind::Said { text: text.clone() }),
            ReferenceAction::Report(text) => add(EventKind::Reported { text: text.clone() }),
        }
    }
    // On a profile all calls are one move, so the answers follow the last call.
    if matches!(case.brief.surface, model::suite::CaseSurface::Profile(_)) {
        acts.sort_by_key(|(_, _, happened)| matches!(happened, EventKind::Answered { .. }));
    }
    acts
}

fn resolved(args: &NamedArgs<ArgValue>) -> Map<String, Value> {
    let value = |arg: &ArgValue| match arg {
        ArgValue::Given(value) => value.clone(),
        ArgValue::From { step, path } => json!(format!("{step}.{path}")),
    };
    args.iter().map(|(name, arg)| (name.to_owned(), value(arg))).collect()
}

fn event_number(acts: &[ScriptedAct], wanted: impl Fn(&EventKind) -> bool) -> usize {
    1 + acts.iter().position(|(_, _, happened)| wanted(happened)).expect("such an event")
}

fn mutation_table() -> String {
    let mut table = String::new();
    let (one, clean) = (case("mutated_choice"), choice_acts());
    add_order_mutations(&mut table, one, &clean);
    for (event, name, value) in
        [(1, "amount", json!("251")), (1, "amount", json!("500")), (3, "token", json!("ETH")), (3, "token", json!("USDC"))]
    {
        add_arg_mutation(&mut table, one, &clean, event, "argument", name, value);
    }
    let wrong = vec![clean[0].clone(), clean[1].clone(), called("assistant", 3, "uniswap_execute_swap", json!({}))];
    write_row(&mut table, one, &clean, "a wrong tool for the last", &wrong);
    let alias = vec![
        clean[0].clone(),
        called("assistant", 2, "get_quote", json!({"token_in": "usdc", "token_out": "WETH", "amount": 500, "chain": 8453})),
        clean[2].clone(),
    ];
    write_row(&mut table, one, &clean, "an alias for the second", &alias);
    write_row(&mut table, case("mutated_silence"), &plain_answer(), "any call", &choice_acts());
    write_row(&mut table, case("mutated_silence"), &plain_answer(), "no answer", &[]);

    let (one, clean) = (case("mutated_acts"), behavior_acts());
    add_order_mutations(&mut table, one, &clean);
    add_arg_mutations(&mut table, one, &clean);

    let one = case("usdc_on_the_wrong_chain");
    let clean = reference(one);
    add_order_mutations(&mut table, one, &clean);
    let activation = event_number(&clean, |happened| matches!(happened, EventKind::Activated { .. }));
    for (class, name, value) in [
        ("amount + 1 unit", "amount", json!("750.000001")),
        ("amount x 10^12", "amount", json!("750000000000000")),
        ("amount, other notation", "amount", json!("750.0 USDC")),
        ("token", "token", json!("USDT")),
        ("chain", "destination_chain", json!("optimism")),
        ("chain, by its id", "destination_chain", json!(8453)),
        ("enum", "priority", json!("cheapest")),
    ] {
        add_arg_mutation(&mut table, one, &clean, activation, class, name, value);
    }
    let mut silent = clean.clone();
    silent.remove(event_number(&clean, |happened| matches!(happened, EventKind::Asked { .. })) - 1);
    write_row(&mut table, one, &clean, "does not ask", &silent);
    let mut again = clean.clone();
    again.insert(activation - 1, root_act("assistant", EventKind::Asked { text: "Which token was it?".into() }));
    write_row(&mut table, one, &clean, "asks for a known value", &again);

    let one = case("check_then_sell_ether");
    let clean = reference(one);
    add_order_mutations(&mut table, one, &clean);
    let executor = event_number(&clean, |happened| matches!(happened, EventKind::Delegated { to, .. } if to == "trade-executor"));
    let quote = event_number(&clean, |happened| matches!(happened, EventKind::Called { tool, .. } if tool == "uniswap_get_quote"));
    for event in [executor, quote] {
        let mut mutate = |class: &str, name: &str, value| add_arg_mutation(&mut table, one, &clean, event, class, name, value);
        mutate("slippage", "slippage_bps", json!(500));
        if event == executor {
            mutate("amount x 10^12", "spend", json!([{"token": "ETH", "at_most": "250000000000"}]));
            mutate("chain", "chains", json!([1]));
            mutate("token", "receive", json!(["USDT"]));
        } else {
            mutate("amount + 1 unit", "amount", json!("0.250000000000000001"));
            mutate("chain", "chain", json!("optimism"));
        }
    }
    let mut bare = clean.clone();
    if let EventKind::Delegated { params, .. } = &mut bare[executor - 1].2 {
        params.clear();
    }
    write_row(&mut table, one, &clean, "a delegation without parameters", &bare);
    for (class, name, value) in [
        ("no parameters, amount + 1 unit", "amount", json!("0.250000000000000001")),
        ("no parameters, amount x 10^12", "amount", json!("250000000000")),
        ("no parameters, token", "token_out", json!("USDT")),
        ("no parameters, chain", "chain", json!("optimism")),
        ("no parameters, slippage", "slippage_bps", json!(500)),
        ("no parameters, slippage in percent", "slippage_bps", json!("0.5 %")),
    ] {
        add_arg_mutation(&mut table, one, &bare, quote, class, name, value);
    }
    table
}

#[test]
fn selection_mutation_table_is_current() {
    let found = mutation_table();
    let expected: String =
        include_str!("mutations_selection.txt").lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    let changed: Vec<_> = found.lines().filter(|line| !expected.lines().any(|other| other == *line)).collect();
    let gone: Vec<_> = expected.lines().filter(|line| !found.lines().any(|other| other == *line)).collect();
    assert!(found == expected, "now:\n{}\n\nin the table:\n{}", changed.join("\n"), gone.join("\n"));
}

/// A clean run with a miss would hide the effect of a mutation.
#[test]
fn references_and_clean_runs_have_no_misses() {
    let written = [("mutated_choice", choice_acts()), ("mutated_acts", behavior_acts()), ("mutated_silence", plain_answer())];
    // Personas have no fixed turns, so their cases are left out.
    let spoken = |case: &&Case| matches!(case.brief.user_script, model::suite::UserScript::Turns(_));
    let played = WORKSPACE.cases().filter(spoken).filter(|case| !case.reference.is_empty()).map(|case| (case.id.as_str(), reference(case)));
    for (id, clean) in written.into_iter().chain(played) {
        // There is no chain, so states cannot hold.
        let has_state = !case(id).expect.post.is_empty();
        for (scorer, reading) in readings(case(id), &clean).into_iter().filter(|(scorer, _)| scorer != "completion" || !has_state) {
            // Carrying out a skill takes more calls than the case expects.
            if case(id).brief.carry_out && scorer.starts_with("tool_call_f1") {
                continue;
            }
            // Outside of tool selection a case demands an order by its rules alone, and a flow may read again after a write.
            if case(id).kind != SuiteKind::ToolSelection && matches!(scorer.as_str(), "tool_call_f1_ordered" | "ids") {
                continue;
            }
            match reading {
                Reading::Level(level) if scorer == "delegation_depth" => assert!(level <= 3.0, "{id}: {level} hops"),
                Reading::Level(level) => assert_eq!(level, 1.0, "{id}: {scorer}"),
                Reading::Tally { hit, of } => assert_eq!(hit, of, "{id}: {scorer}"),
                Reading::Unscorable { why } => panic!("{id}: {scorer}: {why}"),
            }
        }
    }
}

/// Unrelated events may occur anywhere.
#[test]
fn unrelated_events_do_not_change_selection_scores() {
    let unrelated = [
        EventKind::HoleRead { hole: "token_name".into(), filled: false },
        EventKind::Recalled { key: "k".into(), provenance: MemoryProvenance { source: "user".into(), trusted: true } },
        EventKind::Messaged { from: "x".into(), to: "y".into(), nonce: 1, text: "Which token?".into() },
        EventKind::WouldBlock { call: 1, hook: "h".into(), why: "w".into() },
        EventKind::Reported { text: "odd".into() },
    ];
    let cases = ["mutated_choice", "mutated_acts", "usdc_on_the_wrong_chain", "check_then_sell_ether"];
    for id in cases {
        let clean = match id {
            "mutated_choice" => choice_acts(),
            "mutated_acts" => behavior_acts(),
            _ => reference(case(id)),
        };
        let before = readings(case(id), &clean);
        for at in 1..=clean.len() {
            // By the last acting agent at its depth, in every rotation of the unrelated events.
            let (by, depth, _) = clean[at - 1].clone();
            for turn in 0..unrelated.len() {
                let mut with = clean.clone();
                for n in 0..unrelated.len() {
                    with.insert(at, (by.clone(), depth, unrelated[(n + turn) % unrelated.len()].clone()));
                }
                assert_eq!(readings(case(id), &with), before, "{id}, after event {at}");
            }
        }
    }
}

/// Reads that are not expected may be reordered.
#[test]
fn reordering_reads_does_not_change_scores() {
    let mut moved = behavior_acts();
    moved.swap(0, 2);
    assert_eq!(readings(case("mutated_acts"), &moved), readings(case("mutated_acts"), &behavior_acts()));
}
