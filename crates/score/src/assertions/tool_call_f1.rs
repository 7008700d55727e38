//! `tool-call-f1`: F1 of the set of tools that were called and the set that was expected. Names only; order and number do not count.

use super::{AssertionFinding, AssertionInput, AssertionMode, MissingEvidence};
use model::suite::{AssertionValue, CaseAssertion};
use serde_json::Value;
use std::collections::BTreeSet;

/// Maximum blocks of JSON that are read in a text, so that the time is bounded.
const MAX_BLOCKS: usize = 10_000;

pub(super) fn tool_call_f1(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence> {
    let AssertionValue::TextList(expected) = &assertion.value else { return MissingEvidence::of("tool-call-f1 has no value") };
    let expected: BTreeSet<&str> = expected.iter().map(String::as_str).collect();
    let called: BTreeSet<String> = match (input.output, input.steps) {
        (Some(output), _) => tool_names(output),
        (None, Some(steps)) => steps.iter().filter(|step| step.kind == "tool").map(|step| step.name.clone()).collect(),
        (None, None) => return MissingEvidence::of("there is no output and no transcript for tool-call-f1"),
    };
    let hits = expected.iter().filter(|name| called.contains(**name)).count() as f64;
    let ratio = |of: usize| if of > 0 { hits / of as f64 } else { 0.0 };
    let (precision, recall) = (ratio(called.len()), ratio(expected.len()));
    let f1 = if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 };
    let names = called.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let found = format!("F1 {f1:.3}, called {}", if names.is_empty() { "no tool" } else { &names });
    let threshold = assertion.threshold.unwrap_or(1.0);
    Ok(match input.mode {
        // promptfoo inverts the verdict but not the score.
        AssertionMode::Compat => AssertionFinding::Final { pass: (f1 >= threshold) != assertion.negated, score: f1, found },
        AssertionMode::Strict => AssertionFinding::scored(f1, threshold, found),
    })
}

/// Returns the names of called tools in an output, in the forms of the common vendors.
fn tool_names(output: &Value) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    collect_names(output, &mut names);
    names
}

/// Returns the calls of tools in an output with their arguments, as steps.
pub fn tool_calls(output: &Value) -> Vec<(String, Option<Value>)> {
    let mut calls = vec![];
    collect_calls(output, &mut |name, args| calls.push((name.to_owned(), args)));
    calls
}

fn collect_names(output: &Value, names: &mut BTreeSet<String>) {
    collect_calls(output, &mut |name, _| {
        names.insert(name.to_owned());
    });
}

