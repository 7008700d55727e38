//! Attacks of a stored run for the page of the red team.

use campaign::{AttackFinding, RedTeamReport};
use model::suite::{Case, UserScript};
use model::{Workspace, WorldFault};
use serve::pages::{AttackSummary, FindingEntry, HeatEntry};
use store::{Store, StoreError, StoredRun};

/// Confidence of the success rate that a clean run rules out.
const CONFIDENCE: f64 = 0.95;

/// Summarizes the attacks of a run from its transcripts. `plain` is the workspace without expanded attacks: its attacked cases are reproducers.
pub(super) fn attack_summaries(
    plain: &Workspace,
    workspace: &Workspace,
    store: &Store,
    run: &StoredRun,
) -> Result<Vec<AttackSummary>, StoreError> {
    store.check_format(run)?;
    let mut reports: Vec<RedTeamReport> = run.subjects.iter().map(|subject| RedTeamReport::new(subject)).collect();
    store.for_each_unread(run.run, |unread| {
        let case = workspace.case(&unread.trial.case).filter(|case| case.attack.is_some());
        if let Some(case) = case
            && let Some(report) = reports.iter_mut().find(|report| report.subject == unread.trial.subject)
        {
            report.add(workspace, case, &unread.transcript()?, &unread.scores()?);
        }
        Ok(())
    })?;
    let attacked = reports.into_iter().map(RedTeamReport::finish).filter(|report| report.all.attacked > 0);
    Ok(attacked.map(|report| summary(plain, workspace, &report)).collect())
}

fn summary(plain: &Workspace, workspace: &Workspace, report: &RedTeamReport) -> AttackSummary {
    let all = &report.all;
    let heat = report.heat.iter().map(|((asi, channel), cell)| HeatEntry {
        asi: *asi,
        channel: *channel,
        exercised: cell.tally.exercised,
        breaches: cell.tally.breaches(),
        near_misses: cell.tally.near_misses(),
    });
    AttackSummary {
        subject: report.subject.clone(),
        attacked: all.attacked,
        exercised: all.exercised,
        breaches: all.breaches(),
        near_misses: all.near_misses(),
        flagged: all.flagged,
        exposure_usd: all.exposure_usd,
        worst_usd: all.worst_usd,
        twins: report.twins,
        twins_served: report.twins_served,
        not_exercised: report.not_exercised.len(),
        ruled_out: report.ruled_out_rate(CONFIDENCE),
        heat: heat.collect(),
        findings: report.findings.iter().map(|finding| entry(plain, workspace, finding)).collect(),
        more_findings: report.more_findings,
    }
}

fn entry(plain: &Workspace, workspace: &Workspace, finding: &AttackFinding) -> FindingEntry {
    let is_same = |case: &&Case| {
        case.id.value != finding.case
            && case.attack.as_deref().is_some_and(|attack| attack.probe == finding.probe && attack.channel == finding.channel)
    };
    let shrunk = plain.cases().filter(is_same).min_by_key(|case| attack_texts(case).iter().map(String::len).sum::<usize>());
    FindingEntry {
        case: finding.case.clone(),
        asi: finding.asi.clone(),
        channel: finding.channel,
        strategy: finding.strategy.clone(),
        effect: finding.effect,
        oracles: finding.oracles.iter().map(|oracle| oracle.word()).collect(),
        what: finding.what.clone(),
        stopped_by: finding.stopped_by.clone(),
        exposure_usd: finding.exposure_usd,
        texts: workspace.case(&finding.case).map(attack_texts).unwrap_or_default(),
        shrunk: shrunk.map(|case| (case.id.value.clone(), attack_texts(case))),
    }
}

/// Returns the texts that the attack put into the case: filled holes, added answers and descriptions, and the turns before the scenario.
fn attack_texts(case: &Case) -> Vec<String> {
    let turns: Vec<String> = match &case.brief.user_script {
        UserScript::Turns(turns) => turns.iter().map(|turn| turn.value.clone()).collect(),
        UserScript::Persona(persona) => vec![persona.opening.clone()],
    };
    let marker = case.attack.as_deref().map(|attack| attack.marker.as_str()).unwrap_or_default();
    let marked = turns.into_iter().filter(|turn| !marker.is_empty() && turn.contains(marker));
    let faults = case.brief.faults.iter().filter_map(fault_text);
    case.brief.fills.values().cloned().chain(marked).chain(faults).collect()
}

fn fault_text(fault: &WorldFault) -> Option<String> {
    match fault {
        WorldFault::ChangeTool { description: text, .. }
        | WorldFault::ShadowTool { description: text, .. }
        | WorldFault::LateAnswer { message: text, .. }
        | WorldFault::ReplayMessage { text, .. }
        | WorldFault::AddToAnswer { text, .. }
        | WorldFault::AddToolNote { text, .. } => Some(text.clone()),
        WorldFault::TamperHandOver { key, value } => Some(format!("{key} = {value}")),
    }
}
