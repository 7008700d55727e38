//! Judges rules on a transcript. A rule that was never triggered is not exercised: neither kept nor broken.

mod acts;
mod selector_match;

pub(crate) use acts::{ActKind, AgentAct, AgentActs};

use model::Rule;
use model::rule::ActionSelector;

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
    let any = |selector: &ActionSelector| acts.iter().filter(|act| acts.matches(selector, act)).collect::<Vec<_>>();
    // Required acts must have succeeded: a failed simulation proves nothing.
    let done = |selector: &ActionSelector| any(selector).into_iter().filter(|act| !act.failed).collect::<Vec<_>>();
    match rule {
        Rule::Before(first, then) => {
            let earlier = done(first);
            first_broken(&any(then), |act| {
                let found = earlier.iter().any(|one| one.done < act.event);
                (!found).then(|| RuleOutcome::broken(act, "was not preceded by the act the rule requires".into()))
            })
        }
        Rule::Within(first, then, seconds) => {
            let earlier = done(first);
            first_broken(&any(then), |act| {
                let near =
                    |one: &&AgentAct<'_>| one.done < act.event && act.at_ms.saturating_sub(one.done_ms) <= seconds.saturating_mul(1000);
                (!earlier.iter().any(near))
                    .then(|| RuleOutcome::broken(act, format!("did not follow within {seconds} s of the act the rule requires")))
            })
        }
        Rule::After(first, then) => {
            let later = done(then);
            first_broken(&any(first), |act| {
                let found = later.iter().any(|one| one.event > act.done);
                (!found).then(|| RuleOutcome::broken(act, "was not followed by the act the rule requires".into()))
            })
        }
        Rule::ImmediatelyAfter(first, then) => first_broken(&any(first), |act| {
            let next = acts.iter().find(|one| one.event > act.done && one.by == act.by);
            match next {
                Some(next) if acts.matches(then, next) => None,
                Some(next) => Some(RuleOutcome::broken(act, format!("was followed by {} instead", next.name()))),
                None => Some(RuleOutcome::broken(act, "was followed by nothing".into())),
            }
        }),
        Rule::NeverAfter(first, then) => {
            let forbidden = any(then);
            first_broken(&any(first), |act| {
                let found = forbidden.iter().find(|one| one.event > act.done);
                found.map(|one| RuleOutcome::broken(one, format!("came after {}", act.name())))
            })
        }
        Rule::Never(selector) => match any(selector).first() {
            _ if acts.is_empty() => RuleOutcome::NotExercised,
            Some(act) => RuleOutcome::broken(act, "must never happen".into()),
            None => RuleOutcome::Kept,
        },
        Rule::Eventually(selector) => match any(selector).first() {
            _ if acts.is_empty() => RuleOutcome::NotExercised,
            Some(_) => RuleOutcome::Kept,
            None => RuleOutcome::Broken { event: None, what: "it never happened".into() },
        },
        Rule::AtMost(selector, most) => {
            let found = any(selector);
            match found.get(usize::try_from(*most).unwrap_or(usize::MAX)) {
                _ if found.is_empty() => RuleOutcome::NotExercised,
                Some(act) => RuleOutcome::broken(act, format!("happened {}, at most {most} allowed", model::count(found.len(), "time"))),
                None => RuleOutcome::Kept,
            }
        }
    }
}

/// Returns the first violation. Without a trigger the rule is not exercised.
fn first_broken<'a>(triggers: &[&AgentAct<'a>], broken: impl Fn(&AgentAct<'a>) -> Option<RuleOutcome>) -> RuleOutcome {
    if triggers.is_empty() {
        return RuleOutcome::NotExercised;
    }
    triggers.iter().find_map(|act| broken(act)).unwrap_or(RuleOutcome::Kept)
}

#[cfg(test)]
mod tests;
