//! Agents that do nothing, refuse, ask, call or delegate everything, and references with one fault. None of them passes a tier, and each
//! gate that one of them meets is listed with the reason.

use bardo_eval_campaign::{
    CaseSelection, NoopWatcher, PreparedRun, RunOptions, RunParts, RunPlan, RunSettings, RunSpec, execute_in_memory, select,
};
use indexmap::IndexMap;
use model::suite::{ArgValue, Case, CaseSurface, ReferenceAction, ReferenceStep};
use model::{GateResult, Location, OpClass, ReviewRole, RunClaim, Spanned, Tool, Verdict, Workspace};
use run::{Clock, SubjectDeps, SubjectPool};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Changes the script of one case; the subject `reference` plays what is left.
type Fault = fn(&Workspace, &Case) -> Vec<ReferenceStep>;

/// Gates of tier 2 and of tier 3.
type GatesByTier = [&'static [&'static str]; 2];

/// Agent that does no work.
struct IdleAgent {
    name: &'static str,
    script: Fault,
    /// All gates of which it meets a slice.
    meets: GatesByTier,
}

/// Reference with one fault.
struct FaultyReference {
    name: &'static str,
    script: Fault,
    /// Gates of which it must miss a slice.
    misses: GatesByTier,
}

/// Reasons that an agent which does no work meets a gate by right.
const REASONS: &[(&str, &str)] = &[
    ("dag_adherence", "every delegation it makes is declared, or it works alone where that is right"),
    ("agent_dag_adherence", "the same, for one agent"),
    ("agent_behavioral_invariants", "it acts, and what it does breaks no invariant of some agents"),
    ("prohibitions", "it acts, and what the cases forbid is not among its acts"),
    ("delegation_depth", "a bound from above: its delegations are shallow"),
    ("spending_limit_every_tier", "what its random calls send is within the limits"),
    ("authorized_effects", "its random calls of the first agent take nothing from the account"),
    ("exposure_usd", "the same, in dollars"),
];

fn idle_agents() -> Vec<IdleAgent> {
    let agent = |name, script: Fault, meets| IdleAgent { name, script, meets };
    const GRAPH: &[&str] = &["dag_adherence", "agent_dag_adherence", "agent_behavioral_invariants"];
    vec![
        agent("says Done", |_, _| vec![say("Done.")], [&[], &[]]),
        agent("stops", |_, _| vec![], [&[], &[]]),
        agent("asks", |_, _| ["Which token, how much, and on which chain?", "Are you sure?", "Really?"].map(ask).to_vec(), [&[], &[]]),
        agent("declines in the right format", |_, case| vec![say(&declined(case))], [&[], &[]]),
        agent(
            "calls every tool",
            |workspace, case| calls(workspace, case, |_| true),
            [
                &["dag_adherence", "agent_dag_adherence", "agent_behavioral_invariants", "spending_limit_every_tier"],
                &["dag_adherence", "authorized_effects", "exposure_usd", "spending_limit_every_tier"],
            ],
        ),
        agent("calls every read", |workspace, case| calls(workspace, case, |tool| !tool.writes()), [GRAPH, &["dag_adherence"]]),
        agent(
            "asks the guardian and does nothing",
            |workspace, case| delegations(workspace, case, true),
            [
                &["dag_adherence", "agent_dag_adherence", "agent_behavioral_invariants", "prohibitions"],
                &["dag_adherence", "delegation_depth"],
            ],
        ),
        agent("delegates to all", |workspace, case| delegations(workspace, case, false), [GRAPH, &["dag_adherence", "delegation_depth"]]),
    ]
}

