//! Section of the red team in the reports of a run: heat map of OWASP category and channel, counts, findings.

use super::escape::{escape_cell, markdown_code};
use super::{columns, table};
use crate::io::CliOutput;
use campaign::{AttackFinding, HeatCell, MATERIAL_USD, RedTeamReport};
use model::{AttackChannel, EffectLevel, OwaspCategory};
use serde_json::{Value, json};

/// Findings shown on the screen.
const FINDINGS_SHOWN: usize = 5;
/// Confidence of the failure rate that a clean run rules out.
const CONFIDENCE: f64 = 0.95;

/// `has_money` tells whether attacks could cost money, which needs a policy.
pub(super) fn text(io: &CliOutput, reports: &[RedTeamReport], has_money: bool) -> String {
    reports.iter().map(|report| subject_text(io, report, has_money)).collect()
}

fn subject_text(io: &CliOutput, report: &RedTeamReport, has_money: bool) -> String {
    let all = &report.all;
    let mut lines = vec![format!(
        "red team against {}: {} attacked, {} exercised; {} succeeded (E3 or E4{}), {} stopped (E2), {} flagged{}",
        report.subject,
        model::count(all.attacked, "trial"),
        all.exercised,
        all.breaches(),
        if has_money { format!("; {} with {MATERIAL_USD} USD or more", all.material) } else { String::new() },
        all.near_misses(),
        all.flagged,
        if has_money { format!("; exposure {:.2} USD, worst {:.2} USD", all.exposure_usd, all.worst_usd) } else { String::new() },
    )];
    lines.push(heat_map(io, report));
    lines.push(format!(
        "twins: {} of {} served, {} flagged; attacked trials that wrote otherwise than their twin: {}",
        report.twins_served, report.twins, report.twins_flagged, report.twin_differences
    ));
    lines.push(worst_of_line(report));
    if !report.not_exercised.is_empty() {
        let first = report.not_exercised.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
        lines.push(format!("never read, so not measured: {} ({first})", model::count(report.not_exercised.len(), "attack")));
    }
    let shown = if io.verbose { usize::MAX } else { FINDINGS_SHOWN };
    for finding in report.findings.iter().take(shown) {
        lines.push(finding_line(io, finding));
    }
    let more = report.findings.len().saturating_sub(shown).saturating_add(report.more_findings);
    if more > 0 {
        lines.push(format!(" … and {}; --verbose or --format json lists them", model::count(more, "more finding")));
    }
    lines.join("\n") + "\n"
}

/// Cells are successes of exercised attacks; a dot is a pair without an exercised attack.
fn heat_map(io: &CliOutput, report: &RedTeamReport) -> String {
    let is_attacked = |channel: &AttackChannel| report.heat.keys().any(|(_, used)| used == channel);
    let channels: Vec<AttackChannel> = AttackChannel::ALL.iter().map(|(_, channel)| *channel).filter(is_attacked).collect();
    let head: Vec<&str> = std::iter::once("E3+ of exercised").chain(channels.iter().map(|channel| channel.word())).collect();
    let rows = OwaspCategory::ALL.iter().map(|(word, asi)| {
        let cells = channels.iter().map(|channel| cell_text(io, report.heat.get(&(*asi, *channel))));
        std::iter::once((*word).to_owned()).chain(cells).collect::<Vec<_>>()
    });
    table(&head, rows.collect())
}

fn cell_text(io: &CliOutput, cell: Option<&HeatCell>) -> String {
    match cell.map(|cell| (cell.tally.breaches(), cell.tally.exercised)) {
        None | Some((_, 0)) => "·".to_owned(),
        Some((0, of)) => io.paint.good(&format!("0/{of}")),
        Some((hit, of)) => io.paint.bad(&format!("{hit}/{of}")),
    }
}

fn worst_of_line(report: &RedTeamReport) -> String {
    let pairs = report.worst_of.len();
    let breached = report.worst_of.values().filter(|(effect, _)| effect.is_breach()).count();
    let stopped = report.worst_of.values().filter(|(effect, _)| *effect == EffectLevel::Attempted).count();
    let most = report.worst_of.values().map(|(_, tries)| *tries).max().unwrap_or(0);
    let ruled_out = report.ruled_out_rate(CONFIDENCE).map_or(String::new(), |rate| {
        format!("; rules out success rates above {:.1} % (95 % confidence, probe and channel counted once)", rate * 100.0)
    });
    format!("worst of up to {most} tries: {breached} of {pairs} pairs of probe and channel succeeded, {stopped} were stopped{ruled_out}")
}

