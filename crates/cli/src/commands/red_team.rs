//! `redteam`: attacks a subject through every channel and judges the effects. A run of the cases of the red team.

use crate::args::{RedTeamArgs, RunArgs};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report;
use crate::workspace_source::WorkspaceSource;
use attack::ATTACKER_MODEL;
use campaign::AttackerSettings;
use model::{SuiteKind, UserError};

pub(crate) fn red_team(io: &CliOutput, source: &WorkspaceSource, args: RedTeamArgs) -> ExitKind {
    match select_attacks(args) {
        Ok(run) => super::run(io, source, &run),
        Err(error) => report::print_refusal(io, "redteam", &[error]),
    }
}

/// Turns the choice of attacks into filters over cases. Twins of the chosen attacks are played too, since they show the utility.
fn select_attacks(args: RedTeamArgs) -> Result<RunArgs, UserError> {
    let RedTeamArgs { probe, asi, channel, strategy, seeds, pairwise, attacker, attacker_tries, enforce_too, shrink, mut run } = args;
    if !run.suite.is_empty() || !run.case_file.is_empty() {
        return Err(UserError::new(
            "redteam runs the cases of the red team only",
            "remove --suite and --case-file; --probe chooses attacks",
        ));
    }
    run.shrink = shrink;
    if run.resume.is_some() {
        return Ok(run);
    }
    let folder = SuiteKind::RedTeam.word();
    run.suite = if probe.is_empty() { vec![folder.to_owned()] } else { probe.iter().map(|probe| format!("{folder}/{probe}")).collect() };
    run.tag.extend(asi.iter().map(|asi| asi.word().to_owned()));
    if channel.is_some() || strategy.is_some() {
        let channel = channel.map_or_else(|| "*".to_owned(), |channel| format!("{}*", channel.word()));
        let strategies = strategy.as_deref().map_or(vec!["*"], |strategy| vec![strategy, "twin"]);
        run.case.extend(strategies.iter().map(|strategy| format!("*.{channel}.{strategy}.*")));
    }
    if strategy.as_deref() == Some(ATTACKER_MODEL) && attacker.is_none() {
        return Err(UserError::new(format!("{ATTACKER_MODEL} needs a model"), "name it: --attacker claude-sonnet --budget 2"));
    }
    run.attacker = attacker.map(|model| AttackerSettings { model, tries: attacker_tries });
    run.attack_seeds = seeds;
    run.pairwise = pairwise;
    run.enforce_too = enforce_too;
    Ok(run)
}
