//! A config as a workspace: agents from prompts, cases from tests, subjects from models. What cannot be carried over is listed with its
//! place and the reason; nothing is dropped silently.

use crate::assertion_spec::{AssertionSpec, SingleAssertion, has_template};
use crate::import_reference::reference_answer;
use crate::judged::JudgedType;
use crate::models::key_variable;
use crate::red_team_map::red_team_lines;
use crate::script_answer::is_script_type;
use crate::suite::{PromptSpec, PromptfooSuite, ProviderSpec, ProviderTarget, TestSpec};
use crate::template::{is_template, render_plain};
use model::suite::{AssertionType, CaseAssertion};
use model::{Location, OpenAiApi, Problem, Workspace, WorkspaceFiles};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Characters of a prompt that a message shows.
const MAX_LABEL_CHARS: usize = 40;

/// Files of a workspace, and what of the config is not in them.
#[derive(Debug, Default)]
pub struct ImportedSuite {
    /// Paths below the workspace, with their texts.
    pub files: Vec<(String, String)>,
    pub cases: usize,
    pub left_out: Vec<Problem>,
    /// Commands and notes on attacks.
    pub notes: Vec<String>,
}

/// Agent that a prompt becomes: its instructions and the turns of the user.
struct PromptParts {
    system: String,
    turns: Vec<String>,
}

/// Turns a suite into the files of a workspace. `mistakes` are those found when it was read: they are left out too.
pub fn import_suite(suite: &PromptfooSuite, mistakes: Vec<Problem>) -> ImportedSuite {
    let mut importer =
        Importer { imported: ImportedSuite { left_out: mistakes, ..ImportedSuite::default() }, ids: BTreeSet::new(), cases: vec![] };
    importer.top_level(suite);
    importer.providers(suite);
    for (n, prompt) in suite.prompts.iter().enumerate() {
        importer.prompt(suite, n, prompt);
    }
    importer.finish(suite)
}

struct Importer {
    imported: ImportedSuite,
    ids: BTreeSet<String>,
    cases: Vec<Value>,
}

impl Importer {
    fn leave_out(&mut self, at: &Location, what: impl Into<String>, reason: &str) {
        self.imported.left_out.push(Problem { at: at.clone(), what: what.into(), remedy: reason.to_owned() });
    }

    fn top_level(&mut self, suite: &PromptfooSuite) {
        let at = suite.at();
        if !suite.derived_metrics.is_empty() {
            self.leave_out(&at, "derivedMetrics", "scorers of a workspace are in scorers.yaml");
        }
        if suite.repeat.is_some() {
            self.leave_out(&at, "evaluateOptions.repeat", "use run --trials N");
        }
        if !suite.env.is_empty() {
            self.leave_out(&at, "env", "variables of a workspace come from the environment");
        }
        if let Some(redteam) = suite.config.get("redteam") {
            let lines = red_team_lines(redteam);
            lines.missing.into_iter().for_each(|(what, reason)| self.leave_out(&at, what, &reason));
            self.imported.notes.extend(lines.notes);
        }
    }

    fn providers(&mut self, suite: &PromptfooSuite) {
        for provider in &suite.providers {
            match subject_file(provider) {
                Ok(Some(text)) => {
                    let path = format!("subjects/{}.yaml", file_name(provider.name()));
                    match refusal(&path, &text) {
                        Some(reason) => self.leave_out(&provider.at, format!("the provider {}", provider.id), &reason),
                        None => self.imported.files.push((path, text)),
                    }
                }
                Ok(None) => {}
                Err(reason) => self.leave_out(&provider.at, format!("the provider {}", provider.id), reason),
            }
            if provider.transform.is_some() {
                self.leave_out(&provider.at, format!("transform of {}", provider.id), "cases read what the agent said, as it is");
            }
        }
    }

    fn prompt(&mut self, suite: &PromptfooSuite, n: usize, prompt: &PromptSpec) {
        let name = format!("prompt-{}", n + 1);
        let parts = match prompt_parts(prompt) {
            Ok(parts) => parts,
            Err(reason) => {
                return self.leave_out(&suite.at(), format!("the prompt {:?}", model::shortened(&prompt.label, MAX_LABEL_CHARS)), reason);
            }
        };
        let before = self.cases.len();
        for test in &suite.tests {
            self.test(&name, &parts, test);
        }
        if self.cases.len() > before {
            let body = if parts.system.is_empty() { "Answer the user." } else { parts.system.as_str() };
            self.imported.files.push((format!("agents/{name}.md"), format!("---\nname: {name}\ntools: []\n---\n{body}\n")));
        }
    }

