//! `trajectory:*`: tools that were used, in which order, with which arguments, and how many steps were taken. Steps are the calls of a
//! transcript, the calls in a reply, or the spans of a trace.

use super::equals::same_json;
use super::trace_spans::{TraceSpan, matches_glob};
use super::{AssertionFinding, AssertionInput, FindingResult, MissingEvidence};
use model::suite::{AssertionValue, CaseAssertion, StepExpectation, StepPattern};
use serde_json::{Map, Value};

/// Step of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct TrajectoryStep {
    /// One of [`model::suite::STEP_KINDS`].
    pub kind: &'static str,
    pub name: String,
    /// Names that a pattern may match.
    pub aliases: Vec<String>,
    pub args: Option<Value>,
}

impl TrajectoryStep {
    /// Returns a call of a tool.
    pub fn tool_call(name: &str, args: Option<Value>) -> Self {
        Self { kind: "tool", name: name.to_owned(), aliases: vec![name.to_owned()], args }
    }

    fn matches(&self, pattern: &StepPattern) -> bool {
        let kind = pattern.kinds.is_empty() || pattern.kinds.iter().any(|kind| kind == self.kind);
        kind && pattern.glob.as_ref().is_none_or(|glob| self.aliases.iter().any(|alias| matches_glob(alias, glob)))
    }
}

