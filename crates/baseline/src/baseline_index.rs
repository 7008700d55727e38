//! Indexes and parameter slots, built once from tool, agent, skill, output and registry files.

use crate::cross_references;
use crate::lexicon::NameLexicon;
use crate::outputs::OutputShape;
use crate::param_slots::ParamSlots;
use crate::words::stems;
use lexical::{Bm25Index, Bm25Params, SpellingMode, WeightedField};
use model::{Agent, OpClass, Policy, Skill, SkillHandler, Tool, ToolListing, Workspace};
use std::collections::{BTreeMap, BTreeSet};

/// Index shared by all trials of a run. Contains nothing from suites, worlds, gates or subjects.
#[derive(Debug)]
pub struct BaselineIndex {
    pub(crate) lexicon: NameLexicon,
    pub(crate) tools: Vec<KnownTool>,
    pub(crate) tool_names: BTreeMap<String, usize>,
    pub(crate) tool_index: Bm25Index,
    pub(crate) agents: Vec<Agent>,
    pub(crate) agent_index: Bm25Index,
    pub(crate) skills: Vec<KnownSkill>,
    pub(crate) skill_index: Bm25Index,
    /// Index of single triggers and examples; `phrases` has the skill of each.
    pub(crate) phrase_index: Bm25Index,
    pub(crate) phrases: Vec<usize>,
    pub(crate) outputs: BTreeMap<String, OutputShape>,
    pub(crate) policy: Option<Policy>,
}

#[derive(Debug)]
pub(crate) struct KnownTool {
    pub name: String,
    pub writes: bool,
    pub class: OpClass,
    /// Writes that this tool can prepare.
    pub prepares: Vec<String>,
    pub shape: ParamSlots,
    pub takes_dry_run: bool,
    pub takes_action_id: bool,
    /// Stems of name and description.
    pub stems: BTreeSet<String>,
    /// Stems of the name, the operation and its class.
    pub operation: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct KnownSkill {
    pub name: String,
    pub shape: ParamSlots,
}

type FieldDoc = Vec<WeightedField>;

/// Settings of all indexes of the baseline.
pub(crate) const INDEX_PARAMS: Bm25Params = Bm25Params { k1: 1.2, b: 0.6, spelling: SpellingMode::Fuzzy };

// Names distinguish tools best; parameters are similar across tools.
pub(crate) const NAME_WEIGHT: f64 = 2.2;
pub(crate) const DESCRIPTION_WEIGHT: f64 = 1.0;
const ANCHOR_WEIGHT: f64 = 0.9;
pub(crate) const PARAM_WEIGHT: f64 = 0.35;
const EXAMPLE_WEIGHT: f64 = 0.8;
const PROSE_WEIGHT: f64 = 0.4;

impl BaselineIndex {
    pub fn new(workspace: &Workspace) -> Self {
        let mut tool_names = BTreeMap::new();
        for (at, tool) in workspace.tools.iter().enumerate() {
            tool_names.insert(tool.name.value.clone(), at);
            for alias in &tool.aliases {
                tool_names.entry(alias.value.clone()).or_insert(at);
            }
        }
        Self {
            lexicon: NameLexicon::new(workspace),
            tools: workspace.tools.iter().map(KnownTool::new).collect(),
            tool_index: Bm25Index::new(INDEX_PARAMS, &tool_docs(&workspace.tools, &tool_names, &workspace.skills)),
            tool_names,
            agent_index: Bm25Index::new(INDEX_PARAMS, &agent_docs(workspace)),
            agents: workspace.agents.clone(),
            skill_index: Bm25Index::new(INDEX_PARAMS, &skill_docs(&workspace.skills)),
            phrase_index: Bm25Index::new(INDEX_PARAMS, &phrase_docs(&workspace.skills)),
            phrases: phrases(&workspace.skills).map(|(skill, _)| skill).collect(),
            skills: workspace
                .skills
                .iter()
                .map(|skill| KnownSkill { name: skill.name.value.clone(), shape: ParamSlots::new(&skill.params) })
                .collect(),
            outputs: workspace.outputs.iter().map(|output| (output.name.value.clone(), OutputShape::new(&output.schema.value))).collect(),
            policy: workspace.policy.clone(),
        }
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&KnownTool> {
        self.tool_names.get(name).map(|at| &self.tools[*at])
    }

    pub(crate) fn agent(&self, name: &str) -> Option<&Agent> {
        self.agents.iter().find(|agent| *agent.name == name)
    }

    /// Returns the listed tools that are known, in list order.
    pub(crate) fn known_tools<'m>(&'m self, listings: &[ToolListing]) -> Vec<&'m KnownTool> {
        listings.iter().filter_map(|listing| self.tool(&listing.name)).collect()
    }
}

impl KnownTool {
    fn new(tool: &Tool) -> Self {
        Self {
            name: tool.name.value.clone(),
            writes: tool.writes(),
            class: tool.acts.class(),
            prepares: tool.prepares.iter().flat_map(|prepares| prepares.tools()).map(|tool| tool.value.clone()).collect(),
            shape: ParamSlots::new(&tool.params),
            takes_dry_run: tool.params.contains_key("dry_run"),
            takes_action_id: tool.params.contains_key("action_id"),
            stems: stems(&format!("{} {}", tool.name.value, tool.description.value)).into_iter().collect(),
            operation: stems(&format!("{} {} {}", tool.name.value, tool.acts.word(), tool.acts.class().word())),
        }
    }
}

