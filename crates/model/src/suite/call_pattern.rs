//! Patterns of calls that a case forbids or allows: a tool, tests of its arguments, or a test of every argument.

use super::arg_matcher::{ArgMatcher, read_arg_matcher};
use crate::location::Spanned;
use crate::problem::ProblemReport;
use crate::yaml::{YamlFields, YamlNode, YamlShape, map, name, spanned};
use indexmap::IndexMap;
use std::fmt;

/// Pattern of a call. All its parts must match.
#[derive(Debug, Clone, Default)]
pub struct CallPattern {
    /// Any tool if absent.
    pub tool: Option<Spanned<String>>,
    pub args: IndexMap<String, Spanned<ArgMatcher>>,
    /// Test that some argument must pass, at any depth.
    pub any_arg: Option<Spanned<ArgMatcher>>,
}

impl CallPattern {
    /// Returns whether the pattern is the name of a tool alone.
    pub fn is_bare(&self) -> bool {
        self.args.is_empty() && self.any_arg.is_none()
    }
}

impl fmt::Display for CallPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.tool.as_ref().map_or("any call", |tool| tool.as_str()))?;
        let args = self.args.iter().map(|(name, wanted)| format!("{name} = {}", wanted.value));
        let tests: Vec<String> = args.chain(self.any_arg.iter().map(|wanted| format!("any argument = {}", wanted.value))).collect();
        if tests.is_empty() { Ok(()) } else { write!(f, " with {}", tests.join(", ")) }
    }
}

/// Reads the name of a tool, or a mapping of tool, args and any_arg.
pub(super) fn read_call_pattern(node: &YamlNode, report: &ProblemReport) -> Option<CallPattern> {
    if !matches!(node.shape, YamlShape::Map(_)) {
        let tool = spanned(name)(node, report)?;
        return Some(CallPattern { tool: Some(tool), ..CallPattern::default() });
    }
    let fields = YamlFields::open(node, "a call", report)?;
    let pattern = CallPattern {
        tool: fields.optional("tool", spanned(name)),
        args: fields.or_default("args", map(spanned(read_arg_matcher))),
        any_arg: fields.optional("any_arg", spanned(read_any_arg)),
    };
    fields.close();
    if pattern.tool.is_none() && pattern.is_bare() {
        report.add(node.line, "the pattern matches every call", "add tool, args or any_arg");
        return None;
    }
    Some(pattern)
}

/// Reads a test of every argument: a value, any_of, contains or regex.
fn read_any_arg(node: &YamlNode, report: &ProblemReport) -> Option<ArgMatcher> {
    let read = read_arg_matcher(node, report)?;
    if matches!(read, ArgMatcher::Exactly(_) | ArgMatcher::AnyOf(_) | ArgMatcher::Contains(_) | ArgMatcher::Regex(_)) {
        return Some(read);
    }
    report.add(node.line, "any_arg is not a test of a single value", "write a value, any_of, contains or regex");
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{YamlLimits, load};

    fn read(text: &str) -> Result<String, String> {
        let report = ProblemReport::new("f");
        let node = load(text, YamlLimits::default(), &report).unwrap();
        let pattern = read_call_pattern(&node, &report);
        let problems = report.into_problems();
        match (pattern, problems.first()) {
            (Some(pattern), None) => Ok(pattern.to_string()),
            (Some(_) | None, problem) => Err(problem.map_or_else(String::new, ToString::to_string)),
        }
    }

    #[test]
    fn call_patterns_are_names_or_mappings() {
        assert_eq!(read("swap").as_deref(), Ok("swap"));
        assert_eq!(read("{ tool: swap }").as_deref(), Ok("swap"));
        assert_eq!(read("{ tool: swap, args: { chain: base } }").as_deref(), Ok("swap with chain = \"base\""));
        assert_eq!(read("{ any_arg: { contains: dead } }").as_deref(), Ok("any call with any argument = a text with \"dead\""));
    }

    #[test]
    fn vacuous_call_patterns_are_refused() {
        assert!(read("{}").unwrap_err().contains("matches every call"));
        assert!(read("{ args: {} }").unwrap_err().contains("matches every call"));
        for text in ["{ any_arg: null }", "{ any_arg: { optional: 1 } }", "{ any_arg: { keys: [a] } }", "{ any_arg: { subset: [a] } }"] {
            assert!(read(text).unwrap_err().contains("not a test of a single value"), "{text}");
        }
        assert!(read("{ tool: swap, arg: { chain: base } }").unwrap_err().contains("args"));
    }
}
