//! Page of a run: verdict by dimension, every gate with its range, slices, confused tools, causes of failures, costs and times.

use super::attack_summary::AttackSummary;
use super::charts::{gate_range, histogram, verdict_badge, verdict_class};
use super::frame::{PageAssets, frame};
use super::red_team::heat_map;
use super::trials::listing_table;
use super::{duration, query_value, shown, shown_within, usd};
use maud::{Markup, html};
use model::suite::Case;
use model::{CaseOutcome, EvalDimension, GateResult, GateVerdicts, Verdict, Workspace};
use present::cause_text::cause as cause_text;
use present::gate_lines::{GateLine, gate_lines};
use present::judgement_text::{bound, interval, note, observations};
use score::causes::{FailureCause, FailureCauses};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use store::TrialListing;

/// Tools in a row and in a column of the matrix of confused tools.
const MAX_TOOLS: usize = 12;
/// Causes of failures.
const MAX_CAUSES: usize = 30;
/// Characters of the reason of a worst case; the page of its trial has all.
const MAX_BECAUSE_CHARS: usize = 300;
/// Characters of a cause or of the id of a case in a list.
const MAX_CAUSE_CHARS: usize = 120;

/// Facts of a run that its page states.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFacts {
    /// Id in addresses; empty if the run was not stored.
    pub id: String,
    pub subjects: Vec<String>,
    pub started: String,
    /// Absent while the run is in progress.
    pub ended: Option<String>,
    pub workspace: String,
    pub workspace_version: Option<u64>,
    pub tier: Option<u64>,
    pub planned: u64,
    pub finished: u64,
    pub passed: u64,
    pub aborted: u64,
    /// Nano-dollars.
    pub spent: u64,
}

/// Run with everything that its page shows.
#[derive(Debug)]
pub struct RunPage<'r> {
    pub assets: PageAssets,
    pub workspace: &'r Workspace,
    pub facts: RunFacts,
    pub verdicts: &'r GateVerdicts,
    pub causes: &'r FailureCauses,
    /// First trials that failed.
    pub failed: &'r [TrialListing],
    pub has_more_failed: bool,
    /// Reasons of failures by position of the trial.
    pub reasons: &'r BTreeMap<u64, String>,
    /// Times of trials in microseconds, as far as they were read.
    pub times: &'r [f64],
    /// Costs of trials in US dollars, without those that were free.
    pub costs: &'r [f64],
    pub rates: &'r PassRates,
    /// The run has attacked cases.
    pub has_attacks: bool,
    /// Summaries of the attacks, if they were made.
    pub attacks: &'r [AttackSummary],
    /// Trials that were read for rates, causes, times and costs, if not all.
    pub read_first: Option<u64>,
}

/// Trials that passed and all trials with a result, by profile, agent, skill and chain of their case.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassRates {
    kinds: BTreeMap<String, BTreeMap<String, (u64, u64)>>,
}

/// Kind of the rates by chain, whose names are numbers.
const CHAIN: &str = "chain";

impl PassRates {
    /// Adds a trial of a case. Trials without a result are left out.
    pub fn add(&mut self, case: Option<&Case>, outcome: CaseOutcome) {
        let is_passed = match outcome {
            CaseOutcome::Passed => true,
            CaseOutcome::Failed => false,
            CaseOutcome::Unjudged | CaseOutcome::Aborted { .. } => return,
        };
        let Some(case) = case else { return };
        let mut count = |kind: &str, name: &str| {
            let (passed, of) = self.kinds.entry(kind.to_owned()).or_default().entry(name.to_owned()).or_default();
            *passed += u64::from(is_passed);
            *of += 1;
        };
        if let Some(profile) = case.profile() {
            count("profile", profile);
        }
        if let Some(agent) = case.brief.surface.agent() {
            count("agent", agent.as_str());
        }
        if let Some(skill) = &case.expect.skill {
            count("skill", skill.as_str());
        }
        for chain in &case.intent.chains {
            count(CHAIN, &chain.to_string());
        }
    }
}

