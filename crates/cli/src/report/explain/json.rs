//! Explanation as JSON.

use super::tool_facts::ToolUses;
use super::{ExplainExamples, ExplainTopic, ScoredExample};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report::FORMAT;
use crate::report::show::timeline_json;
use model::{ExternalScorer, Gate, Workspace};
use score::checks::{Check, FindingCollector, silent_cases};
use score::oracles::oracle_manual;
use score::scorers::Scorer;
use serde_json::{Value, json};

pub(super) fn render(io: &CliOutput, topics: &[ExplainTopic<'_>], examples: ExplainExamples) -> String {
    let mut documents = topics.iter().map(|topic| topic_json(io, topic, examples));
    let mut document = documents.next().unwrap_or_else(|| json!({}));
    let others: Vec<Value> = documents.collect();
    if !others.is_empty() {
        document["also"] = others.into();
    }
    document["format"] = FORMAT.into();
    document["command"] = "explain".into();
    document["exit"] = ExitKind::Clean.code().into();
    format!("{document:#}\n")
}

fn topic_json(io: &CliOutput, topic: &ExplainTopic<'_>, examples: ExplainExamples) -> Value {
    match topic {
        ExplainTopic::Check(check) if examples == ExplainExamples::LeftOut => {
            json!({ "name": check.id(), "kind": "check", "manual": check.manual() })
        }
        ExplainTopic::Scorer(scorer) if examples == ExplainExamples::LeftOut => {
            json!({ "name": scorer.id().word(), "kind": "scorer", "manual": scorer.manual() })
        }
        ExplainTopic::Check(check) => check_json(*check),
        ExplainTopic::Scorer(scorer) => scorer_json(io, *scorer),
        ExplainTopic::Oracle(id) => json!({ "name": id.word(), "kind": "oracle", "manual": oracle_manual(*id) }),
        ExplainTopic::Fault(fault) => {
            let also: Vec<&str> = fault.also.iter().map(|scorer| scorer.word()).collect();
            json!({ "name": fault.id, "kind": "fault", "manual": fault.about, "primary": fault.primary.word(), "also": also })
        }
        ExplainTopic::ExternalScorer(workspace, scorer) => external_scorer_json(io, workspace, scorer),
        ExplainTopic::Gate(_, gate) => gate_json(io, gate),
        ExplainTopic::Tool(workspace, tool) => tool_json(io, &ToolUses::of(workspace, tool)),
    }
}

fn check_json(check: &dyn Check) -> Value {
    let example = check.rejects();
    let edits: Vec<Value> = example.edits().iter().map(|edit| json!({ "path": edit.path, "from": edit.from, "to": edit.to })).collect();
    let mut found = FindingCollector::of(check.id(), 1);
    if let Ok(workspace) = example.load() {
        check.check(&workspace, &mut found);
    }
    let findings = found.finish().findings;
    let findings: Vec<Value> =
        findings.iter().map(|one| json!({ "at": one.at.to_string(), "what": one.what, "remedy": one.remedy })).collect();
    json!({ "name": check.id(), "kind": "check", "manual": check.manual(), "rejects": { "edits": edits, "findings": findings } })
}

fn scorer_json(io: &CliOutput, scorer: &dyn Scorer) -> Value {
    let example = |example: &ScoredExample| {
        let transcript = &example.specimen.transcript;
        json!({ "case": transcript.case, "events": timeline_json(io, &example.specimen.workspace, transcript, &example.scores),
            "ending": transcript.ending, "scores": example.scores })
    };
    json!({ "name": scorer.id().word(), "kind": "scorer", "manual": scorer.manual(), "accepts": example(&ScoredExample::accepted(scorer)),
        "rejects": example(&ScoredExample::rejected(scorer)) })
}

fn external_scorer_json(io: &CliOutput, workspace: &Workspace, scorer: &ExternalScorer) -> Value {
    let (cases, silent) = (workspace.cases().filter(|case| scorer.applies_to(case)).count(), silent_cases(workspace, scorer).count());
    let suites: Vec<&str> = scorer.suites.iter().map(|suite| suite.word()).collect();
    json!({ "name": *scorer.id, "kind": "external_scorer", "manual": scorer.about, "command": scorer.command, "suites": suites,
        "tags": scorer.tags, "cases": cases, "cases_without_words": silent, "timeout_s": scorer.timeout_s, "at": io.location(&scorer.at) })
}

fn gate_json(io: &CliOutput, gate: &Gate) -> Value {
    let tiers: Vec<String> = gate.tiers.iter().map(ToString::to_string).collect();
    json!({ "name": *gate.id, "kind": "gate", "manual": gate.why, "spec": gate.spec.as_str(), "bound": gate.bound, "scorer": gate.scorer.value,
        "min_cases": gate.min_cases, "tiers": tiers, "at": io.location(&gate.at) })
}

fn tool_json(io: &CliOutput, facts: &ToolUses<'_>) -> Value {
    let ToolUses { tool, capability, risk, profiles, agents, cases } = facts;
    json!({ "name": tool.name.value, "kind": "tool", "manual": tool.description.value, "category": tool.category, "capability": capability,
        "risk": risk, "acts": tool.acts.value.word(), "input_schema": tool.listing().input_schema, "profiles": profiles, "agents": agents,
        "cases": cases, "at": io.location(&tool.at) })
}