    fn test(&mut self, agent: &str, parts: &PromptParts, test: &TestSpec) {
        let at = test.at.clone().unwrap_or_else(|| Location::new("config", test.line));
        let label = test.description.clone().unwrap_or_else(|| format!("the test on line {}", test.line));
        if test.vars.values().any(Value::is_array) {
            return self.leave_out(&at, label, "lists of variables make several tests; write them out");
        }
        let turns: Option<Vec<String>> = parts.turns.iter().map(|turn| render_plain(turn, &test.vars)).collect();
        let Some(turns) = turns else { return self.leave_out(&at, label, "its prompt needs Nunjucks, and cases are data") };
        for (present, what, reason) in [
            (test.threshold.is_some(), "threshold", "a failed assertion fails a case"),
            (test.provider.is_some(), "provider", "cases are for every subject; a user that asks back is a persona"),
            (test.provider_output.is_some(), "providerOutput", "cases are answered by a subject"),
            (test.options.keys().any(|key| key != "provider"), "options", "cases have no transforms and prefixes"),
        ] {
            if present {
                self.leave_out(&at, format!("{what} of {label}"), reason);
            }
        }
        let (asserts, parsed) = self.assertions(&at, &label, test);
        if asserts.is_empty() {
            return self.leave_out(&at, label, "no assertion of it can be carried over, and a case without one decides nothing");
        }
        let Some(answer) = reference_answer(&parsed) else {
            return self.leave_out(
                &at,
                label,
                "no answer could be made that meets all of its assertions; a case needs a reference that passes",
            );
        };
        let id = self.id(test, &label);
        self.cases.push(json!({
            "id": id,
            "brief": { "surface": { "agent": agent }, "turns": turns },
            "expect": { "assert": asserts },
            "reference": [{ "agent": agent, "say": answer }],
            "tags": ["happy_path"],
        }));
    }

    /// Returns the assertions of a test that a case can have, as written and as read.
    fn assertions(&mut self, at: &Location, label: &str, test: &TestSpec) -> (Vec<Value>, Vec<CaseAssertion>) {
        let (mut written, mut parsed) = (vec![], vec![]);
        for spec in &test.assertions {
            if let AssertionSpec::Set { threshold: Some(_), .. } = spec {
                self.leave_out(at, format!("assert-set of {label}"), "a part of the assertions cannot be enough for a case");
                continue;
            }
            for assertion in spec.singles() {
                match native_assertion(assertion, &test.vars) {
                    Ok((json, read)) => {
                        written.push(json);
                        parsed.push(read);
                    }
                    Err(reason) => self.leave_out(at, format!("{} of {label}", assertion.type_name), &reason),
                }
                for (present, what) in [
                    (assertion.weight != 1.0, "weight"),
                    (assertion.metric.is_some(), "metric"),
                    (assertion.transform.is_some(), "transform"),
                ] {
                    if present {
                        self.leave_out(at, format!("{what} of {} of {label}", assertion.type_name), "assertions of a case count alike");
                    }
                }
            }
        }
        (written, parsed)
    }

    /// Returns an id that no other case has.
    fn id(&mut self, test: &TestSpec, label: &str) -> String {
        let base = test.description.as_ref().map_or_else(|| format!("test_{}", self.cases.len() + 1), |_| case_id(label));
        let mut id = base.clone();
        let mut n = 1;
        while !self.ids.insert(id.clone()) {
            n += 1;
            id = format!("{base}_{n}");
        }
        id
    }

    fn finish(mut self, suite: &PromptfooSuite) -> ImportedSuite {
        self.imported.cases = self.cases.len();
        let about = suite.description.clone().unwrap_or_else(|| "Cases of a config of promptfoo.".to_owned());
        let document = json!({ "suite": "behavior", "about": about, "cases": self.cases });
        // JSON is YAML, and needs no rules of quoting.
        let text = serde_json::to_string_pretty(&document).unwrap_or_default();
        if self.imported.cases > 0 {
            self.imported.files.push(("suites/behavior/promptfoo.yaml".to_owned(), format!("{text}\n")));
            self.imported.files.push(("tools/promptfoo.yaml".to_owned(), "category: promptfoo\ntools: []\n".to_owned()));
        }
        self.imported.left_out.sort();
        self.imported.left_out.dedup();
        self.imported
    }
}

fn uses_threshold(type_name: &str) -> bool {
    AssertionType::parse(type_name.strip_prefix("not-").unwrap_or(type_name)).is_some_and(AssertionType::uses_threshold)
}

/// Returns an assertion as a case has it.
fn native_assertion(assertion: &SingleAssertion, vars: &Map<String, Value>) -> Result<(Value, CaseAssertion), String> {
    if assertion.script.is_some() || is_script_type(&assertion.type_name) {
        return Err(
            "no reference can be made for a script; write it into expect.assert of the case with a reference of your own".to_owned()
        );
    }
    if assertion.type_name.ends_with("skill-used") {
        return Err("the reference of an imported case activates no skill".to_owned());
    }
    if JudgedType::of(&assertion.type_name).is_some() {
        return Err("a model judges it; write a rubric into the case".to_owned());
    }
    let value = match &assertion.value {
        Some(Value::String(text)) if is_template(text) => {
            Some(Value::String(render_plain(text, vars).ok_or("its value needs Nunjucks, and cases are data")?))
        }
        Some(value) if has_template(value) => return Err("a list with templates cannot be carried over".to_owned()),
        value => value.clone(),
    };
    let mut json = json!({ "type": assertion.type_name });
    if let Some(value) = value {
        json["value"] = value;
    }
    // promptfoo ignores the threshold of other types.
    if let Some(threshold) = assertion.threshold.filter(|_| uses_threshold(&assertion.type_name)) {
        json["threshold"] = threshold.into();
    }
    match CaseAssertion::from_json(&json) {
        Ok(read) => Ok((json, read)),
        Err(problems) => Err(problems.first().map_or_else(|| "not an assertion of cases".to_owned(), |problem| problem.what.clone())),
    }
}

