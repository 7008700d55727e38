//! Assertions as one line of text.

use super::{AssertedText, AssertionValue, CaseAssertion, PathTest};
use crate::short_text::shortened;
use crate::suite::StepPattern;
use crate::suite::step_expectation::{CountRange, SkillExpectation, StepExpectation};
use std::fmt;

/// Longest value that is shown whole.
const MAX_CHARS: usize = 60;

/// Writes the assertion in short: `not-contains "x" on what list_files returned`.
impl fmt::Display for CaseAssertion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.type_name())?;
        match &self.value {
            AssertionValue::Absent => {}
            AssertionValue::Text(text) => write!(f, " {}", quoted(text))?,
            AssertionValue::TextList(texts) => write!(f, " {}", texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", "))?,
            AssertionValue::Json(value) => write!(f, " {}", shortened(&value.to_string(), MAX_CHARS))?,
            AssertionValue::Pattern(pattern) => write!(f, " {pattern}")?,
            AssertionValue::Schema(_) => write!(f, " with a schema")?,
            AssertionValue::PathTest { path, test } => {
                write!(f, " {path} ")?;
                match test {
                    PathTest::Equals(value) => write!(f, "equals {}", shortened(&value.to_string(), MAX_CHARS))?,
                    PathTest::Contains(text) => write!(f, "contains {}", quoted(text))?,
                    PathTest::Regex(pattern) => write!(f, "matches {pattern}")?,
                    PathTest::Schema(_) => write!(f, "fits a schema")?,
                }
            }
            AssertionValue::Ecma(pattern) => write!(f, " {}", quoted(pattern.source()))?,
            AssertionValue::Words(range) => write!(f, " {}", range_text(*range))?,
            AssertionValue::Steps(steps) => write!(f, " {}", steps_text(steps))?,
            AssertionValue::Spans(_) => {}
            AssertionValue::Skills(skills) => write!(f, " {}", skills_text(skills))?,
            AssertionValue::Source(source) => write!(f, " {}", quoted(source))?,
        }
        if let Some(threshold) = self.threshold {
            write!(f, " threshold {threshold}")?;
        }
        match &self.on {
            AssertedText::Said => Ok(()),
            AssertedText::Returned(tool) => write!(f, " on what {} returned", tool.value),
            AssertedText::Called(tool) => write!(f, " on the arguments of {}", tool.value),
        }
    }
}

fn quoted(text: &str) -> String {
    format!("{:?}", shortened(text, MAX_CHARS))
}

fn range_text(range: CountRange) -> String {
    match (range.min, range.max) {
        (Some(min), Some(max)) if min == max => min.to_string(),
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => String::new(),
    }
}

fn steps_text(steps: &StepExpectation) -> String {
    let names = |patterns: &[StepPattern]| {
        let names = patterns.iter().map(|pattern| pattern.glob.as_deref().unwrap_or("*"));
        names.collect::<Vec<_>>().join(", ")
    };
    match steps {
        StepExpectation::UsesAll(patterns) => names(patterns),
        StepExpectation::Sequence { steps, .. } => names(steps),
        StepExpectation::UsesCounted { pattern, range } | StepExpectation::Count { pattern, range } => {
            format!("{} {}", names(std::slice::from_ref(pattern)), range_text(*range))
        }
        StepExpectation::Arguments { pattern, args, .. } => {
            format!("{} {}", names(std::slice::from_ref(pattern)), shortened(&args.to_string(), MAX_CHARS))
        }
    }
}

fn skills_text(skills: &SkillExpectation) -> String {
    match skills {
        SkillExpectation::UsesAll(names) => names.join(", "),
        SkillExpectation::UsesCounted { name, glob, range } => {
            format!("{} {}", name.as_deref().or(glob.as_deref()).unwrap_or("*"), range_text(*range)).trim_end().to_owned()
        }
    }
}
