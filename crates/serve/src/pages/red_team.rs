//! Attacks of a run: categories against channels as a heat map, findings with their effect and exposure, and the smallest text known for each.

use super::attack_summary::{AttackSeverity, AttackSummary, FindingEntry, HeatEntry, shrunk_attack};
use super::frame::{PageAssets, frame};
use super::{query_value, shown, shown_lines};
use maud::{Markup, html};
use model::{AttackChannel, EffectLevel, OwaspCategory, Workspace};

/// Characters of an attack's text on the page.
const MAX_ATTACK_CHARS: usize = 1_000;
/// Findings of a subject on the page.
pub const MAX_FINDINGS: usize = 60;

/// Attacks of one run.
#[derive(Debug)]
pub struct RedTeamPage<'r> {
    /// Its attacked cases are the reproducers of earlier findings.
    pub workspace: &'r Workspace,
    /// Id of the run in addresses; the newest run with attacks if none was named.
    pub run: Option<&'r str>,
    pub summaries: &'r [AttackSummary],
    /// Other runs with attacks: id in addresses and label.
    pub runs: &'r [(String, String)],
}

pub fn red_team_page(page: &RedTeamPage<'_>) -> String {
    let body = html! {
        h1 { "Red team" @if let Some(run) = page.run { ", run " a href={ "/runs/" (run) } { code { (run) } } } }
        @match page.run.filter(|_| !page.summaries.is_empty()) {
            None => { p { "No attacks are stored. Start some with " code { "bardo-eval redteam" } "." } }
            Some(run) => { @for summary in page.summaries { (subject(page.workspace, run, summary)) } }
        }
        @if !page.runs.is_empty() {
            h2 { "Runs with attacks" }
            ul { @for (id, label) in page.runs { li { a href={ "/runs/" (id) "/redteam" } { (shown(label)) } } } }
        }
    };
    frame(PageAssets::Linked, "Red team", &body)
}

fn subject(workspace: &Workspace, run: &str, summary: &AttackSummary) -> Markup {
    html! {
        h2 { "Attacks on " (shown(&summary.subject)) }
        div.blocks {
            div.block { b { "succeeded" } span class={ "badge " (if summary.breaches > 0 { "bad" } else { "good" }) } { (summary.breaches) " of " (summary.exercised) " exercised" } }
            div.block { b { "stopped" } (summary.near_misses) " unsafe calls did not get through" }
            div.block { b { "flagged" } (summary.flagged) " by the subject" }
            div.block { b { "exposure" } (dollars(summary.exposure_usd)) ", worst " (dollars(summary.worst_usd)) }
            div.block { b { "twins" } (summary.twins_served) " of " (summary.twins) " harmless twins served" }
        }
        p.soft {
            (summary.attacked) " attacked trials, " (summary.not_exercised) " whose text was never read."
            @if let Some(rate) = summary.ruled_out { " No attack succeeded: rules out success rates above " (format!("{:.1}", rate * 100.0)) " % at 95 %." }
        }
        h3 { "OWASP category by channel" }
        (heat_map(summary))
        (findings(workspace, run, summary))
    }
}

/// Returns categories against channels.
pub(super) fn heat_map(summary: &AttackSummary) -> Markup {
    let is_used = |channel: &AttackChannel| summary.heat.iter().any(|cell| cell.channel == *channel);
    let channels: Vec<AttackChannel> = AttackChannel::ALL.iter().map(|(_, channel)| *channel).filter(is_used).collect();
    let cell = |asi: OwaspCategory, channel: AttackChannel| summary.heat.iter().find(|cell| cell.asi == asi && cell.channel == channel);
    html! {
        p.soft { "Successes of exercised attacks; " span.h0 { " ✗ " } " at least one succeeded, " span.h1 { " ! " } " an unsafe call was stopped, " span.h2 { " ✓ " } " none." }
        div.wide tabindex="0" role="region" aria-label="Heat map of categories and channels" { table.heat {
            thead { tr { th scope="col" { "category" } @for channel in &channels { th scope="col" { (channel.word()) } } } }
            tbody { @for (word, asi) in OwaspCategory::ALL {
                tr { th scope="row" { (word) " " span.soft { (category_name(*asi)) } } @for channel in &channels { (heat_cell(cell(*asi, *channel))) } }
            } }
        } }
    }
}

fn heat_cell(cell: Option<&HeatEntry>) -> Markup {
    let Some(cell) = cell.filter(|cell| cell.exercised > 0) else { return html! { td { "·" } } };
    let (class, mark) = match (cell.breaches, cell.near_misses) {
        (0, 0) => ("h2", "✓"),
        (0, _) => ("h1", "!"),
        (_, _) => ("h0", "✗"),
    };
    html! { td class=(class) { (cell.breaches) "/" (cell.exercised) " " (mark) } }
}

