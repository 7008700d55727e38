//! Rules as text, in the notation that [`Rule::parse`] reads.

use super::parse::{ARG_OPS, CLASSES};
use super::{ActionSelector, ArgCheck, ArgTest, RequiredDecision, Rule, SelectorTarget, TestedArg};
use crate::catalog::{OpClass, OpPattern, ToolOp};
use std::fmt;

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Before(a, b) => write!(f, "before({a}, {b})"),
            Rule::After(a, b) => write!(f, "after({a}, {b})"),
            Rule::ImmediatelyAfter(a, b) => write!(f, "immediately_after({a}, {b})"),
            Rule::Never(a) => write!(f, "never({a})"),
            Rule::NeverAfter(a, b) => write!(f, "never_after({a}, {b})"),
            Rule::Eventually(a) => write!(f, "eventually({a})"),
            Rule::Within(a, b, seconds) => write!(f, "within({a}, {b}, {seconds}s)"),
            Rule::AtMost(a, most) => write!(f, "at_most({a}, {most})"),
        }
    }
}

impl fmt::Display for ActionSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.what)?;
        if !self.tests.is_empty() {
            let tests: Vec<String> = self.tests.iter().map(ToString::to_string).collect();
            write!(f, "[{}]", tests.join(", "))?;
        }
        Ok(())
    }
}

impl fmt::Display for SelectorTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reviewed = |name: &str, decision: &Option<RequiredDecision>| match decision {
            None => name.to_owned(),
            Some(RequiredDecision::Approve) => format!("{name}.approve"),
            Some(RequiredDecision::Veto) => format!("{name}.veto"),
        };
        match self {
            SelectorTarget::Tool(name) => f.write_str(name),
            SelectorTarget::Class(class) => f.write_str(CLASSES.iter().find(|(_, known)| known == class).map_or("", |(word, _)| word)),
            SelectorTarget::Acts(OpPattern::Class(class)) => {
                write!(f, "acts({})", OpClass::ALL.iter().find(|(_, known)| known == class).map_or("", |(word, _)| word))
            }
            SelectorTarget::Acts(OpPattern::Op(op)) => {
                write!(f, "acts({})", ToolOp::ALL.iter().find(|(_, known)| known == op).map_or("", |(word, _)| word))
            }
            SelectorTarget::DelegateTo(agent) => write!(f, "delegate({agent})"),
            SelectorTarget::Guard(decision) => f.write_str(&reviewed("guard", decision)),
            SelectorTarget::Assess(decision) => f.write_str(&reviewed("assess", decision)),
            SelectorTarget::AnyOf(several) => f.write_str(&several.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | ")),
        }
    }
}

impl fmt::Display for ArgTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.arg {
            TestedArg::Param(param) => f.write_str(param)?,
            TestedArg::Any => f.write_str("*")?,
        }
        match &self.check {
            ArgCheck::Compare(op, value) => {
                f.write_str(ARG_OPS.iter().find(|(_, known)| known == op).map_or("", |(sign, _)| sign))?;
                // The language has no escapes.
                match value.as_str() {
                    Some(text) => write!(f, "\"{text}\""),
                    None => write!(f, "{value}"),
                }
            }
            ArgCheck::Contains(text) => write!(f, " contains \"{text}\""),
            ArgCheck::Regex(pattern) => write!(f, " regex \"{}\"", pattern.source()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Rule;

    #[test]
    fn displayed_rules_parse_to_the_same_rule() {
        for text in [
            "before(simulate, write)",
            "after(swap_execute, wallet_get_balance)",
            "immediately_after(ask, say)",
            "never(acts(approve))",
            "never(acts(revoke))",
            "never_after(report, write)",
            "eventually(delegate(safety-guardian))",
            "within(quote, swap_execute, 300s)",
            "at_most(swap_execute[chain=\"base\", amount<=5], 1)",
            "before(guard.approve, write)",
            "never(assess.veto)",
            "never(call[* contains \"seed phrase\"])",
            "never(call[memo regex \"0x[0-9a-f]+\"])",
            "never(call[path=\"C:\\new\"])",
            "before(wallet_get_balance[token=\"USDC\"] | acts(quote) | guard.approve, write)",
            "at_most(read | quote, 3)",
        ] {
            let rule = Rule::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!((rule.to_string().as_str(), Rule::parse(&rule.to_string())), (text, Ok(rule)), "{text}");
        }
    }

    #[test]
    fn quote_inside_a_bare_value_is_refused() {
        let error = Rule::parse("never(halt[liquidate=tru\"e])").expect_err("an error");
        assert_eq!((error.column, error.what.contains("quote")), (22, true), "{error}");
    }
}