pub(super) fn tool_used(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> FindingResult {
    let (expected, steps) = expectation(assertion, input)?;
    let tools: Vec<&TrajectoryStep> = tools(steps).collect();
    let used = |pattern: &StepPattern| tools.iter().filter(|step| step.matches(pattern)).count();
    match expected {
        // With not-, none of the tools may be used: that is not the inverse of all of them.
        StepExpectation::UsesAll(patterns) => {
            let hits = patterns.iter().filter(|pattern| used(pattern) > 0).count();
            Ok(AssertionFinding::decided(if assertion.negated { hits == 0 } else { hits == patterns.len() }, listed(&tools)))
        }
        StepExpectation::UsesCounted { pattern, range } => Ok(AssertionFinding::of(range.contains(used(pattern) as f64), listed(&tools))),
        StepExpectation::Sequence { .. } | StepExpectation::Arguments { .. } | StepExpectation::Count { .. } => no_value(assertion),
    }
}

pub(super) fn tool_sequence(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> FindingResult {
    let (expected, steps) = expectation(assertion, input)?;
    let StepExpectation::Sequence { steps: wanted, exact } = expected else { return no_value(assertion) };
    let tools: Vec<&TrajectoryStep> = tools(steps).collect();
    let holds = if *exact {
        tools.len() == wanted.len() && tools.iter().zip(wanted).all(|(step, pattern)| step.matches(pattern))
    } else {
        let mut rest = wanted.iter().peekable();
        for step in &tools {
            if rest.peek().is_some_and(|pattern| step.matches(pattern)) {
                rest.next();
            }
        }
        rest.peek().is_none()
    };
    Ok(AssertionFinding::of(holds, listed(&tools)))
}

pub(super) fn tool_arguments(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> FindingResult {
    let (expected, steps) = expectation(assertion, input)?;
    let StepExpectation::Arguments { pattern, args, exact, defaults, ignore } = expected else { return no_value(assertion) };
    let wanted = without(args, |key, _| ignored(key, ignore));
    let fits = |found: &Value| {
        let found = without(found, |key, value| ignored(key, ignore) || defaults.get(key).is_some_and(|default| same_json(default, value)));
        if *exact { same_json(&found, &wanted) } else { contains_args(&found, &wanted) }
    };
    let tools: Vec<&TrajectoryStep> = tools(steps).collect();
    let holds = tools.iter().filter(|step| step.matches(pattern)).filter_map(|step| step.args.as_ref()).any(fits);
    Ok(AssertionFinding::of(holds, listed(&tools)))
}

pub(super) fn step_count(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> FindingResult {
    let (expected, steps) = expectation(assertion, input)?;
    let StepExpectation::Count { pattern, range } = expected else { return no_value(assertion) };
    let count = steps.iter().filter(|step| step.matches(pattern)).count();
    Ok(AssertionFinding::of(range.contains(count as f64), format!("found {}", model::count(count, "step"))))
}

fn no_value(assertion: &CaseAssertion) -> FindingResult {
    MissingEvidence::of(format!("{} has no value", assertion.kind))
}

fn expectation<'a>(
    assertion: &'a CaseAssertion,
    input: &AssertionInput<'a>,
) -> Result<(&'a StepExpectation, &'a [TrajectoryStep]), MissingEvidence> {
    match (&assertion.value, input.steps) {
        (AssertionValue::Steps(expected), Some(steps)) => Ok((expected, steps)),
        (_, _) => MissingEvidence::of(format!("there is no trace and no transcript for {}", assertion.kind)),
    }
}

fn tools(steps: &[TrajectoryStep]) -> impl Iterator<Item = &TrajectoryStep> {
    steps.iter().filter(|step| step.kind == "tool")
}

fn listed(tools: &[&TrajectoryStep]) -> String {
    const MAX_NAMES: usize = 20;
    let names: Vec<&str> = tools.iter().take(MAX_NAMES).map(|step| step.name.as_str()).collect();
    match names.as_slice() {
        [] => "called no tool".to_owned(),
        names => format!("called {}{}", names.join(", "), if tools.len() > MAX_NAMES { ", …" } else { "" }),
    }
}

fn ignored(key: &str, ignore: &[String]) -> bool {
    ignore.iter().any(|entry| entry == key || (entry.contains(['*', '?']) && matches_glob(key, entry)))
}

/// Returns a mapping without some of its entries; any other value as it is.
fn without(value: &Value, leave_out: impl Fn(&str, &Value) -> bool) -> Value {
    match value {
        Value::Object(fields) => Value::Object(
            fields.iter().filter(|(key, value)| !leave_out(key, value)).map(|(key, value)| (key.clone(), value.clone())).collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => value.clone(),
    }
}

/// Returns whether every expected argument is there. Lists have the same length.
fn contains_args(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::Array(found), Value::Array(wanted)) => {
            found.len() == wanted.len() && found.iter().zip(wanted).all(|(found, wanted)| contains_args(found, wanted))
        }
        (Value::Object(found), Value::Object(wanted)) => {
            wanted.iter().all(|(key, wanted)| found.get(key).is_some_and(|found| contains_args(found, wanted)))
        }
        (_, _) => same_json(found, wanted),
    }
}

const NAME_KEYS: &[&str] = &[
    "tool.name",
    "tool_name",
    "tool",
    "function.name",
    "function_name",
    "ai.toolCall.name",
    "gen_ai.tool.name",
    "agent.tool_name",
    "agent.tool",
    "agent.toolName",
    "codex.mcp.tool",
];
#[rustfmt::skip]
const ARGUMENT_KEYS: &[&str] = &[
    "tool.args", "tool.arguments", "tool.input", "tool_args", "tool_arguments", "tool_input", "function.args", "function.arguments",
    "function.input", "function_args", "function_arguments", "ai.toolCall.args", "ai.toolCall.arguments", "ai.toolCall.input",
    "gen_ai.tool.args", "gen_ai.tool.arguments", "gen_ai.tool.input", "gen_ai.tool.call.args", "gen_ai.tool.call.arguments",
    "agent.tool.args", "agent.tool.arguments", "agent.tool.input", "codex.mcp.args", "codex.mcp.arguments", "codex.mcp.input", "args",
    "arguments", "input",
];
const COMMAND_KEYS: &[&str] = &["codex.command", "command", "command.name", "command_name"];
const SEARCH_KEYS: &[&str] = &["codex.search.query", "search.query", "search_query"];
const COMMAND_TOOLS: &[&str] = &["exec_command", "local_shell", "shell"];

/// Returns the steps of a trace, in the order of their times. `command_tools` are further tools whose calls are commands.
pub fn steps_of_spans(spans: &[TraceSpan], command_tools: &[String]) -> Vec<TrajectoryStep> {
    let mut sorted: Vec<&TraceSpan> = spans.iter().collect();
    let time = |span: &TraceSpan| (span.start.unwrap_or_default(), span.end.or(span.start).unwrap_or_default());
    sorted.sort_by(|left, right| {
        let ((left_start, left_end), (right_start, right_end)) = (time(left), time(right));
        left_start.total_cmp(&right_start).then(left_end.total_cmp(&right_end))
    });
    sorted.into_iter().map(|span| step_of(span, command_tools)).collect()
}

fn step_of(span: &TraceSpan, command_tools: &[String]) -> TrajectoryStep {
    let tool = tool_name(span);
    let is_command_tool = tool.as_ref().is_some_and(|tool| {
        let tool = tool.trim().to_lowercase();
        COMMAND_TOOLS.contains(&tool.as_str()) || command_tools.iter().any(|name| name.trim().to_lowercase() == tool)
    });
    let command = command_of(span, is_command_tool);
    let mut aliases = vec![span.name.clone()];
    let (kind, name, args) = match (command, tool) {
        (Some(command), tool) if is_command_tool || tool.is_none() => {
            aliases.push(command.clone());
            aliases.extend(tool);
            aliases.extend(command.split_whitespace().next().map(str::to_owned));
            ("command", command, if is_command_tool { arguments(span) } else { None })
        }
        (_, Some(tool)) => {
            aliases.push(tool.clone());
            ("tool", tool, arguments(span))
        }
        (_, None) => match search_query(span) {
            Some(query) => {
                aliases.push(query.clone());
                ("search", query, None)
            }
            None if is_reasoning(span) => {
                aliases.push("reasoning".to_owned());
                ("reasoning", span.name.clone(), None)
            }
            None if is_message(span) => {
                aliases.push("message".to_owned());
                ("message", span.name.clone(), None)
            }
            None => ("span", span.name.clone(), None),
        },
    };
    TrajectoryStep { kind, name, aliases, args }
}

fn first_text(attributes: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| trimmed(attributes.get(*key)?))
}

fn trimmed(value: &Value) -> Option<String> {
    value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Returns whether a word stands alone between `.`, `_` and the ends of a key.
fn has_part(key: &str, parts: &[&str]) -> bool {
    key.to_lowercase().split(['.', '_']).any(|part| parts.contains(&part))
}

fn has_any(key: &str, words: &[&str]) -> bool {
    let key = key.to_lowercase();
    words.iter().any(|word| key.contains(word))
}

/// Returns whether `tool` or `function` is followed by `name`, with at most one character between.
fn names_tool(key: &str) -> bool {
    let key = key.to_lowercase();
    ["tool", "function"].iter().any(|word| {
        key.match_indices(word).any(|(at, _)| {
            let rest = &key[at + word.len()..];
            rest.starts_with("name") || rest.chars().next().is_some_and(|c| rest[c.len_utf8()..].starts_with("name"))
        })
    })
}

fn tool_name(span: &TraceSpan) -> Option<String> {
    if let Some(name) = first_text(&span.attributes, NAME_KEYS) {
        return Some(name);
    }
    for (key, value) in &span.attributes {
        let Some(text) = trimmed(value) else { continue };
        let structured = text.starts_with(['[', '{']) && serde_json::from_str::<Value>(&text).is_ok();
        if !structured && (names_tool(key) || (has_part(key, &["tool"]) && !has_any(key, &["result", "output", "definition"]))) {
            return Some(text);
        }
    }
    let server_tool = span.name.strip_prefix("mcp ")?.rsplit_once('/')?.1;
    Some(server_tool.trim().to_owned()).filter(|_| !server_tool.is_empty())
}

fn arguments(span: &TraceSpan) -> Option<Value> {
    let direct = ARGUMENT_KEYS.iter().find_map(|key| structured(span.attributes.get(*key)?));
    direct.or_else(|| {
        let named = |key: &str| !has_any(key, &["result", "output", "error", "status"]) && has_part(key, &["arguments", "args", "input"]);
        span.attributes.iter().filter(|(key, _)| named(key)).find_map(|(_, value)| structured(value))
    })
}

/// Returns a text as the JSON that it holds, if it does.
fn structured(value: &Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::String(_) => trimmed(value).map(|text| serde_json::from_str(&text).unwrap_or(Value::String(text))),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => Some(value.clone()),
    }
}

fn command_of(span: &TraceSpan, is_command_tool: bool) -> Option<String> {
    if let Some(command) = first_text(&span.attributes, COMMAND_KEYS) {
        return Some(command);
    }
    let named = |key: &str| has_any(key, &["command"]) && !has_any(key, &["output", "result"]);
    if let Some(command) = span.attributes.iter().filter(|(key, _)| named(key)).find_map(|(_, value)| trimmed(value)) {
        return Some(command);
    }
    if is_command_tool && let Some(Value::Object(args)) = arguments(span) {
        let given = [("cmd", " "), ("command", " "), ("commands", "; ")].into_iter().find_map(|(key, joint)| Some((args.get(key)?, joint)));
        match given {
            Some((Value::Array(parts), joint)) => {
                let parts: Vec<String> = parts.iter().map(|part| super::equals::plain_text(part).trim().to_owned()).collect();
                let joined = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(joint);
                if !joined.is_empty() {
                    return Some(joined);
                }
            }
            Some((value, _)) => {
                if let Some(command) = trimmed(value) {
                    return Some(command);
                }
            }
            None => {}
        }
    }
    span.name.strip_prefix("exec ").map(|command| command.trim().to_owned()).filter(|command| !command.is_empty())
}

fn search_query(span: &TraceSpan) -> Option<String> {
    let searches = || {
        let words = ["search", "find", "lookup", "retrieve", "retrieval"];
        let in_name = span.name.to_lowercase().split(|c: char| c.is_whitespace() || "._:/-".contains(c)).any(|part| words.contains(&part));
        let in_key = |key: &str| key != "query" && has_part(key, &["search", "lookup", "retrieve", "retrieval"]);
        in_name || span.attributes.keys().any(|key| in_key(key))
    };
    first_text(&span.attributes, SEARCH_KEYS).or_else(|| first_text(&span.attributes, &["query"]).filter(|_| searches())).or_else(|| {
        let query = span.name.strip_prefix("search ")?;
        let query = query.strip_prefix('"').unwrap_or(query);
        Some(query.strip_suffix('"').unwrap_or(query).trim().to_owned()).filter(|query| !query.is_empty())
    })
}

fn is_reasoning(span: &TraceSpan) -> bool {
    let rest = span.name.get(..9).filter(|start| start.eq_ignore_ascii_case("reasoning")).map(|_| &span.name[9..]);
    span.attributes.get("codex.item.type").is_some_and(|kind| kind == "reasoning")
        || rest.is_some_and(|rest| rest.chars().next().is_none_or(|c| c == '_' || c.is_whitespace()))
}

fn is_message(span: &TraceSpan) -> bool {
    span.attributes.get("codex.item.type").is_some_and(|kind| kind == "agent_message")
        || ["agent response", "send input"].contains(&span.name.as_str())
}
