//! What there is.

use crate::args::{Format, Listable};
use crate::exit::Exit;
use crate::io::Io;
use crate::open::Source;
use crate::report::{FORMAT, table};
use model::{Bound, Handler, Workspace};
use score::checks::CHECKS;
use score::scorers::{PLANNED, SCORERS};
use serde_json::{Map, Value, json};

pub(crate) fn list(io: &Io, source: &Source, what: Listable) -> Exit {
    let workspace = match super::open(io, source, "list") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let (header, rows) = rows(io, &workspace, what);
    let text = match io.format {
        Format::Json => {
            let items: Vec<Value> = rows
                .iter()
                .map(|row| {
                    header.iter().zip(row).map(|(key, cell)| ((*key).to_owned(), Value::String(cell.clone()))).collect::<Map<_, _>>()
                })
                .map(Value::Object)
                .collect();
            format!("{:#}\n", json!({ "format": FORMAT, "command": "list", "items": items, "exit": 0 }))
        }
        Format::Text | Format::Junit | Format::Markdown | Format::Github | Format::Sarif => format!("{}\n", table(&header, rows)),
    };
    io.result(&text, Exit::Clean)
}

type Rows = (Vec<&'static str>, Vec<Vec<String>>);

fn rows(io: &Io, workspace: &Workspace, what: Listable) -> Rows {
    match what {
        Listable::Tools => (vec!["tool", "category", "capability", "acts", "parameters"], tools(workspace)),
        Listable::Profiles => {
            let row = |profile: &model::Profile| {
                vec![profile.name.value.clone(), profile.select(&workspace.tools).len().to_string(), profile.about.clone()]
            };
            (vec!["profile", "tools", "about"], workspace.profiles.iter().map(row).collect())
        }
        Listable::Agents => (vec!["agent", "tools", "writes", "delegates to", "role"], agents(workspace)),
        Listable::Skills => {
            let row = |skill: &model::Skill| {
                let handler = match &skill.handler {
                    Handler::Agent(name) => name.value.clone(),
                    Handler::Tool(name) => format!("tool {}", name.value),
                };
                vec![skill.name.value.clone(), skill.category.clone(), handler, skill.description.clone()]
            };
            (vec!["skill", "category", "handled by", "description"], workspace.skills.iter().map(row).collect())
        }
        Listable::Suites => {
            let row = |suite: &model::Suite| vec![suite.name.clone(), suite.cases.len().to_string(), suite.about.clone()];
            (vec!["suite", "cases", "about"], workspace.suites.iter().map(row).collect())
        }
        Listable::Cases => {
            let row = |case: &model::Case| {
                vec![
                    case.id.value.clone(),
                    case.kind.word().to_owned(),
                    io.at(&case.at),
                    case.tags.join(" "),
                    case.brief.talk.opening().to_owned(),
                ]
            };
            (vec!["case", "kind", "where", "tags", "opening"], workspace.cases().map(row).collect())
        }
        Listable::Worlds => {
            (vec!["world", "about"], workspace.worlds.iter().map(|world| vec![world.name.value.clone(), world.about.clone()]).collect())
        }
        Listable::Subjects => {
            let row = |subject: &model::SubjectFile| {
                let model = subject.model.clone().unwrap_or_else(|| "–".into());
                vec![subject.name.value.clone(), subject.provider.word().to_owned(), model, subject.about.clone()]
            };
            (vec!["subject", "provider", "model", "about"], workspace.subjects.iter().map(row).collect())
        }
        Listable::Chains => {
            let row = |chain: &model::Chain| {
                vec![chain.id.to_string(), chain.name.clone(), chain.tokens.len().to_string(), chain.contracts.len().to_string()]
            };
            (vec!["id", "chain", "tokens", "contracts"], workspace.chains.iter().map(row).collect())
        }
        Listable::Tiers => {
            let row = |tier: &model::Tier| vec![tier.tier.to_string(), tier.name.clone(), tier.trigger.clone(), tier.what.clone()];
            (vec!["tier", "name", "trigger", "what"], workspace.tiers.tiers.iter().map(row).collect())
        }
        Listable::Gates => (vec!["gate", "scorer", "bound", "min cases", "tiers", "spec"], gates(workspace)),
        Listable::Checks => {
            (vec!["check", "manual"], CHECKS.iter().map(|check| vec![check.id().to_owned(), first_sentence(check.manual())]).collect())
        }
        Listable::Scorers => (vec!["scorer", "measured", "manual"], scorers()),
    }
}

fn tools(workspace: &Workspace) -> Vec<Vec<String>> {
    let row = |tool: &model::Tool| {
        let capability = format!("{:?}", tool.capability).to_lowercase();
        let params: Vec<&str> = tool.params.keys().map(String::as_str).collect();
        vec![tool.name.value.clone(), tool.category.clone(), capability, tool.acts.value.word().to_owned(), params.join(" ")]
    };
    workspace.tools.iter().map(row).collect()
}

fn agents(workspace: &Workspace) -> Vec<Vec<String>> {
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
    workspace.agents.iter().map(row).collect()
}

fn gates(workspace: &Workspace) -> Vec<Vec<String>> {
    let row = |gate: &model::Gate| {
        let bound = match gate.bound {
            Bound::AtLeast(value) => format!("≥ {value}"),
            Bound::AtMost(value) => format!("≤ {value}"),
        };
        let tiers: Vec<String> = gate.tiers.iter().map(ToString::to_string).collect();
        vec![
            gate.id.value.clone(),
            gate.scorer.to_string(),
            bound,
            gate.min_cases.to_string(),
            tiers.join(" "),
            gate.spec.text().to_owned(),
        ]
    };
    workspace.gates.iter().map(row).collect()
}

fn scorers() -> Vec<Vec<String>> {
    let built = SCORERS.iter().map(|scorer| vec![scorer.id().to_string(), "yes".to_owned(), first_sentence(scorer.manual())]);
    let planned = PLANNED.iter().map(|(id, manual)| vec![id.to_string(), "not yet".to_owned(), first_sentence(manual)]);
    built.chain(planned).collect()
}

fn first_sentence(text: &str) -> String {
    text.split_once(". ").map_or(text.to_owned(), |(first, _)| format!("{first}."))
}
