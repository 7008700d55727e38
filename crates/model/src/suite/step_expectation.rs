//! Expectations on the steps of an agent and on the spans of a trace, as promptfoo writes them: `trajectory:*`, `trace-*`, `skill-used`.

use serde_json::{Map, Value};

/// Words for the kinds of steps.
pub const STEP_KINDS: &[&str] = &["tool", "command", "search", "reasoning", "message", "span"];

/// Selects steps by kind and by a glob on their names.
#[derive(Debug, Clone, PartialEq)]
pub struct StepPattern {
    /// Glob with `*` and `?` that ignores letter case; `None` matches every name.
    pub glob: Option<String>,
    /// One of [`STEP_KINDS`]; empty for every kind.
    pub kinds: Vec<String>,
}

/// Bounds of a number, both inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CountRange {
    pub min: Option<f64>,
    pub max: Option<f64>,
}

impl CountRange {
    pub fn contains(&self, count: f64) -> bool {
        self.min.is_none_or(|min| count >= min) && self.max.is_none_or(|max| count <= max)
    }
}

/// Expectation on the steps of a trajectory.
#[derive(Debug, Clone, PartialEq)]
pub enum StepExpectation {
    /// Each pattern matches a tool call; with `not-`, none may.
    UsesAll(Vec<StepPattern>),
    UsesCounted {
        pattern: StepPattern,
        range: CountRange,
    },
    Sequence {
        steps: Vec<StepPattern>,
        /// No other tool calls, and the same number.
        exact: bool,
    },
    Arguments {
        pattern: StepPattern,
        args: Value,
        exact: bool,
        /// Arguments that count as absent if they have this value.
        defaults: Map<String, Value>,
        /// Names or globs of arguments that are not compared.
        ignore: Vec<String>,
    },
    Count {
        pattern: StepPattern,
        range: CountRange,
    },
}

/// Expectation on the spans of a trace.
#[derive(Debug, Clone, PartialEq)]
pub enum SpanExpectation {
    Count { glob: String, range: CountRange },
    Duration { glob: String, max_ms: f64, percentile: Option<f64> },
    Errors { glob: String, max_count: Option<f64>, max_percentage: Option<f64> },
}

/// Expectation on the skills that an agent reports.
#[derive(Debug, Clone, PartialEq)]
pub enum SkillExpectation {
    UsesAll(Vec<String>),
    UsesCounted { name: Option<String>, glob: Option<String>, range: CountRange },
}

/// Strictness of reading a value: promptfoo accepts words that it then never matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueReading {
    Strict,
    /// As promptfoo reads it.
    Lenient,
}

pub(super) fn read_tools_used(value: &Value, reading: ValueReading) -> Result<StepExpectation, String> {
    match value {
        Value::String(_) => Ok(StepExpectation::UsesAll(vec![step_pattern(value, Some("tool"), reading)?])),
        Value::Array(items) if !items.is_empty() && items.iter().all(Value::is_string) => {
            items.iter().map(|item| step_pattern(item, Some("tool"), reading)).collect::<Result<_, _>>().map(StepExpectation::UsesAll)
        }
        Value::Object(fields) => {
            let pattern = named(step_pattern(value, Some("tool"), reading)?)?;
            let mut range = count_range(fields);
            range.min = range.min.or(Some(1.0));
            Ok(StepExpectation::UsesCounted { pattern, range })
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            Err("needs the name of a tool, a list of names, or { name, min, max }".to_owned())
        }
    }
}

pub(super) fn read_tool_sequence(value: &Value, reading: ValueReading) -> Result<StepExpectation, String> {
    let (items, mode) = match value {
        Value::Array(items) => (items.as_slice(), None),
        Value::Object(fields) => (
            fields.get("steps").and_then(Value::as_array).map_or(&[] as &[Value], Vec::as_slice),
            fields.get("mode").and_then(Value::as_str).filter(|mode| !mode.is_empty()),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => (&[] as &[Value], None),
    };
    if items.is_empty() {
        return Err("needs a list of steps, or { mode, steps }".to_owned());
    }
    if reading == ValueReading::Strict && !matches!(mode, None | Some("in_order" | "exact")) {
        return Err("has a mode that is not in_order or exact".to_owned());
    }
    let steps = items.iter().map(|item| step_pattern(item, Some("tool"), reading).and_then(named)).collect::<Result<_, _>>()?;
    Ok(StepExpectation::Sequence { steps, exact: mode == Some("exact") })
}

pub(super) fn read_tool_arguments(value: &Value, reading: ValueReading) -> Result<StepExpectation, String> {
    let Value::Object(fields) = value else { return Err("needs { name, args }".to_owned()) };
    let pattern = named(step_pattern(value, Some("tool"), reading)?)?;
    let args = fields.get("args").or_else(|| fields.get("arguments")).ok_or("lacks \"args\"")?.clone();
    let exact = match fields.get("mode") {
        None => false,
        Some(Value::String(mode)) if mode == "partial" => false,
        Some(Value::String(mode)) if mode == "exact" => true,
        Some(_) => return Err("has a mode that is not partial or exact".to_owned()),
    };
    let defaults = match fields.get("defaults") {
        None => Map::new(),
        Some(Value::Object(defaults)) => defaults.clone(),
        Some(_) => return Err("has defaults that are not a mapping".to_owned()),
    };
    let entries = match fields.get("ignore") {
        None => vec![],
        Some(Value::Array(entries)) => entries.iter().collect(),
        Some(one) => vec![one],
    };
    let ignore = entries.into_iter().map(|entry| entry.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned));
    let ignore = ignore.collect::<Option<_>>().ok_or("ignores names that are not texts, or are empty")?;
    Ok(StepExpectation::Arguments { pattern, args, exact, defaults, ignore })
}

