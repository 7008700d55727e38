//! Explanation as text.

use super::tool_facts::ToolUses;
use super::{ExplainExamples, ExplainTopic, ScoredExample};
use crate::io::CliOutput;
use crate::report::escape_control;
use crate::report::show::{reading_text, timeline};
use faults::Fault;
use model::{ExternalScorer, Gate, Workspace};
use score::checks::{Check, FindingCollector, silent_cases};
use score::oracles::oracle_manual;
use score::scorers::{Scorer, scorer_named};

pub(super) fn render(io: &CliOutput, topics: &[ExplainTopic<'_>], examples: ExplainExamples) -> String {
    let texts: Vec<String> = topics.iter().map(|topic| topic_text(io, topic, examples)).collect();
    texts.join("\n")
}

fn topic_text(io: &CliOutput, topic: &ExplainTopic<'_>, examples: ExplainExamples) -> String {
    match topic {
        ExplainTopic::Check(check) if examples == ExplainExamples::LeftOut => {
            format!("{}{}", head(io, check.id(), "a check of tier 1", check.manual()), examples_elsewhere(check.id()))
        }
        ExplainTopic::Scorer(scorer) if examples == ExplainExamples::LeftOut => {
            let id = scorer.id().word();
            format!("{}{}", head(io, id, "a scorer", scorer.manual()), examples_elsewhere(id))
        }
        ExplainTopic::Check(check) => check_text(io, *check),
        ExplainTopic::Scorer(scorer) => scorer_text(io, *scorer),
        ExplainTopic::Oracle(id) => head(io, id.word(), "an oracle of the red team", oracle_manual(*id)),
        ExplainTopic::Fault(fault) => fault_text(io, fault),
        ExplainTopic::ExternalScorer(workspace, scorer) => external_scorer_text(io, workspace, scorer),
        ExplainTopic::Gate(workspace, gate) => gate_text(io, workspace, gate),
        ExplainTopic::Tool(workspace, tool) => tool_text(io, &ToolUses::of(workspace, tool)),
    }
}

fn head(io: &CliOutput, id: &str, kind: &str, manual: &str) -> String {
    if manual.is_empty() {
        return format!("{}  {kind}\n", io.paint.strong(id));
    }
    format!("{}  {kind}\n\n{}\n", io.paint.strong(id), wrap(manual))
}

fn examples_elsewhere(id: &str) -> String {
    format!("\nIts examples are of another trade than this workspace; `bardo-eval explain {id} --embedded` shows them.\n")
}

fn fault_text(io: &CliOutput, fault: &Fault) -> String {
    let also: Vec<&str> = fault.also.iter().map(|scorer| scorer.word()).collect();
    let others = if also.is_empty() { String::new() } else { format!(" It may trip those of {} too.", also.join(", ")) };
    let manual = format!("{} It trips the gates of {}.{others}", fault.about, fault.primary.word());
    let example = format!("bardo-eval run --subject fault:{}", fault.id);
    format!(
        "{}\nPlayed by:\n  {example}      in every case in which it is possible\n  {example}@3    in three of them\n",
        head(io, fault.id, "a fault of the selftest", &manual)
    )
}

fn check_text(io: &CliOutput, check: &dyn Check) -> String {
    let mut text = format!("{}\nIt rejects, for example:\n", head(io, check.id(), "a check of tier 1", check.manual()));
    let example = check.rejects();
    for edit in example.edits() {
        text.push_str(&format!("  in {}\n", edit.path));
        for (sign, side) in [("-", &edit.from), ("+", &edit.to)] {
            for line in side.lines().take(6) {
                text.push_str(&format!("    {sign} {line}\n"));
            }
        }
    }
    text.push_str("\nand says:\n");
    if let Ok(workspace) = example.load() {
        let mut found = FindingCollector::of(check.id(), 1);
        check.check(&workspace, &mut found);
        for finding in found.finish().findings.iter().take(3) {
            text.push_str(&format!("  {}  {}; {}\n", finding.at, finding.what, finding.remedy));
        }
    }
    text
}

fn scorer_text(io: &CliOutput, scorer: &dyn Scorer) -> String {
    let accepted = example_text(io, &ScoredExample::accepted(scorer));
    let rejected = example_text(io, &ScoredExample::rejected(scorer));
    format!(
        "{}\nIt accepts, for example:\n{accepted}\nIt rejects, for example:\n{rejected}",
        head(io, scorer.id().word(), "a scorer", scorer.manual())
    )
}

fn example_text(io: &CliOutput, example: &ScoredExample) -> String {
    let mut text = timeline(io, &example.specimen.workspace, &example.specimen.transcript, &example.scores);
    for score in &example.scores {
        text.push_str(&format!("and reads {}\n", reading_text(&score.reading)));
        for because in score.because.iter().filter(|because| because.event.is_none()) {
            text.push_str(&format!("  {}\n", escape_control(&because.what)));
        }
    }
    text
}

fn external_scorer_text(io: &CliOutput, workspace: &Workspace, scorer: &ExternalScorer) -> String {
    let (cases, silent) = (workspace.cases().filter(|case| scorer.applies_to(case)).count(), silent_cases(workspace, scorer).count());
    let ending = match silent {
        0 => String::new(),
        silent => format!("; {silent} of them end after the first call, so nothing is said there: `applies` leaves cases out"),
    };
    let any = |words: Vec<&str>| if words.is_empty() { "all".to_owned() } else { words.join(", ") };
    format!(
        "{}\ncommand  {}\nsuites   {}\ntags     {}\ncases    {cases}{ending}\ntimeout  {} s\nwhere    {}\n",
        head(io, &scorer.id, "a scorer of the workspace", &scorer.about),
        escape_control(&scorer.command.join(" ")),
        any(scorer.suites.iter().map(|suite| suite.word()).collect()),
        any(scorer.tags.iter().map(String::as_str).collect()),
        scorer.timeout_s,
        io.location(&scorer.at)
    )
}

fn gate_text(io: &CliOutput, workspace: &Workspace, gate: &Gate) -> String {
    let bound = match gate.bound {
        model::GateBound::AtLeast(value) => format!("at least {value}"),
        model::GateBound::AtMost(value) => format!("at most {value}"),
    };
    let tiers: Vec<String> = gate.tiers.iter().map(ToString::to_string).collect();
    let mut text = format!(
        "{}\nbound      {bound}\nscorer     {}\nmin cases  {}\ntiers      {}\nwhere      {}\n",
        head(io, &gate.id, &format!("a gate ({})", gate.spec.as_str()), &gate.why),
        gate.scorer.value,
        gate.min_cases,
        tiers.join(", "),
        io.location(&gate.at)
    );
    if let Some(scorer) = scorer_named(workspace, &gate.scorer) {
        text.push_str(&format!("\n{}", head(io, scorer.name(), "a scorer", scorer.manual())));
    }
    text
}

fn tool_text(io: &CliOutput, facts: &ToolUses<'_>) -> String {
    let ToolUses { tool, capability, risk, profiles, agents, cases } = facts;
    let schema = tool.listing().input_schema;
    let is_required = |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let params = tool.params.iter().map(|(name, param)| {
        let kind = param.kind.as_ref().map(ToString::to_string).unwrap_or_default();
        let need = if is_required(name) { "required" } else { "optional" };
        format!("  {name:<20} {kind:<24} {need}\n")
    });
    format!(
        "{}\ncategory    {}\ncapability  {capability}, {risk}\nacts        {}\nprofiles    {}\nagents      {}\nexpected by {}\nwhere       {}\n\nparameters\n{}",
        head(io, &tool.name, "a tool", &tool.description),
        tool.category,
        tool.acts.value.word(),
        profiles.join(", "),
        agents.join(", "),
        model::count(*cases, "case"),
        io.location(&tool.at),
        params.collect::<String>()
    )
}

/// Breaks text into lines of at most 100 characters.
fn wrap(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && lines[last].chars().count() + 1 + word.chars().count() > 100 {
            lines.push(word.to_owned());
        } else {
            if !lines[last].is_empty() {
                lines[last].push(' ');
            }
            lines[last].push_str(word);
        }
    }
    lines.join("\n")
}
