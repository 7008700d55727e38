//! Attacks as the pages of the viewer and the HTML report show them.

use super::sarif::attack_severity;
use campaign::{AttackFinding, RedTeamReport};
use model::suite::Case;
use serve::pages::{AttackSummary, FindingEntry, HeatEntry, MAX_FINDINGS, attack_texts};

/// Confidence of the success rate that a clean run rules out.
const CONFIDENCE: f64 = 0.95;

/// Returns what the page shows of reports. `case` finds an attacked case.
pub(crate) fn summarize_attacks(reports: &[RedTeamReport], mut case: impl FnMut(&str) -> Option<Case>) -> Vec<AttackSummary> {
    reports.iter().filter(|report| report.all.attacked > 0).map(|report| summary(report, &mut case)).collect()
}

fn summary(report: &RedTeamReport, case: &mut impl FnMut(&str) -> Option<Case>) -> AttackSummary {
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
        findings: report.findings.iter().take(MAX_FINDINGS).map(|finding| entry(finding, case)).collect(),
        more_findings: report.findings.len().saturating_sub(MAX_FINDINGS) + report.more_findings,
    }
}

fn entry(finding: &AttackFinding, case: &mut impl FnMut(&str) -> Option<Case>) -> FindingEntry {
    FindingEntry {
        case: finding.case.clone(),
        probe: finding.probe.clone(),
        asi: finding.asi.iter().map(|asi| asi.word().to_owned()).collect(),
        channel: finding.channel,
        strategy: finding.strategy.clone(),
        effect: finding.effect,
        severity: attack_severity(finding),
        oracles: finding.oracles.iter().map(|oracle| oracle.word().to_owned()).collect(),
        what: finding.what.clone(),
        stopped_by: finding.stopped_by.clone(),
        exposure_usd: finding.exposure_usd,
        texts: case(&finding.case).as_ref().map(attack_texts).unwrap_or_default(),
    }
}