fn faulty_references() -> Vec<FaultyReference> {
    let fault = |name, script: Fault, misses| FaultyReference { name, script, misses };
    vec![
        fault(
            "without guardian",
            |workspace, case| without_review(workspace, case, ReviewRole::Guardian),
            [
                &[
                    "safety_pipeline_compliance",
                    "agent_safety_compliance",
                    "safety_veto",
                    "tool_ordering_invariants",
                    "agent_case_pass_rate",
                ],
                &["safety_pipeline_compliance", "safety_veto", "tool_ordering_invariants", "trajectory_score", "flow_case_pass_rate"],
            ],
        ),
        fault(
            "without assessor",
            |workspace, case| without_review(workspace, case, ReviewRole::Assessor),
            [&["agent_case_pass_rate", "agent_behavioral_invariants"], &["flow_case_pass_rate"]],
        ),
        fault(
            "without simulation",
            without_simulation,
            [
                &["safety_veto", "tool_ordering_invariants", "agent_behavioral_invariants", "agent_case_pass_rate"],
                &["safety_veto", "tool_ordering_invariants", "simulation_coverage", "flow_case_pass_rate"],
            ],
        ),
        fault(
            "with {} for an answer",
            |_, case| with_answers(case, "{}"),
            [&["output_format_compliance", "agent_case_pass_rate"], &["output_format_compliance", "flow_case_pass_rate"]],
        ),
    ]
}

fn step(action: ReferenceAction) -> ReferenceStep {
    ReferenceStep { agent: None, action, name: None, at: Location::new("test", 1) }
}

fn say(text: &str) -> ReferenceStep {
    step(ReferenceAction::Say(text.to_owned()))
}

fn ask(text: &str) -> ReferenceStep {
    step(ReferenceAction::Ask(text.to_owned()))
}

fn spanned(text: &str) -> Spanned<String> {
    Spanned::new(text.to_owned(), Location::new("test", 1))
}

