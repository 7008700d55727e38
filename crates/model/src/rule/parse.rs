//! Hand-written parser for rules. The grammar is small, and errors need a column.

use super::{
    ActionClass, ActionSelector, ArgCheck, ArgComparison, ArgTest, RequiredDecision, Rule, RuleError, SelectorTarget, TestedArg,
    TextParser, TextPattern,
};
use crate::catalog::OpPattern;
use crate::problem::did_you_mean;
use serde_json::Value;

const RULES: &[&str] = &["before", "after", "immediately_after", "never", "never_after", "eventually", "within", "at_most"];
pub(super) const CLASSES: &[(&str, ActionClass)] = &[
    ("read", ActionClass::Read),
    ("quote", ActionClass::Quote),
    ("simulate", ActionClass::Simulate),
    ("write", ActionClass::Write),
    ("sign", ActionClass::Sign),
    ("ask", ActionClass::Ask),
    ("say", ActionClass::Say),
    ("report", ActionClass::Report),
    ("delegate", ActionClass::Delegate),
    ("call", ActionClass::Call),
];

/// Longer signs come first, so that `<=` is not read as `<`.
pub(super) const ARG_OPS: &[(&str, ArgComparison)] = &[
    ("!=", ArgComparison::IsNot),
    ("<=", ArgComparison::AtMost),
    (">=", ArgComparison::AtLeast),
    ("=", ArgComparison::Is),
    ("<", ArgComparison::Below),
    (">", ArgComparison::Above),
];

pub(super) fn parse_rule(text: &str) -> Result<Rule, RuleError> {
    if text.len() > 500 {
        return Err(RuleError { column: 500, what: "a rule has at most 500 characters".into() });
    }
    let mut reader = TextParser::new(text);
    let rule = reader.rule()?;
    reader.skip_space();
    if reader.at < text.len() { reader.fail("nothing may follow the closing parenthesis") } else { Ok(rule) }
}

impl<'t> TextParser<'t> {
    fn rule(&mut self) -> Result<Rule, RuleError> {
        self.skip_space();
        let start = self.at;
        let head = self.word()?;
        if !RULES.contains(&head) {
            self.at = start;
            let guess = did_you_mean(head, RULES.iter().copied());
            return self.fail(format!("\"{head}\" is not a rule; {}", if guess.is_empty() { RULES.join(", ") } else { guess }));
        }
        self.expect('(')?;
        let a = self.selector()?;
        let rule = match head {
            "before" => Rule::Before(a, self.second_selector()?),
            "after" => Rule::After(a, self.second_selector()?),
            "immediately_after" => Rule::ImmediatelyAfter(a, self.second_selector()?),
            "never" => Rule::Never(a),
            "never_after" => Rule::NeverAfter(a, self.second_selector()?),
            "eventually" => Rule::Eventually(a),
            "within" => {
                let b = self.second_selector()?;
                self.expect(',')?;
                Rule::Within(a, b, self.seconds()?)
            }
            _ => {
                self.expect(',')?;
                Rule::AtMost(a, self.count()?)
            }
        };
        self.expect(')')?;
        Ok(rule)
    }

    fn second_selector(&mut self) -> Result<ActionSelector, RuleError> {
        self.expect(',')?;
        self.selector()
    }

    fn selector(&mut self) -> Result<ActionSelector, RuleError> {
        let first = self.one_selector()?;
        if self.peek() != Some('|') {
            return Ok(first);
        }
        let mut several = vec![first];
        while self.peek() == Some('|') {
            self.expect('|')?;
            several.push(self.one_selector()?);
        }
        Ok(ActionSelector { what: SelectorTarget::AnyOf(several), tests: vec![] })
    }

    fn one_selector(&mut self) -> Result<ActionSelector, RuleError> {
        let word = self.word()?;
        let what = match word {
            "acts" => {
                let inner = self.parenthesized_word()?;
                match OpPattern::parse(inner) {
                    Some(pattern) => SelectorTarget::Acts(pattern),
                    None => {
                        let guess = did_you_mean(inner, OpPattern::words());
                        let hint = if guess.is_empty() { guess } else { format!("; {guess}") };
                        return self.fail(format!("\"{inner}\" is not an operation or a class of operations{hint}"));
                    }
                }
            }
            "delegate" if self.peek() == Some('(') => SelectorTarget::DelegateTo(self.parenthesized_word()?.to_owned()),
            "guard" => SelectorTarget::Guard(None),
            "guard.approve" => SelectorTarget::Guard(Some(RequiredDecision::Approve)),
            "guard.veto" => SelectorTarget::Guard(Some(RequiredDecision::Veto)),
            "assess" => SelectorTarget::Assess(None),
            "assess.approve" => SelectorTarget::Assess(Some(RequiredDecision::Approve)),
            "assess.veto" => SelectorTarget::Assess(Some(RequiredDecision::Veto)),
            _ => match CLASSES.iter().find(|(known, _)| *known == word) {
                Some((_, class)) => SelectorTarget::Class(*class),
                None => SelectorTarget::Tool(word.to_owned()),
            },
        };
        let tests = if self.peek() == Some('[') { self.tests()? } else { vec![] };
        Ok(ActionSelector { what, tests })
    }