fn tool_docs(tools: &[Tool], names: &BTreeMap<String, usize>, skills: &[Skill]) -> Vec<FieldDoc> {
    let mut docs: Vec<FieldDoc> = vec![];
    let mut anchored: Vec<Vec<String>> = vec![vec![]; tools.len()];
    for (at, tool) in tools.iter().enumerate() {
        let parted = cross_references::split_description(&tool.description, at, names);
        for (other, stems) in parted.of_others {
            anchored[other].extend(stems);
        }
        let aliases = tool.aliases.iter().flat_map(|alias| stems(alias)).collect();
        let mut params = vec![];
        for (name, param) in &tool.params {
            params.extend(stems(name));
            params.extend(stems(&param.description));
            params.extend(param.schema["enum"].as_array().into_iter().flatten().filter_map(|word| word.as_str()).flat_map(stems));
        }
        let handled = skills.iter().filter(|skill| matches!(&skill.handler, SkillHandler::Tool(name) if tool.has_name(name)));
        let examples = handled.flat_map(phrase_stems).collect();
        docs.push(vec![
            WeightedField::new(NAME_WEIGHT, stems(&tool.name)),
            WeightedField::new(DESCRIPTION_WEIGHT, parted.own),
            WeightedField::new(NAME_WEIGHT * 0.5, aliases),
            WeightedField::new(PARAM_WEIGHT, params),
            WeightedField::new(EXAMPLE_WEIGHT, examples),
        ]);
    }
    for (doc, anchored) in docs.iter_mut().zip(anchored) {
        doc.push(WeightedField::new(ANCHOR_WEIGHT, anchored));
    }
    docs
}

/// Returns the stems of a skill's triggers and examples.
fn phrase_stems(skill: &Skill) -> Vec<String> {
    let triggers = skill.triggers.iter().map(|trigger| trigger.as_str());
    triggers.chain(skill.examples.iter().map(String::as_str)).flat_map(stems).collect()
}

pub(crate) fn phrases(skills: &[Skill]) -> impl Iterator<Item = (usize, &str)> {
    skills.iter().enumerate().flat_map(|(at, skill)| {
        let triggers = skill.triggers.iter().map(|trigger| trigger.as_str());
        triggers.chain(skill.examples.iter().map(String::as_str)).map(move |phrase| (at, phrase))
    })
}

pub(crate) fn phrase_docs(skills: &[Skill]) -> Vec<FieldDoc> {
    phrases(skills).map(|(_, phrase)| vec![WeightedField::new(1.0, stems(phrase))]).collect()
}

pub(crate) fn skill_docs(skills: &[Skill]) -> Vec<FieldDoc> {
    let mut anchored: Vec<Vec<String>> = vec![vec![]; skills.len()];
    for redirect in skills.iter().flat_map(|skill| &skill.redirects) {
        if let Some(to) = skills.iter().position(|skill| *skill.name == *redirect.to) {
            anchored[to].extend(stems(&redirect.when));
        }
    }
    let doc = |(skill, anchored): (&Skill, Vec<String>)| {
        let params = skill.params.iter().flat_map(|(name, param)| [stems(name), stems(&param.description)].concat()).collect();
        vec![
            WeightedField::new(NAME_WEIGHT, stems(&skill.name)),
            WeightedField::new(DESCRIPTION_WEIGHT, stems(&skill.description)),
            WeightedField::new(1.6, skill.triggers.iter().flat_map(|trigger| stems(trigger)).collect()),
            WeightedField::new(EXAMPLE_WEIGHT, skill.examples.iter().flat_map(|example| stems(example)).collect()),
            WeightedField::new(ANCHOR_WEIGHT, anchored),
            WeightedField::new(PARAM_WEIGHT, params),
            WeightedField::new(0.25, stems(&skill.body)),
        ]
    };
    skills.iter().zip(anchored).map(doc).collect()
}

fn agent_docs(workspace: &Workspace) -> Vec<FieldDoc> {
    let doc = |agent: &Agent| {
        let skills: Vec<&Skill> =
            workspace.skills.iter().filter(|skill| matches!(&skill.handler, SkillHandler::Agent(name) if **name == *agent.name)).collect();
        let tools = workspace.agent_tools(&agent.name);
        vec![
            WeightedField::new(NAME_WEIGHT, stems(&agent.name)),
            WeightedField::new(1.6, stems(&agent.role)),
            WeightedField::new(EXAMPLE_WEIGHT, skills.iter().flat_map(|skill| phrase_stems(skill)).collect()),
            WeightedField::new(DESCRIPTION_WEIGHT, skills.iter().flat_map(|skill| stems(&skill.description)).collect()),
            WeightedField::new(PROSE_WEIGHT, stems(&agent.prompt)),
            WeightedField::new(PROSE_WEIGHT, tools.iter().flat_map(|tool| stems(&tool.name)).collect()),
        ]
    };
    workspace.agents.iter().map(doc).collect()
}