/// Returns the page of a run.
pub fn run_page(page: &RunPage<'_>) -> String {
    let facts = &page.facts;
    let lines = gate_lines(page.workspace, &page.verdicts.judgements);
    let title = format!("Run {}", facts.id);
    let body = html! {
        h1 { "Run " code { (facts.id) } " " (run_badge(facts, &lines)) }
        (facts_list(page))
        (dimensions(&lines))
        (gates(page, &lines))
        (slices(&page.verdicts.judgements))
        (pass_rates(page))
        (attacks(page))
        (confusion(page.causes))
        (causes(page))
        h2 id="failed" { "Failed trials" }
        @if page.failed.is_empty() { p { "No trial failed." } } @else {
            (listing_table(&facts.id, page.failed, page.assets, page.reasons))
            @if page.has_more_failed && page.assets == PageAssets::Linked {
                p { a href={ "/runs/" (facts.id) "/trials?outcome=failed" } { "All failed trials" } }
            } @else if page.has_more_failed {
                p.soft { "Further failed trials are not in this file; " code { "bardo-eval show" } " prints each." }
            }
        }
        (histograms(page))
        @if let Some(read) = page.read_first { p.soft { "Passed trials, confused tools, causes, times and costs are those of the first " (read) " trials." } }
    };
    frame(page.assets, &title, &body)
}