    fn tests(&mut self) -> Result<Vec<ArgTest>, RuleError> {
        self.expect('[')?;
        let mut tests = vec![];
        loop {
            tests.push(self.test()?);
            if self.peek() != Some(',') {
                break;
            }
            self.expect(',')?;
        }
        self.expect(']')?;
        Ok(tests)
    }

    fn test(&mut self) -> Result<ArgTest, RuleError> {
        let arg = if self.peek() == Some('*') {
            self.expect('*')?;
            TestedArg::Any
        } else {
            TestedArg::Param(self.word()?.to_owned())
        };
        self.skip_space();
        let start = self.at;
        let check = self.check()?;
        let equality = matches!(check, ArgCheck::Compare(ArgComparison::Is, _) | ArgCheck::Contains(_) | ArgCheck::Regex(_));
        if arg == TestedArg::Any && !equality {
            self.at = start;
            return self.fail("* takes one of = contains regex");
        }
        Ok(ArgTest { arg, check })
    }

    fn check(&mut self) -> Result<ArgCheck, RuleError> {
        for word in ["contains", "regex"] {
            if !self.rest().strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', '"'])) {
                continue;
            }
            self.at += word.len();
            self.skip_space();
            let start = self.at;
            let value = self.value()?;
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            if text.is_empty() {
                self.at = start;
                return self.fail(format!("{word} needs a text that is not empty"));
            }
            if word == "contains" {
                return Ok(ArgCheck::Contains(text));
            }
            return TextPattern::parse(&text).map(ArgCheck::Regex).or_else(|why| {
                self.at = start;
                self.fail(why)
            });
        }
        Ok(ArgCheck::Compare(self.op()?, self.value()?))
    }

    fn op(&mut self) -> Result<ArgComparison, RuleError> {
        self.skip_space();
        for (sign, op) in ARG_OPS {
            if self.rest().starts_with(sign) {
                self.at += sign.len();
                return Ok(*op);
            }
        }
        self.fail("expected one of = != <= >= < > contains regex")
    }

    fn value(&mut self) -> Result<Value, RuleError> {
        self.skip_space();
        if self.rest().starts_with('"') {
            let inner = &self.rest()[1..];
            let Some(end) = inner.find('"') else { return self.fail("a quoted value lacks its closing quote") };
            self.at += end + 2;
            return Ok(Value::String(inner[..end].to_owned()));
        }
        let length = self.rest().find([',', ']', ' ']).unwrap_or(self.rest().len());
        let word = &self.rest()[..length];
        if word.is_empty() {
            return self.fail("expected a value");
        }
        if word.contains('"') {
            return self.fail("a value with a quote in it must not begin without one");
        }
        self.at += length;
        Ok(serde_json::from_str(word).unwrap_or_else(|_| Value::String(word.to_owned())))
    }

    fn seconds(&mut self) -> Result<u64, RuleError> {
        let number = self.count()?;
        match self.rest().chars().next() {
            Some('s') => {
                self.at += 1;
                Ok(number)
            }
            Some('m') => {
                self.at += 1;
                Ok(number.saturating_mul(60))
            }
            _ => self.fail("a time needs its unit: 30s or 5m"),
        }
    }

    fn count(&mut self) -> Result<u64, RuleError> {
        self.skip_space();
        let length = self.rest().find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest().len());
        match self.rest()[..length].parse() {
            Ok(count) => {
                self.at += length;
                Ok(count)
            }
            Err(_) => self.fail("expected a whole number"),
        }
    }

    fn parenthesized_word(&mut self) -> Result<&'t str, RuleError> {
        self.expect('(')?;
        let word = self.word()?;
        self.expect(')')?;
        Ok(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documented_rules_parse() {
        for text in [
            "before(simulate, write)",
            "before(guard.approve, write)",
            "after(gmx_open_position, gmx_set_stop_loss_take_profit)",
            "immediately_after( ask , say )",
            "never(acts(bridge))",
            "never_after(assess.veto, write)",
            "eventually(delegate(risk-assessor))",
            "within(uniswap_get_quote, acts(swap), 30s)",
            "at_most(uniswap_execute_swap[slippage_bps<=100, chain=\"base\"], 2)",
            "never(write[* = \"0x00000000000000000000000000000000000bad00\"])",
            "never(call[* contains \"bad00\", memo regex \"^[a-z]+$\"])",
            "before(aave_get_user_summary | aave_get_health_factor, acts(repay))",
        ] {
            parse_rule(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
    }

    #[test]
    fn rule_error_has_a_column() {
        let column = |text: &str| parse_rule(text).unwrap_err().column;
        assert_eq!(column("befor(a, b)"), 1);
        assert_eq!(column("before(a b)"), 10);
        assert_eq!(column("before(a, b"), 12);
        assert_eq!(column("at_most(a, x)"), 12);
        assert_eq!(column("never(a) b"), 10);
        assert_eq!(column("never(a[b~1])"), 10);
        assert_eq!(column("never(a[b contains \"\"])"), 20);
        assert_eq!(column("never(a[b regex \"(\"])"), 17);
        assert_eq!(column("never(a[* != 1])"), 11);
        assert_eq!(column("never(a[* <= 1])"), 11);
        assert!(parse_rule("befor(a, b)").unwrap_err().what.contains("did you mean \"before\"?"));
        for hostile in ["", "(", "never(", "never(ä)", "never(a[x=\"])", &"(".repeat(600)] {
            assert!(parse_rule(hostile).is_err(), "{hostile}");
        }
    }
}
