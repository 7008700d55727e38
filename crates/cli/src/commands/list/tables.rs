//! Tables of `list`, one function each.

use super::ListTable;
use crate::io::CliOutput;
use ::faults::{FAULTS, Fault};
use attack::{STRATEGIES, Strategy, is_held_out};
use model::{Case, GateBound, OracleId, SkillHandler, Workspace};
use score::checks::checks_in_force;
use score::gates::judged_slices;
use score::oracles::oracle_manual;
use score::scorers::{SCORERS, is_in_force, scorer_named};
use std::collections::BTreeMap;

/// Characters of an opening that a list shows; `--verbose` shows all.
const OPENING_SHOWN: usize = 80;

pub(super) fn tools(workspace: &Workspace) -> ListTable {
    let row = |tool: &model::Tool| {
        let capability = format!("{:?}", tool.capability).to_lowercase();
        let params: Vec<&str> = tool.params.keys().map(String::as_str).collect();
        vec![tool.name.value.clone(), tool.category.clone(), capability, tool.acts.value.word().to_owned(), params.join(" ")]
    };
    (vec!["tool", "category", "capability", "acts", "parameters"], workspace.tools.iter().map(row).collect())
}

pub(super) fn profiles(workspace: &Workspace) -> ListTable {
    let row = |profile: &model::ToolProfile| {
        vec![profile.name.value.clone(), profile.select(&workspace.tools).len().to_string(), profile.about.clone()]
    };
    (vec!["profile", "tools", "about"], workspace.profiles.iter().map(row).collect())
}

pub(super) fn agents(workspace: &Workspace) -> ListTable {
    let row = |agent: &model::Agent| {
        let writes = if *agent.writes { "writes" } else { "" };
        let mut to: Vec<&str> = agent.delegates_to.iter().map(|to| to.as_str()).take(4).collect();
        let more = agent.delegates_to.len() - to.len();
        let rest = format!("+{more}");
        if more > 0 {
            to.push(&rest);
        }
        vec![agent.name.value.clone(), agent.tools.len().to_string(), writes.to_owned(), to.join(" "), agent.role.clone()]
    };
    (vec!["agent", "tools", "writes", "delegates to", "role"], workspace.agents.iter().map(row).collect())
}

pub(super) fn skills(workspace: &Workspace) -> ListTable {
    let row = |skill: &model::Skill| {
        let handler = match &skill.handler {
            SkillHandler::Agent(name) => name.value.clone(),
            SkillHandler::Tool(name) => format!("tool {}", name.value),
        };
        vec![skill.name.value.clone(), skill.category.clone(), handler, skill.description.clone()]
    };
    (vec!["skill", "category", "handled by", "description"], workspace.skills.iter().map(row).collect())
}

pub(super) fn suites(workspace: &Workspace) -> ListTable {
    let row = |suite: &model::Suite| vec![suite.name.clone(), suite.cases.len().to_string(), suite.about.clone()];
    (vec!["suite", "cases", "about"], workspace.suites.iter().map(row).collect())
}

pub(super) fn cases(io: &CliOutput, cases: &[&Case], is_whole: bool) -> ListTable {
    let opening = |text: &str| if is_whole { text.to_owned() } else { model::shortened(text, OPENING_SHOWN) };
    let row = |case: &&Case| {
        vec![
            case.id.value.clone(),
            case.kind.word().to_owned(),
            io.location(&case.at),
            case.tags.join(" "),
            opening(case.brief.user_script.opening()),
        ]
    };
    (vec!["case", "kind", "where", "tags", "opening"], cases.iter().map(row).collect())
}

pub(super) fn tags(cases: &[&Case]) -> ListTable {
    let mut tags: BTreeMap<&str, usize> = BTreeMap::new();
    for tag in cases.iter().flat_map(|case| &case.tags) {
        *tags.entry(tag).or_default() += 1;
    }
    (vec!["tag", "cases"], tags.into_iter().map(|(tag, cases)| vec![tag.to_owned(), cases.to_string()]).collect())
}

pub(super) fn worlds(workspace: &Workspace) -> ListTable {
    let row = |world: &model::WorldFile| vec![world.name.value.clone(), world.about.clone()];
    (vec!["world", "about"], workspace.worlds.iter().map(row).collect())
}

pub(super) fn subjects(workspace: &Workspace) -> ListTable {
    let row = |subject: &model::SubjectFile| {
        let model = subject.model.clone().unwrap_or_else(|| "–".into());
        vec![subject.name.value.clone(), subject.provider.word().to_owned(), model, subject.about.clone()]
    };
    (vec!["subject", "provider", "model", "about"], workspace.subjects.iter().map(row).collect())
}

pub(super) fn chains(workspace: &Workspace) -> ListTable {
    let row = |chain: &model::ChainRegistry| {
        vec![chain.id.to_string(), chain.name.clone(), chain.tokens.len().to_string(), chain.contracts.len().to_string()]
    };
    (vec!["id", "chain", "tokens", "contracts"], workspace.chains.iter().map(row).collect())
}