fn category_name(asi: OwaspCategory) -> &'static str {
    match asi {
        OwaspCategory::GoalHijack => "goal hijack",
        OwaspCategory::ToolMisuse => "tool misuse",
        OwaspCategory::PrivilegeAbuse => "privilege abuse",
        OwaspCategory::SupplyChain => "supply chain",
        OwaspCategory::CodeExecution => "code execution",
        OwaspCategory::MemoryPoisoning => "memory poisoning",
        OwaspCategory::InsecureMessages => "insecure messages",
        OwaspCategory::CascadingFailures => "cascading failures",
        OwaspCategory::TrustExploitation => "trust exploitation",
        OwaspCategory::RogueAgent => "rogue agent",
    }
}

fn findings(workspace: &Workspace, run: &str, summary: &AttackSummary) -> Markup {
    html! {
        h3 { "Findings" }
        @if summary.findings.is_empty() { p { "No attack reached an unsafe call." } } @else {
            div.wide tabindex="0" { table {
                thead { tr { th scope="col" { "attack" } th scope="col" { "severity" } th scope="col" { "effect" } th scope="col" { "finding" } th.num scope="col" { "exposure" } } }
                tbody { @for finding in summary.findings.iter().take(MAX_FINDINGS) { (finding_row(workspace, run, finding)) } }
            } }
            @let more = summary.findings.len().saturating_sub(MAX_FINDINGS) + summary.more_findings;
            @if more > 0 { p.soft { (more) " further findings; " code { "bardo-eval redteam --format json" } " lists them" } }
        }
    }
}

fn finding_row(workspace: &Workspace, run: &str, finding: &FindingEntry) -> Markup {
    let address = format!("/runs/{run}/trials?case={}", query_value(&finding.case));
    let shrunk = shrunk_attack(workspace, finding);
    html! {
        tr data-href=(address) {
            th scope="row" {
                a href=(address) { (shown(&finding.case)) }
                div.soft { (shown(&finding.asi.join(", "))) " · " (finding.channel.word()) " · " (shown(&finding.strategy)) }
            }
            td { span class={ "badge " (severity_class(finding.severity)) } { (finding.severity.word()) } }
            td {
                span class={ "badge " (if finding.effect.is_breach() { "bad" } else { "unsure" }) } { (finding.effect.word()) " " (effect_text(finding.effect)) }
                @if let Some(by) = &finding.stopped_by { div.soft { "stopped by " (shown(by)) } }
            }
            td {
                (shown(&finding.what)) div.soft { (shown(&finding.oracles.join(", "))) }
                (text_details("Text of the attack", &finding.texts))
                @match &shrunk {
                    Some((case, texts)) => { (text_details(&format!("Shrunk attack, {case}"), texts)) }
                    None if finding.effect.is_breach() && !finding.texts.is_empty() => { div.soft { "Smaller: " code { "bardo-eval shrink " (shown(&finding.case)) " --run " (run) } } }
                    None => {}
                }
            }
            td.num { (dollars(finding.exposure_usd)) }
        }
    }
}

fn severity_class(severity: AttackSeverity) -> &'static str {
    match severity {
        AttackSeverity::Critical | AttackSeverity::High => "bad",
        AttackSeverity::Medium | AttackSeverity::Stopped => "unsure",
    }
}

fn text_details(title: &str, texts: &[String]) -> Markup {
    html! {
        @if !texts.is_empty() {
            details { summary { (shown(title)) } @for text in texts { pre tabindex="0" { (shown_lines(text, MAX_ATTACK_CHARS)) } } }
        }
    }
}

fn effect_text(effect: EffectLevel) -> &'static str {
    match effect {
        EffectLevel::Nothing => "no effect",
        EffectLevel::Flagged => "flagged",
        EffectLevel::Attempted => "attempted",
        EffectLevel::Sent => "signed or sent",
        EffectLevel::Changed => "state changed",
    }
}

/// Returns an amount with its thousands apart.
fn dollars(usd: f64) -> String {
    let text = format!("{usd:.2}");
    let (whole, cents) = text.split_once('.').unwrap_or((&text, "00"));
    let mut grouped = String::new();
    for (n, digit) in whole.chars().enumerate() {
        if n > 0 && (whole.len() - n).is_multiple_of(3) && whole.as_bytes()[n - 1].is_ascii_digit() {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{grouped}.{cents} USD")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_apart() {
        assert_eq!(
            (dollars(31_134_390.0).as_str(), dollars(0.5).as_str(), dollars(999.994).as_str()),
            ("31,134,390.00 USD", "0.50 USD", "999.99 USD")
        );
    }
}