pub(super) fn read_step_count(value: &Value, reading: ValueReading) -> Result<StepExpectation, String> {
    let Value::Object(fields) = value else { return Err("needs { min } or { max }".to_owned()) };
    let range = count_range(fields);
    if range == CountRange::default() {
        return Err("needs min or max".to_owned());
    }
    Ok(StepExpectation::Count { pattern: step_pattern(value, None, reading)?, range })
}

pub(super) fn read_span_count(value: &Value) -> Result<SpanExpectation, String> {
    match (value.get("pattern").and_then(Value::as_str).filter(|glob| !glob.is_empty()), value) {
        (Some(glob), Value::Object(fields)) => Ok(SpanExpectation::Count { glob: glob.to_owned(), range: count_range(fields) }),
        (_, _) => Err("needs { pattern, min, max }".to_owned()),
    }
}

pub(super) fn read_span_duration(value: &Value) -> Result<SpanExpectation, String> {
    let max_ms = value.get("max").and_then(Value::as_f64).ok_or("needs { max }, in milliseconds")?;
    let percentile = match value.get("percentile") {
        None => None,
        Some(given) => {
            Some(given.as_f64().filter(|given| (0.0..=100.0).contains(given)).ok_or("has a percentile that is not between 0 and 100")?)
        }
    };
    let glob = value.get("pattern").and_then(Value::as_str).unwrap_or("*").to_owned();
    Ok(SpanExpectation::Duration { glob, max_ms, percentile })
}

pub(super) fn read_error_spans(value: &Value) -> SpanExpectation {
    let bound = |key: &str| value.get(key).and_then(Value::as_f64);
    let (mut max_count, max_percentage) = (value.as_f64().or_else(|| bound("max_count")), bound("max_percentage"));
    if max_count.is_none() && max_percentage.is_none() {
        max_count = Some(0.0);
    }
    let glob = value.get("pattern").and_then(Value::as_str).filter(|glob| !glob.is_empty()).unwrap_or("*").to_owned();
    SpanExpectation::Errors { glob, max_count, max_percentage }
}

pub(super) fn read_skills_used(value: &Value) -> Result<SkillExpectation, String> {
    let trimmed = |value: &Value| value.as_str().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    match value {
        Value::String(_) => trimmed(value).map(|name| SkillExpectation::UsesAll(vec![name])),
        Value::Array(items) if !items.is_empty() => items.iter().map(trimmed).collect::<Option<_>>().map(SkillExpectation::UsesAll),
        Value::Object(fields) => {
            let part = |key: &str| fields.get(key).and_then(trimmed);
            let (name, glob) = (part("name"), part("pattern"));
            if name.is_none() && glob.is_none() {
                return Err("needs name or pattern".to_owned());
            }
            for key in ["min", "max"] {
                let whole = fields.get(key).is_none_or(|bound| bound.as_f64().is_some_and(|bound| bound >= 0.0 && bound.fract() == 0.0));
                if !whole {
                    return Err(format!("has a {key} that is not a whole number"));
                }
            }
            let range = count_range(fields);
            if range.max < range.min && range.max.is_some() {
                return Err("has a max below its min".to_owned());
            }
            Some(SkillExpectation::UsesCounted { name, glob, range })
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
    .ok_or_else(|| "needs the name of a skill, a list of names, or { name, min, max }".to_owned())
}

/// Reads a number, or `{ min, max }`, of words.
pub(super) fn read_word_count(value: &Value) -> Result<CountRange, String> {
    match value {
        Value::Number(_) | Value::String(_) => {
            let exact = value.as_f64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()));
            exact.map(|exact| CountRange { min: Some(exact), max: Some(exact) })
        }
        Value::Object(fields) => {
            Some(count_range(fields)).filter(|range| *range != CountRange::default() && (range.max.is_none() || range.min <= range.max))
        }
        Value::Null | Value::Bool(_) | Value::Array(_) => None,
    }
    .ok_or_else(|| "needs a number of words, or { min, max }".to_owned())
}

fn count_range(fields: &Map<String, Value>) -> CountRange {
    let bound = |key: &str| fields.get(key).and_then(Value::as_f64);
    CountRange { min: bound("min"), max: bound("max") }
}

/// Reads a name, or `{ name | pattern, type }`.
fn step_pattern(value: &Value, default_kind: Option<&str>, reading: ValueReading) -> Result<StepPattern, String> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
    let glob = value.as_str().map(str::to_owned).or_else(|| text("pattern")).or_else(|| text("name"));
    let kinds: Vec<String> = match value.get("type") {
        Some(Value::String(kind)) if !kind.is_empty() => vec![kind.clone()],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(|kind| kind.as_str().map(str::to_owned)).collect(),
        Some(_) | None => default_kind.into_iter().map(str::to_owned).collect(),
    };
    if reading == ValueReading::Strict
        && let Some(unknown) = kinds.iter().find(|kind| !STEP_KINDS.contains(&kind.as_str()))
    {
        return Err(format!("has a step of the unknown type {unknown:?}"));
    }
    Ok(StepPattern { glob: glob.filter(|glob| !glob.is_empty()), kinds })
}

fn named(pattern: StepPattern) -> Result<StepPattern, String> {
    if pattern.glob.is_some() { Ok(pattern) } else { Err("has a step without name or pattern".to_owned()) }
}
