//! From arguments to the specification of a run, and what of the machine the run may use.

use super::failed;
use super::outcome::RunStop;
use crate::args::{DefenceArg, RunArgs};
use crate::open::Source;
use crate::{env, kept};
use ::run::Clock;
use ::run::finished::Surroundings;
use campaign::{
    JudgeRequest, LockedRun, RecordingMode, RunDestination, RunEnvironment, RunOptions, RunOrigin, RunRequest, RunSpec, Selection,
};
use model::{UserError, Workspace};

pub(super) struct RunStart {
    pub spec: RunSpec,
    pub origin: RunOrigin,
}

impl RunStart {
    /// A run that is resumed is found and locked here, once.
    pub(super) fn of(args: &RunArgs, workspace: &Workspace) -> Result<Self, RunStop> {
        if let Some(wanted) = &args.resume {
            let (store, run) = kept::unfinished(&args.store.store, wanted.as_deref())?;
            let locked = LockedRun::lock(store, &run)?;
            let spec = RunSpec::resumed(&locked.run().settings, args.budget, options(args));
            let spec = spec.map_err(|error| UserError::plain(format!("run {} cannot be resumed: {error}", run.short())))?;
            return Ok(Self { spec, origin: RunOrigin::Resumed(Box::new(locked)) });
        }
        let spec = request(args, workspace)?.resolve(workspace).map_err(UserError::from)?;
        let destination = if args.no_store { RunDestination::Memory } else { RunDestination::File(args.store.store.clone()) };
        Ok(Self { spec, origin: RunOrigin::New(destination) })
    }
}

fn request(args: &RunArgs, workspace: &Workspace) -> Result<RunRequest, UserError> {
    let failed = if args.last_failed { failed::last(&args.store.store, workspace)? } else { vec![] };
    let selection = Selection {
        tier: args.tier,
        suites: args.suite.clone(),
        profiles: args.profile.clone(),
        agents: args.agent.clone(),
        skills: args.skill.clone(),
        cases: [args.case.clone(), failed].concat(),
        tags: args.tag.clone(),
    };
    Ok(RunRequest {
        selection,
        subjects: args.subject.clone(),
        confidence: args.demands.confidence,
        rule_out: args.demands.rule_out,
        trust_claims: args.demands.trust_claims.unwrap_or_default(),
        trials: args.trials,
        seed: args.seed,
        chain: args.chain.clone(),
        enforce: matches!(args.defence, DefenceArg::Enforce),
        budget: args.budget,
        judge: match &args.judge {
            None => JudgeRequest::Off,
            Some(None) => JudgeRequest::Default,
            Some(Some(name)) => JudgeRequest::Named(name.clone()),
        },
        user: args.user.clone(),
        options: options(args),
    })
}

fn options(args: &RunArgs) -> RunOptions {
    RunOptions {
        concurrency: usize::try_from(args.concurrency).unwrap_or(1),
        cache: !args.no_cache,
        recordings: match (args.record, args.replay, args.record_missing) {
            (true, ..) => Some(RecordingMode::Record),
            (_, true, _) => Some(RecordingMode::Replay),
            (.., true) => Some(RecordingMode::RecordMissing),
            (false, false, false) => None,
        },
        foreign_tools: args.foreign.foreign.clone(),
    }
}

/// The one place where a run learns of the machine it runs on.
pub(super) fn environment(source: &Source) -> RunEnvironment {
    let cassettes = match source {
        Source::Folder(folder) => Some(folder.join("cassettes")),
        Source::Embedded => None,
    };
    let surroundings = Surroundings { variable: env::value, folder: env::folder() };
    RunEnvironment { clock: Clock::system(), surroundings, cassettes, anvil: env::find_program("anvil"), process: std::process::id() }
}