pub(super) fn tiers(workspace: &Workspace) -> ListTable {
    let judge = |tier: &model::Tier| tier.judge.as_ref().map_or_else(String::new, |judge| judge.value.clone());
    let row = |tier: &model::Tier| vec![tier.tier.to_string(), tier.name.clone(), tier.trigger.clone(), judge(tier), tier.what.clone()];
    (vec!["tier", "name", "trigger", "judge", "what"], workspace.tiers.tiers.iter().map(row).collect())
}

pub(super) fn gates(workspace: &Workspace) -> ListTable {
    let row = |gate: &model::Gate| {
        let bound = match gate.bound {
            GateBound::AtLeast(value) => format!("≥ {value}"),
            GateBound::AtMost(value) => format!("≤ {value}"),
        };
        let tiers: Vec<String> = gate.tiers.iter().map(ToString::to_string).collect();
        vec![
            gate.id.value.clone(),
            gate.scorer.to_string(),
            bound,
            gate.min_cases.to_string(),
            tiers.join(" "),
            judge_need(workspace, gate),
            gate.spec.as_str().to_owned(),
        ]
    };
    (vec!["gate", "scorer", "bound", "min cases", "tiers", "judge", "spec"], workspace.gates.iter().map(row).collect())
}

/// Returns the slices that only a judge can decide.
fn judge_need(workspace: &Workspace, gate: &model::Gate) -> String {
    let slices = scorer_named(workspace, &gate.scorer).map(|scorer| judged_slices(gate, workspace, scorer)).unwrap_or_default();
    match (slices.only_judged, slices.all) {
        (0, _) => String::new(),
        (1, 1) => "needed".to_owned(),
        (some, all) => format!("needed for {some} of {all}"),
    }
}

pub(super) fn checks(workspace: &Workspace) -> ListTable {
    let rows = checks_in_force(workspace).iter().map(|check| vec![check.id().to_owned(), first_sentence(check.manual())]).collect();
    (vec!["check", "manual"], rows)
}

pub(super) fn scorers(workspace: &Workspace) -> ListTable {
    let in_force = SCORERS.iter().filter(|scorer| is_in_force(workspace, scorer.id()));
    let built = in_force.map(|scorer| vec![scorer.id().to_string(), "yes".to_owned(), first_sentence(scorer.manual())]);
    let own =
        workspace.scorers.iter().map(|scorer| vec![scorer.id.value.clone(), "by a program".to_owned(), first_sentence(&scorer.about)]);
    (vec!["scorer", "measured", "manual"], built.chain(own).collect())
}

pub(super) fn probes(workspace: &Workspace) -> ListTable {
    (vec!["probe", "asi", "channels", "oracles", "about"], workspace.probes.iter().map(probe_row).collect())
}

fn probe_row(probe: &model::Probe) -> Vec<String> {
    let joined = |words: Vec<&str>| words.join(", ");
    let mut channels: Vec<&str> = probe.carriers.iter().map(|carrier| carrier.channel.word()).collect();
    channels.dedup();
    vec![
        probe.name.value.clone(),
        joined(probe.asi.iter().map(|asi| asi.word()).collect()),
        joined(channels),
        joined(probe.oracles.iter().map(|oracle| oracle.word()).collect()),
        first_sentence(&probe.about),
    ]
}

pub(super) fn strategies() -> ListTable {
    let row = |strategy: &&dyn Strategy| {
        let held_out = if is_held_out(strategy.id()) { "held out" } else { "" };
        vec![strategy.id().to_owned(), held_out.to_owned(), strategy.about().to_owned()]
    };
    (vec!["strategy", "detection", "about"], STRATEGIES.iter().map(row).collect())
}

pub(super) fn faults(workspace: &Workspace) -> ListTable {
    let row = |fault: &Fault| vec![fault.id.to_owned(), fault.primary.word().to_owned(), fault.about.to_owned()];
    let is_possible = |fault: &&Fault| workspace.policy.is_some() || !fault.cases(workspace, workspace.cases()).is_empty();
    let known = FAULTS.iter().flat_map(|family| *family).filter(is_possible);
    (vec!["fault", "primary scorer", "about"], known.map(row).collect())
}

pub(super) fn oracles(workspace: &Workspace) -> ListTable {
    let row = |(word, id): &(&str, OracleId)| vec![(*word).to_owned(), first_sentence(oracle_manual(*id))];
    let is_used =
        |(_, id): &&(&str, OracleId)| workspace.policy.is_some() || workspace.probes.iter().any(|probe| probe.oracles.contains(id));
    (vec!["oracle", "manual"], OracleId::ALL.iter().filter(is_used).map(row).collect())
}

fn first_sentence(text: &str) -> String {
    text.split_once(". ").map_or(text.to_owned(), |(first, _)| format!("{first}."))
}
