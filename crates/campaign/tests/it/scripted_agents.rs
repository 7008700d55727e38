//! Agents that follow a script per case, played by the subject `reference`.

use bardo_eval_campaign::{
    CaseSelection, NoopWatcher, PreparedRun, RunOptions, RunParts, RunPlan, RunSettings, RunSpec, execute_in_memory, select,
};
use model::suite::{ArgValue, Case, CaseSurface, NamedArgs, ReferenceAction, ReferenceStep};
use model::{Location, ReviewRole, RunClaim, RunRecord, Spanned, Tool, Workspace};
use run::{Clock, SubjectDeps, SubjectPool};
use std::sync::Arc;

/// Script of the agent in one case.
pub(crate) type AgentScript = fn(&Workspace, &Case) -> Vec<ReferenceStep>;

pub(crate) fn step(action: ReferenceAction) -> ReferenceStep {
    ReferenceStep { agent: None, action, name: None, at: Location::new("test", 1) }
}

pub(crate) fn say(text: &str) -> ReferenceStep {
    step(ReferenceAction::Say(text.to_owned()))
}

pub(crate) fn ask(text: &str) -> ReferenceStep {
    step(ReferenceAction::Ask(text.to_owned()))
}

pub(crate) fn spanned(text: &str) -> Spanned<String> {
    Spanned::new(text.to_owned(), Location::new("test", 1))
}

/// Returns the last answer of the case's own reference if it declines, otherwise a general one.
pub(crate) fn declined(case: &Case) -> String {
    let last =
        case.reference.iter().rev().find_map(|step| if let ReferenceAction::Say(text) = &step.action { Some(text.clone()) } else { None });
    last.filter(|text| text.contains("declined")).unwrap_or_else(|| r#"{"status": "declined", "reason": "not now"}"#.to_owned())
}

/// Calls tools of the surface with arguments that fit their schemas.
pub(crate) fn calls(workspace: &Workspace, case: &Case, is_called: fn(&Tool) -> bool) -> Vec<ReferenceStep> {
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
        let args: NamedArgs<ArgValue> = args.as_object()?.iter().map(|(name, value)| (name, ArgValue::Given(value.clone()))).collect();
        Some(step(ReferenceAction::Call { tool: spanned(&tool.name), args }))
    };
    tools.filter_map(call).chain([say("Done.")]).collect()
}

/// Delegates to the guardian, or to all that the agent may delegate to, with nothing to work on.
pub(crate) fn delegations(workspace: &Workspace, case: &Case, guardian_only: bool) -> Vec<ReferenceStep> {
    let agent = case.brief.surface.agent().and_then(|name| workspace.agent(name));
    let edges = agent.into_iter().flat_map(|agent| agent.delegates_to.iter());
    let chosen = edges.filter(|edge| !guardian_only || workspace.review_role(edge) == Some(ReviewRole::Guardian));
    let both = chosen.flat_map(|edge| {
        let delegate = step(ReferenceAction::Delegate { to: edge.clone(), params: NamedArgs::new() });
        let returns = workspace.review_role(edge).is_none().then(|| say("Nothing to add."));
        [delegate].into_iter().chain(returns)
    });
    both.chain([say("Done.")]).collect()
}

/// Plays the selected cases of the reference workspace with the changed scripts.
pub(crate) async fn play(script: Option<AgentScript>, subject: &str, selection: &CaseSelection) -> RunRecord {
    let mut workspace = Workspace::clone(&testkit::reference_workspace());
    if let Some(script) = script {
        let unchanged = testkit::reference_workspace();
        for case in workspace.suites.iter_mut().flat_map(|suite| &mut suite.cases) {
            case.reference = script(&unchanged, case);
        }
    }
    let workspace = Arc::new(workspace);
    let cases = select(&workspace, selection).expect("known names");
    let subjects = vec![workspace.subject(subject).expect("a subject")];
    let RunSpec { settings, options } = RunSpec::new(&[]);
    let claim = RunClaim { tier: selection.tier, ..settings.claim };
    let spec = RunSpec { settings: RunSettings { claim, ..settings }, options: RunOptions { concurrency: 2, ..options } };
    let clock = Clock::system();
    let pool = SubjectPool::build(&workspace, &subjects, &SubjectDeps::offline(clock)).expect("a subject that needs no model");
    let prepared = PreparedRun::new(RunPlan::from_cases(spec, &workspace, &cases, &subjects), RunParts::new(pool, clock));
    execute_in_memory(&prepared, &mut NoopWatcher).await.expect("a record")
}