fn run_badge(facts: &RunFacts, lines: &[GateLine<'_>]) -> Markup {
    let has = |verdict| lines.iter().any(|line| line.verdict == verdict);
    let (class, word) = match () {
        () if facts.ended.is_none() => ("unsure", "in progress or interrupted"),
        () if has(Verdict::Missed) => ("bad", "gates missed"),
        () if has(Verdict::NoEvidence) || facts.aborted > 0 || lines.is_empty() => ("unsure", "incomplete"),
        () => ("good", "all gates met"),
    };
    html! { span class={ "badge " (class) } { (word) } }
}

fn facts_list(page: &RunPage<'_>) -> Markup {
    let facts = &page.facts;
    let version = facts.workspace_version.map(|version| format!(" version {version}")).unwrap_or_default();
    let others = facts.finished.saturating_sub(facts.passed + facts.aborted);
    html! {
        dl.facts {
            dt { "subject" } dd { (shown(&facts.subjects.join(", "))) }
            dt { "started" } dd { (shown(&facts.started)) @if let Some(ended) = &facts.ended { ", ended " (shown(ended)) } }
            dt { "workspace" } dd { (shown(&facts.workspace)) (version) }
            @if let Some(tier) = facts.tier { dt { "tier" } dd { (tier) } }
            dt { "trials" }
            dd {
                (facts.planned) " planned, " (facts.passed) " passed, " (others) " failed or unjudged, " (facts.aborted) " aborted"
                @if page.assets == PageAssets::Linked {
                    " · " a href={ "/runs/" (facts.id) "/trials" } { "all trials" }
                    @if page.has_attacks { " · " a href={ "/runs/" (facts.id) "/redteam" } { "attacks" } }
                }
            }
            dt { "spent" } dd { (usd(facts.spent)) " USD" }
        }
        @if facts.ended.is_none() && page.assets == PageAssets::Linked {
            p data-live={ "/runs/" (facts.id) "/live" } role="status" { (facts.finished) " of " (facts.planned) " trials ended" }
        }
    }
}

fn dimensions(lines: &[GateLine<'_>]) -> Markup {
    html! {
        h2 { "Dimensions" }
        div.blocks {
            @for (name, dimension) in EvalDimension::ALL {
                @let of = |verdict| lines.iter().filter(|line| line.dimension == *dimension && line.verdict == verdict).count();
                div.block {
                    b { (name) }
                    @for verdict in [Verdict::Missed, Verdict::NoEvidence, Verdict::Met] {
                        @if of(verdict) > 0 {
                            span class={ "badge " (verdict_class(verdict)) } { (of(verdict)) " " (super::charts::verdict_word(verdict)) } " "
                        }
                    }
                    @if lines.iter().all(|line| line.dimension != *dimension) { span.soft { "no gate in scope" } }
                }
            }
        }
    }
}

fn gates(page: &RunPage<'_>, lines: &[GateLine<'_>]) -> Markup {
    html! {
        h2 { "Gates" }
        @if lines.is_empty() { p { "No gate was judged." } } @else {
            div.wide tabindex="0" { table {
                thead { tr {
                    th scope="col" { "gate" } th scope="col" { "verdict" } th scope="col" { "value, interval, bound" } th.num scope="col" { "value" }
                    th scope="col" { "bound" } th.num scope="col" { "n" } th scope="col" { "worst slice" }
                } }
                tbody { @for line in lines { (gate_row(page, line)) } }
            } }
            @if !page.verdicts.out_of_scope.is_empty() {
                p.soft { "Not in scope: " (shown(&page.verdicts.out_of_scope.join(", "))) }
            }
        }
    }
}

fn gate_row(page: &RunPage<'_>, line: &GateLine<'_>) -> Markup {
    let (result, metric) = (line.worst, &line.worst.metric);
    let why = page.workspace.gates.iter().find(|gate| *gate.id == line.gate).map(|gate| gate.why.as_str()).unwrap_or_default();
    html! {
        tr {
            th scope="row" {
                (shown(line.gate))
                @if page.facts.subjects.len() > 1 { div.soft { (shown(line.subject)) } }
                @if !why.is_empty() { div.soft { (shown(why)) } }
            }
            td { (verdict_badge(line.verdict)) }
            td { (gate_range(result)) div.soft { (interval(result)) } }
            td.num { (metric.value.map_or("–".to_owned(), |value| format!("{value:.3}"))) }
            td.tight { (bound(result.bound)) }
            td.num { (observations(result)) }
            td {
                (shown(&metric.slice))
                @if line.all_slices > 1 { div.soft { (line.slices) " of " (line.all_slices) " slices " (super::charts::verdict_word(line.verdict)) } }
                @if !note(result).is_empty() { div.soft { (shown(&note(result))) } }
                @if !result.worst.is_empty() && line.verdict != Verdict::Met { (worst_cases(page, result)) }
            }
        }
    }
}

fn worst_cases(page: &RunPage<'_>, result: &GateResult) -> Markup {
    html! {
        details {
            summary { "worst cases" }
            ul {
                @for worst in &result.worst {
                    li {
                        @if page.assets == PageAssets::Linked {
                            a href={ "/runs/" (page.facts.id) "/trials?case=" (query_value(&worst.case)) } { (shown(&worst.case)) }
                        } @else { (shown(&worst.case)) }
                        ": " (shown_within(&worst.because, MAX_BECAUSE_CHARS))
                    }
                }
            }
        }
    }
}

/// Returns one table by kind of slice: rows are slices, columns are gates.
fn slices(judgements: &[GateResult]) -> Markup {
    let mut kinds: BTreeMap<&str, Vec<(&str, &GateResult)>> = BTreeMap::new();
    for result in judgements {
        if let Some((kind, name)) = result.metric.slice.split_once(' ') {
            kinds.entry(kind).or_default().push((name, result));
        }
    }
    kinds.retain(|_, results| results.iter().map(|(name, _)| name).collect::<BTreeSet<_>>().len() > 1);
    html! {
        @if !kinds.is_empty() { h2 { "Slices" } }
        @for (kind, results) in kinds {
            @let names: BTreeSet<&str> = results.iter().map(|(name, _)| *name).collect();
            @let gates: BTreeSet<&str> = results.iter().map(|(_, result)| result.gate.as_str()).collect();
            details open[names.len() <= 12] {
                summary { (names.len()) " × " (shown(kind)) }
                div.wide tabindex="0" { table.heat {
                    thead { tr { th scope="col" { (shown(kind)) } @for gate in &gates { th scope="col" { (shown(gate)) } } } }
                    tbody {
                        @for name in &names {
                            tr {
                                th scope="row" { (shown(name)) }
                                @for gate in &gates { (heat_cell(results.iter().find(|(one, result)| one == name && result.gate == *gate).map(|(_, result)| *result))) }
                            }
                        }
                    }
                } }
            }
        }
    }
}

/// Returns the passed trials by profile, agent, skill and chain, marked below 0.5 and below 0.9.
fn pass_rates(page: &RunPage<'_>) -> Markup {
    let chain_name = |id: &str| {
        let chain = page.workspace.chains.iter().find(|chain| chain.id.to_string() == id);
        chain.map_or_else(|| format!("chain {id}"), |chain| chain.name.clone())
    };
    let class = |rate: f64| match rate {
        _ if rate < 0.5 => ("h0", "✗"),
        _ if rate < 0.9 => ("h1", "!"),
        _ => ("h2", "✓"),
    };
    let kinds: Vec<_> = page.rates.kinds.iter().filter(|(_, rates)| rates.len() > 1).collect();
    html! {
        @if !kinds.is_empty() { h2 { "Passed trials" } }
        @for (kind, rates) in kinds {
            details open[rates.len() <= 12] {
                summary { (rates.len()) " × " (kind) ", passed trials" }
                div.wide tabindex="0" { table.heat {
                    thead { tr { th scope="col" { (kind) } th scope="col" { "passed" } th scope="col" { "rate" } } }
                    tbody { @for (name, (passed, of)) in rates {
                        @let rate = *passed as f64 / (*of).max(1) as f64;
                        @let (class, mark) = class(rate);
                        tr {
                            th scope="row" { (shown(&if kind == CHAIN { chain_name(name) } else { name.clone() })) }
                            td class=(class) { (passed) "/" (of) " " (mark) }
                            td class=(class) { (format!("{rate:.2}")) }
                        }
                    } }
                } }
            }
        }
    }
}

fn attacks(page: &RunPage<'_>) -> Markup {
    html! {
        @for summary in page.attacks {
            h2 { "Attacks on " (shown(&summary.subject)) ": OWASP category by channel" }
            (heat_map(summary))
            @if page.assets == PageAssets::Linked { p { a href={ "/runs/" (page.facts.id) "/redteam" } { "Findings" } } }
        }
    }
}

fn heat_cell(result: Option<&GateResult>) -> Markup {
    let Some(result) = result else { return html! { td { "" } } };
    let class = match result.verdict {
        Verdict::Missed => "h0",
        Verdict::NoEvidence => "h1",
        Verdict::Met => "h2",
    };
    let value = result.metric.value.map_or("–".to_owned(), |value| format!("{value:.2}"));
    let mark = match result.verdict {
        Verdict::Missed => "✗",
        Verdict::NoEvidence => "?",
        Verdict::Met => "✓",
    };
    html! { td class=(class) title=(super::charts::verdict_word(result.verdict)) { (value) " " (mark) } }
}

/// Returns the matrix of tools: expected ones in rows, called ones in columns.
fn confusion(causes: &FailureCauses) -> Markup {
    let pairs = causes.tools();
    let mut expected: Vec<&str> = vec![];
    let mut called: Vec<&str> = vec![];
    for (pair, _) in &pairs {
        if expected.len() < MAX_TOOLS && !expected.contains(&pair.expected.as_str()) {
            expected.push(&pair.expected);
        }
        if called.len() < MAX_TOOLS && !called.contains(&pair.called.as_str()) {
            called.push(&pair.called);
        }
    }
    let name = |tool: &str| if tool.is_empty() { "(no tool)".to_owned() } else { shown(tool) };
    let trials =
        |row: &str, column: &str| pairs.iter().find(|(pair, _)| pair.expected == row && pair.called == column).map(|(_, trials)| *trials);
    html! {
        @if !pairs.is_empty() {
            h2 { "Confused tools" }
            p.soft { "Rows: expected. Columns: called. The most frequent " (expected.len()) " and " (called.len()) "." }
            div.wide tabindex="0" { table.heat {
                thead { tr { th scope="col" { "expected" } @for tool in &called { th scope="col" { (name(tool)) } } } }
                tbody { @for row in &expected {
                    tr {
                        th scope="row" { (name(row)) }
                        @for column in &called {
                            @match trials(row, column) { Some(trials) => { td.h0 { (trials) } } None => { td {} } }
                        }
                    }
                } }
            } }
        }
    }
}

/// Returns the failed cases, grouped by the cause that their scores name.
fn causes(page: &RunPage<'_>) -> Markup {
    let ranked = page.causes.ranked();
    html! {
        @if !ranked.is_empty() {
            h2 { "Failed cases by cause" }
            p.soft { "A trial may have several causes. Numbers are trials." }
            @for (cause, found) in ranked.iter().take(MAX_CAUSES) {
                details {
                    summary { (cause_kind(cause)) " " b { (shown_within(&cause_text(Some(cause)), MAX_CAUSE_CHARS)) } ": " (found.trials) }
                    ul { @for case in &found.cases {
                        li {
                            @if page.assets == PageAssets::Linked {
                                a href={ "/runs/" (page.facts.id) "/trials?case=" (query_value(case)) } { (shown_within(case, MAX_CAUSE_CHARS)) }
                            } @else { (shown_within(case, MAX_CAUSE_CHARS)) }
                        }
                    } }
                    @if page.assets == PageAssets::Linked && let FailureCause::Rule(scorer) = cause {
                        p { a href={ "/runs/" (page.facts.id) "/trials?scorer=" (query_value(scorer.as_str())) } { "All trials that missed it" } }
                    }
                }
            }
            @if ranked.len() > MAX_CAUSES { p.soft { (ranked.len() - MAX_CAUSES) " further causes, each rarer" } }
        }
    }
}

fn cause_kind(cause: &FailureCause) -> &'static str {
    match cause {
        FailureCause::Ending(_) => "ending",
        FailureCause::Tool(_) => "tool",
        FailureCause::Missing(_) => "missing",
        FailureCause::Argument(_) => "wrong",
        FailureCause::Rule(_) => "rule",
    }
}

fn histograms(page: &RunPage<'_>) -> Markup {
    html! {
        @if !page.times.is_empty() {
            h2 { "Times of trials" }
            (histogram("times of trials", page.times, |us| duration(us as u64)))
        }
        @if !page.costs.is_empty() {
            h2 { "Costs of trials" }
            (histogram("costs of trials", page.costs, |cost| format!("{cost:.4} USD")))
        }
    }
}