fn collect_calls(output: &Value, add: &mut dyn FnMut(&str, Option<Value>)) {
    match output {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(Value::String(inner)) => collect_calls(&Value::String(inner), add),
            Ok(value) => collect_calls(&value, add),
            Err(_) => json_blocks(text).iter().for_each(|block| collect_calls(block, add)),
        },
        Value::Object(_) => collect_from_object(output, add),
        Value::Array(items) => items.iter().for_each(|item| collect_from_item(item, add)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn name_of(value: &Value) -> Option<&str> {
    value.get("name").and_then(Value::as_str)
}

/// Returns the arguments of a call, read as JSON if they are a text.
fn args_of(call: &Value) -> Option<Value> {
    let given = ["arguments", "input", "args"].iter().find_map(|key| call.get(*key))?;
    Some(given.as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_else(|| given.clone()))
}

fn is_object_or_list(value: &Value) -> bool {
    value.is_object() || value.is_array()
}

fn collect_from_object(object: &Value, add: &mut dyn FnMut(&str, Option<Value>)) {
    let kind = object.get("type").and_then(Value::as_str);
    if let Some(Value::Array(calls)) = object.get("tool_calls") {
        for call in calls {
            let function = call.get("function");
            if let Some((name, function)) = function.and_then(|function| Some((name_of(function)?, function))) {
                add(name, args_of(function));
            }
            if let Some(name) = name_of(call) {
                add(name, args_of(call));
            }
        }
    } else if let (Some("tool_use" | "function_call"), Some(name)) = (kind, name_of(object)) {
        add(name, args_of(object));
    } else if let Some(call) = object.get("functionCall").filter(|call| is_object_or_list(call)) {
        if let Some(name) = name_of(call) {
            add(name, args_of(call));
        }
    } else if let Some(Value::Array(calls)) = object.get("toolCall").and_then(|call| call.get("functionCalls")) {
        calls.iter().filter_map(|call| Some((name_of(call)?, call))).for_each(|(name, call)| add(name, args_of(call)));
    }
}

fn collect_from_item(item: &Value, add: &mut dyn FnMut(&str, Option<Value>)) {
    let is_tool_use = item.get("type").and_then(Value::as_str) == Some("tool_use") && name_of(item).is_some();
    let inner = [item.get("functionCall"), item.get("function")].into_iter().flatten().find(|inner| is_object_or_list(inner));
    let call = if is_tool_use { item } else { inner.unwrap_or(item) };
    if let Some(name) = name_of(call) {
        add(name, args_of(call));
    }
}

/// Bracket of JSON in a text, or `None` where a line or a fence ends what was open.
struct Delimiter {
    char: u8,
    at: usize,
    starts_line: bool,
    ends_line: bool,
}

fn column_width(text: &str) -> usize {
    text.chars().fold(0, |column, c| column + if c == '\t' { 4 - column % 4 } else { 1 })
}

/// Returns the marker of a fence at the beginning of a line.
fn fence_marker(line: &str) -> Option<&str> {
    let inner = line.trim_start_matches([' ', '\t']);
    let first = inner.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = inner.len() - inner.trim_start_matches(first).len();
    (length >= 3).then(|| &inner[..length])
}

/// Returns the prefix of a list item: its indent, its mark and the spaces after it.
fn list_prefix(line: &str) -> Option<&str> {
    let inner = line.trim_start_matches([' ', '\t']);
    let mark = match inner.chars().next()? {
        '-' | '+' | '*' => 1,
        c if c.is_ascii_digit() => {
            let digits = inner.len() - inner.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            inner[digits..].starts_with(['.', ')']).then_some(digits + 1)?
        }
        _ => return None,
    };
    let spaces = inner[mark..].len() - inner[mark..].trim_start_matches([' ', '\t']).len();
    (spaces > 0).then(|| &line[..line.len() - inner.len() + mark + spaces])
}

/// Returns the brackets outside of strings and fences.
fn delimiters(text: &str) -> Vec<Option<Delimiter>> {
    let mut found = vec![];
    let (mut in_string, mut escaped) = (false, false);
    let mut fence: Option<(String, usize)> = None;
    let mut containers: Vec<usize> = vec![];
    let mut offset = 0;
    for line in text.split('\n') {
        let start = offset;
        offset += line.len() + 1;
        let content = line.trim_end();
        let first = content.len() - content.trim_start().len();
        let indent = column_width(&content[..first]);
        if let Some((marker, container)) = &fence {
            if !content.is_empty() && indent < *container {
                fence = None;
                found.push(None);
            } else {
                let closes = fence_marker(content).is_some_and(|closing| {
                    indent <= container + 3
                        && closing.starts_with(&marker[..1])
                        && closing.len() >= marker.len()
                        && content.trim().len() == closing.len()
                });
                if closes {
                    fence = None;
                }
                continue;
            }
        }
        while !content.is_empty() && containers.last().is_some_and(|container| indent < *container) {
            containers.pop();
        }
        let list = list_prefix(content);
        containers.extend(list.map(column_width));
        let container = containers.last().copied().unwrap_or_default();
        let fenced = list.map_or(content, |list| &content[list.len()..]);
        if let Some(marker) = fence_marker(fenced)
            && (list.is_some() || indent <= container + 3)
        {
            let after = &fenced[fenced.find(marker).unwrap_or_default() + marker.len()..];
            if !marker.starts_with('`') || !after.contains('`') {
                fence = Some((marker.to_owned(), container));
                found.push(None);
                continue;
            }
        }
        for (column, c) in content.bytes().enumerate() {
            match c {
                _ if in_string && escaped => escaped = false,
                b'\\' if in_string => escaped = true,
                b'"' if in_string => in_string = false,
                _ if in_string => {}
                b'"' => in_string = true,
                b'{' | b'[' | b'}' | b']' => found.push(Some(Delimiter {
                    char: c,
                    at: start + column,
                    starts_line: column == first,
                    ends_line: column + 1 == content.len(),
                })),
                _ => {}
            }
        }
        if in_string {
            (in_string, escaped) = (false, false);
            found.push(None);
        }
    }
    found
}

/// Returns balanced blocks that end a line, and whether each starts one. With `inside`, those within the outermost block.
fn balanced_blocks(text: &str, inside: bool) -> Vec<(&str, bool)> {
    let tokens = delimiters(text);
    let mut unmatched: Vec<usize> = vec![];
    let mut stack_start = 0;
    let bytes = text.as_bytes();
    for token in &tokens {
        match token {
            None => stack_start = unmatched.len(),
            Some(Delimiter { char: b'{' | b'[', at, .. }) => unmatched.push(*at),
            Some(Delimiter { char, at, .. }) => {
                let opening = if *char == b'}' { b'{' } else { b'[' };
                if unmatched.len() > stack_start && unmatched.last().is_some_and(|open| bytes[*open] == opening) {
                    unmatched.pop();
                } else {
                    unmatched.push(*at);
                    stack_start = unmatched.len();
                }
            }
        }
    }
    let mut unmatched = unmatched.into_iter().peekable();
    let mut blocks = vec![];
    let mut depth = 0_usize;
    let mut open: Option<(usize, usize, bool)> = None;
    for token in tokens.into_iter().flatten() {
        if unmatched.peek() == Some(&token.at) {
            unmatched.next();
            continue;
        }
        if matches!(token.char, b'{' | b'[') {
            if open.is_none() && depth == usize::from(inside) {
                open = Some((token.at, depth, token.starts_line));
            }
            depth += 1;
            continue;
        }
        depth = depth.saturating_sub(1);
        if let Some((start, start_depth, starts_line)) = open
            && depth == start_depth
        {
            if token.ends_line {
                blocks.push((&text[start..=token.at], starts_line));
            }
            open = None;
        }
    }
    blocks
}

/// Returns the JSON blocks of a text that start and end a line. Within a malformed block, the blocks inside are tried.
fn json_blocks(text: &str) -> Vec<Value> {
    let mut found = vec![];
    let mut remaining = text.len().saturating_mul(4);
    let mut pending: Vec<(&str, bool)> = balanced_blocks(text, false).into_iter().rev().collect();
    for _ in 0..MAX_BLOCKS {
        let Some((block, starts_line)) = pending.pop() else { break };
        if block.len() > remaining {
            break;
        }
        remaining -= block.len();
        match serde_json::from_str(block) {
            Ok(value) if starts_line => found.push(value),
            Ok(_) => {}
            Err(_) => pending.extend(balanced_blocks(block, true).into_iter().rev()),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn calls_are_read_with_their_arguments() {
        let openai = json!([{"type": "function", "function": {"name": "swap", "arguments": "{\"a\":1}"}}]);
        assert_eq!(tool_calls(&openai), [("swap".to_owned(), Some(json!({"a": 1})))]);
        let text = json!("I call\n\n{\"type\":\"tool_use\",\"name\":\"quote\",\"input\":{\"b\":2}}\n\nnow");
        assert_eq!(tool_calls(&text), [("quote".to_owned(), Some(json!({"b": 2})))]);
    }

    #[test]
    fn fenced_and_inline_json_is_not_a_call() {
        let fenced = json!("```json\n{\"tool_calls\":[{\"name\":\"a\"}]}\n```");
        assert_eq!(tool_names(&fenced), BTreeSet::new());
        assert_eq!(tool_names(&json!("see {\"name\":\"a\"}")), BTreeSet::new());
    }
}