fn finding_line(io: &CliOutput, finding: &AttackFinding) -> String {
    let oracles: Vec<&str> = finding.oracles.iter().map(|oracle| oracle.word()).collect();
    let stopped = finding.stopped_by.as_ref().map_or(String::new(), |by| format!(", stopped by {by}"));
    let effect = if finding.effect.is_breach() { io.paint.bad(finding.effect.word()) } else { finding.effect.word().to_owned() };
    let what = super::escape_control(&finding.what);
    columns([&format!(" {effect}"), &finding.case, &format!("[{}]{stopped}", oracles.join(", ")), &what])
}

pub(super) fn json(reports: &[RedTeamReport]) -> Value {
    reports.iter().map(subject_json).collect()
}

fn subject_json(report: &RedTeamReport) -> Value {
    let heat: Vec<Value> = report
        .heat
        .iter()
        .map(|((asi, channel), cell)| {
            json!({ "asi": asi.word(), "channel": channel.word(), "attacked": cell.tally.attacked, "exercised": cell.tally.exercised,
                "breaches": cell.tally.breaches(), "near_misses": cell.tally.near_misses(), "probes": cell.probes })
        })
        .collect();
    let findings: Vec<Value> = report
        .findings
        .iter()
        .map(|one| {
            json!({ "case": one.case, "trial": one.trial, "probe": one.probe, "asi": words(&one.asi), "channel": one.channel.word(),
                "strategy": one.strategy, "effect": one.effect.word(), "oracles": one.oracles.iter().map(|id| id.word()).collect::<Vec<_>>(),
                "what": one.what, "stopped_by": one.stopped_by, "exposure_usd": one.exposure_usd })
        })
        .collect();
    let strategies: serde_json::Map<String, Value> = report
        .strategies
        .iter()
        .map(|(name, tally)| {
            let value =
                json!({ "attacked": tally.attacked, "exercised": tally.exercised, "breaches": tally.breaches(), "flagged": tally.flagged });
            (name.clone(), value)
        })
        .collect();
    let all = &report.all;
    json!({
        "subject": report.subject, "attacked": all.attacked, "exercised": all.exercised, "breaches": all.breaches(), "near_misses": all.near_misses(),
        "effects": all.effects, "flagged": all.flagged, "exposure_usd": all.exposure_usd, "worst_usd": all.worst_usd, "material": all.material,
        "inject": { "attacked": report.inject.attacked, "exercised": report.inject.exercised, "breaches": report.inject.breaches() },
        "twins": { "played": report.twins, "served": report.twins_served, "flagged": report.twins_flagged },
        "twin_differences": report.twin_differences, "ruled_out_rate": report.ruled_out_rate(CONFIDENCE), "heat": heat, "strategies": strategies,
        "not_exercised": report.not_exercised, "findings": findings, "more_findings": report.more_findings,
    })
}

fn words(categories: &[OwaspCategory]) -> Vec<&'static str> {
    categories.iter().map(|asi| asi.word()).collect()
}

pub(super) fn markdown(reports: &[RedTeamReport]) -> String {
    reports.iter().map(subject_markdown).collect()
}

fn subject_markdown(report: &RedTeamReport) -> String {
    let channels: Vec<AttackChannel> = AttackChannel::ALL.iter().map(|(_, channel)| *channel).collect();
    let head: Vec<&str> = channels.iter().map(|channel| channel.word()).collect();
    let cell = |cell: Option<&HeatCell>| match cell.map(|cell| (cell.tally.breaches(), cell.tally.exercised)) {
        None | Some((_, 0)) => "·".to_owned(),
        Some((0, of)) => format!("0/{of}"),
        Some((hit, of)) => format!("**{hit}/{of}**"),
    };
    let rows: String = OwaspCategory::ALL
        .iter()
        .map(|(word, asi)| {
            let cells: Vec<String> = channels.iter().map(|channel| cell(report.heat.get(&(*asi, *channel)))).collect();
            format!("| {word} | {} |\n", cells.join(" | "))
        })
        .collect();
    let findings: String = report
        .findings
        .iter()
        .take(FINDINGS_SHOWN * 4)
        .map(|one| {
            let (case, what) = (markdown_code(&one.case), escape_cell(&one.what));
            format!("- {} {case}: {what}; {:.2} USD\n", one.effect.word(), one.exposure_usd)
        })
        .collect();
    format!(
        "\n### Red team against {}\n\n{} exercised, {} succeeded, {} stopped, {:.2} USD exposed. Cells: successes of exercised attacks.\n\n| | {} |\n|---|{}\n{rows}\n{findings}",
        escape_cell(&report.subject),
        model::count(report.all.exercised, "attack"),
        report.all.breaches(),
        report.all.near_misses(),
        report.all.exposure_usd,
        head.join(" | "),
        "---|".repeat(channels.len())
    )
}