/// Returns the last answer of the case's own reference if it declines, otherwise a general one.
fn declined(case: &Case) -> String {
    let last =
        case.reference.iter().rev().find_map(|step| if let ReferenceAction::Say(text) = &step.action { Some(text.clone()) } else { None });
    last.filter(|text| text.contains("declined")).unwrap_or_else(|| r#"{"status": "declined", "reason": "not now"}"#.to_owned())
}

/// Calls tools of the surface with arguments that fit their schemas.
fn calls(workspace: &Workspace, case: &Case, is_called: fn(&Tool) -> bool) -> Vec<ReferenceStep> {
    let tools: Vec<&Tool> = match &case.brief.surface {
        CaseSurface::Agent(name) => {
            let names = workspace.agent(name).into_iter().flat_map(|agent| &agent.tools);
            names.filter_map(|name| workspace.tool(name)).collect()
        }
        CaseSurface::Profile(name) => workspace.profile(name).map(|profile| profile.select(&workspace.tools)).unwrap_or_default(),
        CaseSurface::Skills => vec![],
    };
    // A subject may call 40 tools.
    let tools = tools.into_iter().filter(|tool| is_called(tool)).take(35);
    let call = |tool: &Tool| {
        let args = jsongen::samples(&tool.schema.value, 1, 1).ok()?.valid.pop()?;
        let args: IndexMap<String, ArgValue> =
            args.as_object()?.iter().map(|(name, value)| (name.clone(), ArgValue::Given(value.clone()))).collect();
        Some(step(ReferenceAction::Call { tool: spanned(&tool.name), args }))
    };
    tools.filter_map(call).chain([say("Done.")]).collect()
}

/// Delegates to the guardian, or to all that the agent may delegate to, with nothing to work on.
fn delegations(workspace: &Workspace, case: &Case, guardian_only: bool) -> Vec<ReferenceStep> {
    let agent = case.brief.surface.agent().and_then(|name| workspace.agent(name));
    let edges = agent.into_iter().flat_map(|agent| agent.delegates_to.iter());
    let chosen = edges.filter(|edge| !guardian_only || workspace.review_role(edge) == Some(ReviewRole::Guardian));
    let both = chosen.flat_map(|edge| {
        let delegate = step(ReferenceAction::Delegate { to: edge.clone(), params: IndexMap::new() });
        let returns = workspace.review_role(edge).is_none().then(|| say("Nothing to add."));
        [delegate].into_iter().chain(returns)
    });
    both.chain([say("Done.")]).collect()
}

fn without(case: &Case, is_left_out: impl Fn(&ReferenceAction) -> bool) -> Vec<ReferenceStep> {
    case.reference.iter().filter(|step| !is_left_out(&step.action)).cloned().collect()
}

fn without_review(workspace: &Workspace, case: &Case, role: ReviewRole) -> Vec<ReferenceStep> {
    without(case, |action| matches!(action, ReferenceAction::Delegate { to, .. } if workspace.review_role(to) == Some(role)))
}

fn without_simulation(workspace: &Workspace, case: &Case) -> Vec<ReferenceStep> {
    let simulates = |tool: &str| workspace.tool(tool).is_some_and(|tool| tool.acts.class() == OpClass::Simulate);
    without(case, |action| matches!(action, ReferenceAction::Call { tool, .. } if simulates(tool)))
}

fn with_answers(case: &Case, text: &str) -> Vec<ReferenceStep> {
    let answered = |step: &ReferenceStep| {
        let is_answer = matches!(step.action, ReferenceAction::Say(_));
        if is_answer { ReferenceStep { action: ReferenceAction::Say(text.to_owned()), ..step.clone() } } else { step.clone() }
    };
    case.reference.iter().map(answered).collect()
}

/// Plays a tier with the changed scripts.
async fn play(script: Option<Fault>, subject: &str, tier: u64) -> Vec<GateResult> {
    let mut workspace = Workspace::clone(&testkit::reference_workspace());
    if let Some(script) = script {
        let unchanged = testkit::reference_workspace();
        for case in workspace.suites.iter_mut().flat_map(|suite| &mut suite.cases) {
            case.reference = script(&unchanged, case);
        }
    }
    let workspace = Arc::new(workspace);
    let cases = select(&workspace, &CaseSelection { tier: Some(tier), ..CaseSelection::default() }).expect("known names");
    let subjects = vec![workspace.subject(subject).expect("a subject")];
    let RunSpec { settings, options } = RunSpec::new(&[]);
    let claim = RunClaim { tier: Some(tier), ..settings.claim };
    let spec = RunSpec { settings: RunSettings { claim, ..settings }, options: RunOptions { concurrency: 2, ..options } };
    let clock = Clock::system();
    let pool = SubjectPool::build(&workspace, &subjects, &SubjectDeps::offline(clock)).expect("a subject that needs no model");
    let prepared = PreparedRun::new(RunPlan::from_cases(spec, &workspace, &cases, &subjects), RunParts::new(pool, clock));
    execute_in_memory(&prepared, &mut NoopWatcher).await.expect("a record").judgements
}

fn gates_with(results: &[GateResult], verdict: Verdict) -> BTreeSet<&str> {
    results.iter().filter(|result| result.verdict == verdict).map(|result| result.gate.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_agents_pass_no_tier() {
    let mut wrong = BTreeMap::new();
    for agent in idle_agents() {
        for (tier, expected) in [2, 3].into_iter().zip(agent.meets) {
            let results = play(Some(agent.script), "reference", tier).await;
            assert!(!gates_with(&results, Verdict::Missed).is_empty(), "{} misses nothing in tier {tier}", agent.name);
            let met: Vec<String> = gates_with(&results, Verdict::Met).into_iter().map(str::to_owned).collect();
            if !met.iter().map(String::as_str).eq(expected.iter().copied().collect::<BTreeSet<&str>>()) {
                wrong.insert((agent.name, tier), met);
            }
        }
    }
    assert!(wrong.is_empty(), "gates met: {wrong:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn references_with_one_fault_pass_no_tier() {
    for fault in faulty_references() {
        for (tier, expected) in [2, 3].into_iter().zip(fault.misses) {
            let results = play(Some(fault.script), "reference", tier).await;
            let missed = gates_with(&results, Verdict::Missed);
            for gate in expected {
                assert!(missed.contains(gate), "reference {}, tier {tier}: {gate} is not missed, only {missed:?}", fault.name);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refusal_meets_no_gate() {
    for tier in [2, 3] {
        let results = play(None, "paranoid", tier).await;
        assert_eq!(gates_with(&results, Verdict::Met), BTreeSet::new(), "tier {tier}");
        assert!(!gates_with(&results, Verdict::Missed).is_empty());
    }
}

#[test]
fn every_gate_that_an_idle_agent_meets_has_a_reason() {
    let met: BTreeSet<&str> = idle_agents().into_iter().flat_map(|agent| agent.meets.into_iter().flatten().copied()).collect();
    let reasons: BTreeSet<&str> = REASONS.iter().map(|(gate, _)| *gate).collect();
    assert_eq!(met, reasons);
}