fn prompt_parts(prompt: &PromptSpec) -> Result<PromptParts, &'static str> {
    let Some(chat) = &prompt.chat else { return Ok(PromptParts { system: String::new(), turns: vec![prompt.raw.clone()] }) };
    let Some(messages) = chat.as_array().filter(|messages| messages.iter().all(|message| message.get("role").is_some())) else {
        return Ok(PromptParts { system: String::new(), turns: vec![prompt.raw.clone()] });
    };
    let (mut system, mut turns) = (vec![], vec![]);
    for message in messages {
        let text = message.get("content").and_then(Value::as_str).ok_or("a message has content that is not text")?;
        match message.get("role").and_then(Value::as_str) {
            Some("system" | "developer") if is_template(text) => {
                return Err("its system message has variables, and an agent has one prompt");
            }
            Some("system" | "developer") => system.push(text),
            Some("user") => turns.push(text.to_owned()),
            _ => return Err("it holds answers of the assistant, and the turns of a case are the user's"),
        }
    }
    if turns.is_empty() {
        return Err("it has no message of the user, and a case begins with one");
    }
    Ok(PromptParts { system: system.join("\n\n"), turns })
}

/// Returns the subject file of a model; none for `echo`, which every workspace has.
fn subject_file(provider: &ProviderSpec) -> Result<Option<String>, &'static str> {
    let (kind, model) = match &provider.target {
        ProviderTarget::Echo => return Ok(None),
        ProviderTarget::OpenAi { model, .. } if provider.config.get("apiBaseUrl").is_some() => ("openai-compatible", model),
        ProviderTarget::OpenAi { model, .. } => ("openai", model),
        ProviderTarget::AnthropicMessages { model } => ("anthropic", model),
        ProviderTarget::OllamaChat { model } => ("ollama", model),
        ProviderTarget::Exec { .. } => {
            return Err("a program gets the prompt as an argument; agents of a workspace speak over standard input (process:)");
        }
        ProviderTarget::Http { .. } => return Err("an agent behind HTTP has a protocol of its own (http:, chat:)"),
        ProviderTarget::Script { .. } => return Err("JavaScript cannot be a subject"),
        ProviderTarget::SimulatedUser(_) => return Err("write a case with a persona"),
    };
    let mut file = json!({ "subject": file_name(provider.name()), "provider": kind, "model": model, "about": format!("{} of a config of promptfoo.", provider.id) });
    if let ProviderTarget::OpenAi { api, .. } = &provider.target {
        file["api"] = OpenAiApi::ALL.iter().find(|(_, known)| known == api).map_or(Value::Null, |(name, _)| (*name).into());
    }
    for (from, to) in [("temperature", "temperature"), ("apiBaseUrl", "base_url")] {
        if let Some(value) = provider.config.get(from) {
            file[to] = value.clone();
        }
    }
    if let Some(limit) = provider.config.get("max_tokens").and_then(Value::as_u64) {
        file["limits"] = json!({ "output_tokens": limit });
    }
    if let Some(name) = key_variable(provider) {
        file["key_env"] = name.into();
    }
    if let Ok(Some(price)) = crate::model_request::price_of(&provider.config) {
        let per_mtok = |money: model::Money| money.as_usd();
        file["price"] = json!({ "input_per_mtok": per_mtok(price.input_per_mtok), "output_per_mtok": per_mtok(price.output_per_mtok), "as_of": "not stated in the config" });
    }
    serde_json::to_string_pretty(&file).map(|text| Some(format!("{text}\n"))).map_err(|_| "its settings cannot be written")
}

/// Returns why a workspace would refuse a subject file; settings of a config may have any value.
fn refusal(path: &str, text: &str) -> Option<String> {
    let files: WorkspaceFiles = [(path, text)].into_iter().collect();
    let problems = Workspace::load(&files).err()?;
    problems.into_iter().find(|problem| *problem.at.file == *path).map(|problem| problem.what)
}

/// Returns a name for a file and a subject.
fn file_name(name: &str) -> String {
    let clean: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    clean.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

fn case_id(label: &str) -> String {
    let id = file_name(label).replace('-', "_");
    if id.starts_with(|c: char| c.is_ascii_alphabetic()) { id } else { format!("test_{id}") }
}
