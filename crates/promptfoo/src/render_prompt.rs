//! Prompt of a row. Variables are data, except in promptfoo's mode, where they are templates too.

use crate::execute::SuiteRunner;
use crate::providers::{texts_of, with_texts};
use crate::suite::parsed_chat;
use crate::template::{is_template, render, render_all, render_plain_value};
use crate::test_row::TestRow;
use score::assertions::AssertionMode;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::Arc;

/// Most passes in which variables of promptfoo's mode name other variables.
const MAX_VAR_PASSES: usize = 5;

impl SuiteRunner<'_> {
    /// Renders the prompt of a row.
    pub(crate) async fn prompt(&self, row: &mut TestRow, env: &Value) -> Result<String, String> {
        let pool = &self.environment.pool;
        if self.mode == AssertionMode::Compat {
            self.render_vars(row, env).await?;
        }
        let prompt = Arc::clone(&row.cell.prompt);
        let test = Arc::clone(&row.cell.test);
        let part = |key: &str| test.options.get(key).and_then(Value::as_str).filter(|part| !part.is_empty());
        let (raw, chat) = match (part("prefix"), part("suffix")) {
            (None, None) => (Cow::Borrowed(prompt.raw.as_str()), prompt.chat.as_ref().map(Cow::Borrowed)),
            (prefix, suffix) => {
                let raw = format!("{}{}{}", prefix.unwrap_or_default(), prompt.raw, suffix.unwrap_or_default());
                let chat = parsed_chat(&raw).map(Cow::Owned);
                (Cow::Owned(raw), chat)
            }
        };
        let Some(chat) = chat else { return render(pool, &raw, &row.vars, env).await };
        let rendered = match render_plain_value(&chat, &row.vars) {
            Some(rendered) => rendered,
            None => {
                let texts = render_all(pool, texts_of(&chat), &row.vars, env).await?;
                with_texts(&chat, &mut texts.into_iter())
            }
        };
        serde_json::to_string_pretty(&rendered).map_err(|why| why.to_string())
    }

    /// Renders variables that name other variables, as promptfoo does; those with names that do not exist stay as they are.
    async fn render_vars(&self, row: &mut TestRow, env: &Value) -> Result<(), String> {
        for _ in 0..MAX_VAR_PASSES {
            let vars = &row.vars;
            let names: Vec<String> = vars
                .iter()
                .filter(|(_, value)| value.as_str().is_some_and(|text| is_template(text) && !names_undefined(text, vars)))
                .map(|(name, _)| name.clone())
                .collect();
            if names.is_empty() {
                return Ok(());
            }
            let templates = names.iter().filter_map(|name| vars[name].as_str().map(str::to_owned)).collect();
            let rendered = render_all(&self.environment.pool, templates, vars, env).await?;
            let vars = Arc::make_mut(&mut row.vars);
            for (name, text) in names.into_iter().zip(rendered) {
                vars.insert(name, Value::String(text));
            }
        }
        Ok(())
    }
}

/// Returns whether a template names a variable that does not exist.
fn names_undefined(text: &str, vars: &Map<String, Value>) -> bool {
    let mut rest = text;
    while let Some((_, inner)) = rest.split_once("{{") {
        let Some((expression, after)) = inner.split_once("}}") else { return true };
        let name: String = expression.trim().chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if is_name && !vars.contains_key(&name) && !["env", "range", "true", "false", "none"].contains(&name.as_str()) {
            return true;
        }
        rest = after;
    }
    false
}
