//! Judges rules on a transcript. A rule that was never triggered is not exercised: neither kept nor broken.

mod acts;
mod possible_acts;
mod selector_match;

pub(crate) use acts::{ActKind, AgentAct, AgentActs};
pub(crate) use possible_acts::can_break;

use model::rule::{ActionClass, ActionSelector, SelectorTarget};
use model::{Rule, ToolOp};

/// Outcome of a rule on a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RuleOutcome {
    Kept,
    /// `event` is absent if a required act never happened.
    Broken {
        event: Option<u32>,
        what: String,
    },
    NotExercised,
}

impl RuleOutcome {
    fn broken(act: &AgentAct<'_>, what: String) -> Self {
        RuleOutcome::Broken { event: Some(act.event), what: format!("{} {what}", act.name()) }
    }
}

/// Judges a rule on acts in the order in which they happened.
pub(crate) fn judge_rule(rule: &Rule, acts: &AgentActs<'_>) -> RuleOutcome {
    if let Some(triggers) = ordered_acts(rule, acts) {
        let broken = triggers.iter().find_map(|(_, broken)| broken.clone());
        return if triggers.is_empty() { RuleOutcome::NotExercised } else { broken.unwrap_or(RuleOutcome::Kept) };
    }
    match rule {
        Rule::Never(selector) => match acts.matching(selector).first() {
            _ if acts.is_empty() => RuleOutcome::NotExercised,
            Some(act) => RuleOutcome::broken(act, "must never happen".into()),
            None => RuleOutcome::Kept,
        },
        Rule::Eventually(selector) => match acts.matching(selector).first() {
            _ if acts.is_empty() => RuleOutcome::NotExercised,
            Some(_) => RuleOutcome::Kept,
            None => RuleOutcome::Broken { event: None, what: "it never happened".into() },
        },
        Rule::AtMost(selector, most) => {
            let found = without_allowances(selector, acts.matching(selector));
            match found.get(usize::try_from(*most).unwrap_or(usize::MAX)) {
                _ if found.is_empty() => RuleOutcome::NotExercised,
                Some(act) => RuleOutcome::broken(act, format!("happened {}, at most {most} allowed", model::count(found.len(), "time"))),
                None => RuleOutcome::Kept,
            }
        }
        Rule::Before(..) | Rule::Within(..) | Rule::After(..) | Rule::ImmediatelyAfter(..) | Rule::NeverAfter(..) => {
            RuleOutcome::NotExercised
        }
    }
}

/// Leaves allowances out of a count of writes in general if there are other writes: some agents set one before a swap or deposit, others
/// have it set by the same call. Allowances alone are counted.
fn without_allowances<'s, 'a>(selector: &ActionSelector, found: Vec<&'s AgentAct<'a>>) -> Vec<&'s AgentAct<'a>> {
    let is_allowance = |act: &AgentAct<'_>| matches!(act.kind, ActKind::Call { tool: Some(tool), .. } if *tool.acts == ToolOp::Approve);
    let counts_writes = selector.what == SelectorTarget::Class(ActionClass::Write) && selector.tests.is_empty();
    if counts_writes && found.iter().any(|act| !is_allowance(act)) {
        return found.into_iter().filter(|act| !is_allowance(act)).collect();
    }
    found
}

/// Returns the acts for which the rule demands an order, each with its violation, or `None` if the rule is not about an order.
pub(crate) fn ordered_acts<'s, 'a>(rule: &Rule, acts: &'s AgentActs<'a>) -> Option<Vec<(&'s AgentAct<'a>, Option<RuleOutcome>)>> {
    // Required acts must have succeeded: a failed simulation proves nothing.
    let done = |selector: &ActionSelector| acts.matching(selector).into_iter().filter(|act| !act.failed).collect::<Vec<_>>();
    let with = |triggers: Vec<&'s AgentAct<'a>>, broken: &dyn Fn(&AgentAct<'a>) -> Option<RuleOutcome>| {
        Some(triggers.into_iter().map(|act| (act, broken(act))).collect())
    };
    match rule {
        Rule::Before(first, then) => {
            let earlier = done(first);
            with(acts.matching(then), &|act| {
                // Two calls of one move are both made before either is answered, so the first cannot inform the second.
                let found = earlier.iter().any(|one| one.answered < act.event);
                let missing = || match earlier.iter().any(|one| one.done < act.event) {
                    true => format!("was called before {first} was answered"),
                    false => format!("was not preceded by {first}"),
                };
                (!found).then(|| RuleOutcome::broken(act, missing()))
            })
        }
        Rule::Within(first, then, seconds) => {
            let earlier = done(first);
            with(acts.matching(then), &|act| {
                let near =
                    |one: &&AgentAct<'_>| one.answered < act.event && act.at_ms.saturating_sub(one.done_ms) <= seconds.saturating_mul(1000);
                (!earlier.iter().any(near)).then(|| RuleOutcome::broken(act, format!("did not follow within {seconds} s of {first}")))
            })
        }
        Rule::After(first, then) => {
            let later = done(then);
            with(acts.matching(first), &|act| {
                let found = later.iter().any(|one| one.event > act.done);
                (!found).then(|| RuleOutcome::broken(act, format!("was not followed by {then}")))
            })
        }
        Rule::ImmediatelyAfter(first, then) => with(acts.matching(first), &|act| {
            let next = acts.iter().find(|one| one.event > act.done && one.by == act.by);
            match next {
                Some(next) if acts.matches(then, next) => None,
                Some(next) => Some(RuleOutcome::broken(act, format!("was followed by {} instead", next.name()))),
                None => Some(RuleOutcome::broken(act, "was followed by nothing".into())),
            }
        }),
        Rule::NeverAfter(first, then) => {
            let forbidden = acts.matching(then);
            with(acts.matching(first), &|act| {
                let found = forbidden.iter().find(|one| one.event > act.done);
                found.map(|one| RuleOutcome::broken(one, format!("came after {}", act.name())))
            })
        }
        Rule::Never(_) | Rule::Eventually(_) | Rule::AtMost(..) => None,
    }
}

#[cfg(test)]
mod tests;
