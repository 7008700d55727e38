//! `chat`: a conversation with a subject in a world, shown event by event and stored as a trial.

mod scenario;
mod terminal;

pub(crate) use scenario::ChatScenario;

use super::models;
use super::world::imported_tools::{ServerAccess, parse_tool_answers};
use crate::args::{ChatArgs, ReportFormat};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report;
use crate::workspace_source::WorkspaceSource;
use crate::{env, files, sandbox};
use ::run::external::{AgentHost, HostEnvironment};
use ::run::providers::CassetteMode;
use ::run::subjects::TrialScript;
use ::run::{Clock, SecretRedactor, SubjectDeps, SubjectInWorld, SubjectPool, TrialContext, TrialLimits, drive};
use campaign::{import_record, inline_subject, open_store, timestamp};
use model::{ContentHash, Plan, RECORD_FORMAT, RunClaim, RunRecord, Transcript, Trial, UserError, Workspace};
use serde_json::json;
use std::sync::Arc;
use store::StoreLocation;
use terminal::TerminalUser;
use world::{LiveWorld, RandomOperator, WorldSettings, WorldTemplate};

pub(crate) fn chat(io: &CliOutput, source: &WorkspaceSource, args: &ChatArgs) -> ExitKind {
    let workspace = match super::open_workspace(io, source, "chat") {
        Ok(workspace) => Arc::new(workspace),
        Err(exit) => return exit,
    };
    let transcript = match run_conversation(io, source, &workspace, args) {
        Ok(transcript) => transcript,
        Err(why) => return report::print_refusal(io, "chat", &[why]),
    };
    let ended = match transcript.ending.is_scorable() {
        true => ExitKind::Clean,
        false => ExitKind::Incomplete,
    };
    io.print_message(&format!("conversation ended: the subject {}", report::escape_control(&transcript.ending.to_string())));
    if args.no_store {
        return ended;
    }
    let record = run_record(&workspace, transcript);
    if let Err(why) = store_record(&record, &args.store.store) {
        io.print_message(&format!("the conversation could not be stored in {}: {why}", args.store.store));
        return ExitKind::Incomplete;
    }
    let (run, trial) = (record.hash().short().to_owned(), record.transcripts[0].trial.short().to_owned());
    let store = args.store.show_flags(&run);
    io.print_message(&format!("  bardo-eval show {trial}{store}{}", io.workspace_flag()));
    io.print_message(&format!("  bardo-eval case new --from {run}/{trial}{}{}", args.store.store_flag(), io.workspace_flag()));
    ended
}

fn run_conversation(
    io: &CliOutput,
    source: &WorkspaceSource,
    workspace: &Arc<Workspace>,
    args: &ChatArgs,
) -> Result<Transcript, UserError> {
    let scenario = ChatScenario::from_args(workspace, args)?;
    let inline = inline_subject(&args.subject).transpose()?;
    let file = match &inline {
        Some(file) => file,
        None => models::find_subject(workspace, &args.subject)?,
    };
    let sandbox = sandbox::agent_sandbox(args.sandbox, source, &args.store.store)?;
    if file.external.is_some() {
        sandbox::print_fallback(io, &sandbox.choice);
    }
    let passed = &args.foreign.pass_env;
    env::check_passed(passed)?;
    let host = Arc::new(
        AgentHost::new(
            HostEnvironment {
                variable: env::var,
                folder: env::current_dir(),
                workspace: None,
                sandbox,
                passed: passed.clone(),
                own_program: None,
            },
            Clock::system(),
        )
        .with_secrets(SecretRedactor::default().with_variables(passed, env::var)),
    );
    let deps = SubjectDeps {
        provider_config: Some(models::provider_config(Some(args.budget))),
        key: &models::read_key,
        cassette: &|_| CassetteMode::Off,
        host,
        guard: None,
    };
    let pool = SubjectPool::build(workspace, &[file], &deps);
    let pool = pool
        .map_err(|errors| errors.into_iter().next().map_or_else(|| UserError::without_remedy("no subject can be run"), UserError::from))?;
    let script = workspace.case(&scenario.name).map_or_else(TrialScript::empty, TrialScript::of_case);
    let trial = Trial { id: ContentHash::of_text(&scenario.name), case: scenario.name.clone(), subject: file.name.value.clone(), seed: 0 };
    let chains = super::world::chain_kind::parse_chain_kind(&args.chain)?;
    let template = if pool.has_external(&trial, &scenario.brief) {
        let operator = RandomOperator::new().map_err(UserError::caused_by)?;
        WorldTemplate::with_random_operator(workspace, &scenario.brief.world, &operator, chains)?
    } else {
        WorldTemplate::new(workspace.clone(), &scenario.brief.world, chains)?
    };
    let mut user = TerminalUser::new(io.format == ReportFormat::Text);
    io.print_message(&format!(
        "subject {}, {}, world {}. An empty line or end of input ends the conversation.",
        args.subject,
        scenario.title(),
        *scenario.brief.world
    ));
    let context = TrialContext { workspace, brief: &scenario.brief, limits: TrialLimits::from(file.limits) };
    let driven = super::block_on(async {
        let foreign = parse_tool_answers(source, workspace, &args.foreign.foreign, ServerAccess::of_args(&args.foreign)).await?;
        let setup = WorldSettings {
            peers: scenario.brief.peers.clone(),
            defence: super::world::chain_kind::defence_mode(args.defence),
            case_fixtures: scenario.brief.fixtures.clone(),
            foreign,
            ..WorldSettings::default()
        };
        let mut world = LiveWorld::new(&template, setup);
        let live = report::EventPrinter::new(io, workspace.clone(), &scenario.brief.world);
        world.set_listener(Box::new(move |event| live.print_event(event)));
        let acting = pool.instantiate(&trial, &scenario.brief, world, || script).await.map_err(UserError::from)?;
        let SubjectInWorld { mut subject, mut world } = acting;
        Ok::<_, UserError>(drive(context, subject.as_mut(), &mut user, world.as_mut()).await)
    });
    let driven = driven.map_err(|error| UserError::without_remedy(format!("the chat could not be started: {error}")))?;
    let (events, ending) = driven?;
    let trial =
        ContentHash::of_json(&json!({ "chat": scenario.name, "subject": file.identity().as_str(), "events": events, "ending": ending }));
    Ok(Transcript { trial, case: scenario.name, subject: file.name.value.clone(), events, ending })
}

fn store_record(record: &RunRecord, location: &StoreLocation) -> Result<(), UserError> {
    if location.file().is_some() {
        files::create_folder(&location.folder()).map_err(UserError::caused_by)?;
    }
    let store = open_store(location)?;
    Ok(import_record(&store, record, &timestamp(Clock::system()))?)
}

/// Returns a run record with one trial. It has scores only if the conversation was about a case.
fn run_record(workspace: &Workspace, transcript: Transcript) -> RunRecord {
    let trial = Trial { id: transcript.trial.clone(), case: transcript.case.clone(), subject: transcript.subject.clone(), seed: 0 };
    let plan = Plan { workspace: workspace.hash.clone(), workspace_version: workspace.version_number(), trials: vec![trial] };
    let claim = RunClaim::default();
    let bare = RunRecord {
        format: RECORD_FORMAT,
        claim,
        plan,
        transcripts: vec![transcript],
        scores: vec![],
        judgements: vec![],
        out_of_scope: vec![],
    };
    campaign::rescore(workspace, bare, claim).record
}
