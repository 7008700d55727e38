//! Prompts of a config: texts, chats and files.

use super::ConfigReader;
use crate::js_yaml::{field, js_value};
use crate::known_keys::{PROMPT_KEYS, check_keys};
use crate::suite::PromptSpec;
use model::yaml::{YamlNode, YamlShape};
use serde_json::Value;
use std::sync::Arc;

impl ConfigReader<'_> {
    pub(super) fn prompts(&mut self, node: &YamlNode) {
        let Some(prompts) = field(node, "prompts") else {
            let text = || "{{prompt}}".to_owned();
            return self.suite.prompts.push(Arc::new(PromptSpec::new(None, text(), text(), Value::Null)));
        };
        let entries: Vec<&YamlNode> = match &prompts.shape {
            YamlShape::List(items) => items.iter().collect(),
            YamlShape::Scalar { .. } | YamlShape::Map(_) => vec![prompts],
        };
        for entry in entries {
            match js_value(entry) {
                Value::String(text) => self.prompt_text(&text, &Value::Null, entry.line),
                Value::Object(fields) => {
                    check_keys(&self.here, entry.line, "a prompt", &fields, PROMPT_KEYS);
                    let raw = fields.get("raw").or_else(|| fields.get("id")).and_then(Value::as_str);
                    match raw {
                        Some(raw) => self.prompt_text(raw, &Value::Object(fields.clone()), entry.line),
                        None => self.here.add(entry.line, "a prompt has no raw text", "write raw: or id: file://…"),
                    }
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                    self.here.add(
                        entry.line,
                        format!("a prompt cannot be {}", entry.describe()),
                        "write a text, file://… or { raw, label }",
                    );
                }
            }
        }
    }

    fn prompt_text(&mut self, text: &str, options: &Value, line: u32) {
        let label = options.get("label").and_then(Value::as_str);
        let id = options.get("id").and_then(Value::as_str).filter(|id| !id.starts_with("file://")).map(str::to_owned);
        let config = options.get("config").cloned().unwrap_or_default();
        let known = [".txt", ".md", ".j2", ".json", ".yaml", ".yml", ".jsonl"];
        let looks_like_path = !text.contains(['\n', ' ']) && known.iter().any(|ending| text.ends_with(ending));
        let Some(pattern) = text.strip_prefix("file://").or_else(|| looks_like_path.then_some(text)) else {
            let label = label.unwrap_or(text).to_owned();
            return self.add_prompt(PromptSpec::new(id, label, text.to_owned(), config), line);
        };
        for path in self.glob_files(pattern, line) {
            let Some(content) = self.read_file(&path, line) else { continue };
            let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
            let parts: Vec<String> = match ending {
                "txt" | "j2" => content.split("\n---\n").map(|part| part.trim().to_owned()).collect(),
                "jsonl" => content.lines().filter(|row| !row.trim().is_empty()).map(str::to_owned).collect(),
                "yaml" | "yml" => match self.yaml_file(&path, &content) {
                    Some(node) => vec![serde_json::to_string(&js_value(&node)).unwrap_or_default()],
                    None => continue,
                },
                "js" | "cjs" | "mjs" | "ts" | "py" | "csv" => {
                    self.here.add(
                        line,
                        format!("{path}: prompts in .{ending} files are not supported"),
                        "write the prompt as text or JSON",
                    );
                    continue;
                }
                _ => vec![content.trim().to_owned()],
            };
            for raw in parts {
                let label = label.map_or_else(|| format!("{path}: {raw}"), str::to_owned);
                self.add_prompt(PromptSpec::new(id.clone(), label, raw, config.clone()), line);
            }
        }
    }

    fn add_prompt(&mut self, prompt: PromptSpec, line: u32) {
        if prompt.raw.contains("_conversation") {
            self.here.add(
                line,
                "a prompt names _conversation, which does not exist here",
                "use promptfoo:simulated-user, or write the turns into the prompt",
            );
        }
        self.suite.prompts.push(Arc::new(prompt));
    }
}
