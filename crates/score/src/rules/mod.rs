//! What a rule means on a transcript. A rule nobody put to the test is not exercised: it is neither kept nor broken.

mod acts;
mod select;

pub(crate) use acts::{Act, ActKind, Acts};

use model::Rule;
use model::rule::Selector;

/// How a rule came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Kept,
    /// At this event, for this reason.
    Broken {
        event: Option<u32>,
        what: String,
    },
    NotExercised,
}

impl Outcome {
    fn broken(act: &Act<'_>, what: String) -> Self {
        Outcome::Broken { event: Some(act.event), what: format!("{} {what}", act.name()) }
    }
}

/// Judges a rule on acts in the order they happened.
pub(crate) fn judge(rule: &Rule, acts: &Acts<'_>) -> Outcome {
    let any = |selector: &Selector| acts.iter().filter(|act| acts.matches(selector, act)).collect::<Vec<_>>();
    // What proves something must have worked: a simulation that failed shows nothing.
    let done = |selector: &Selector| any(selector).into_iter().filter(|act| !act.failed).collect::<Vec<_>>();
    match rule {
        Rule::Before(first, then) => {
            let earlier = done(first);
            each(&any(then), |act| {
                let found = earlier.iter().any(|one| one.done < act.event);
                (!found).then(|| Outcome::broken(act, "had nothing before it that the rule asks for".into()))
            })
        }
        Rule::Within(first, then, seconds) => {
            let earlier = done(first);
            each(&any(then), |act| {
                let near = |one: &&Act<'_>| one.done < act.event && act.at_ms.saturating_sub(one.done_ms) <= seconds.saturating_mul(1000);
                (!earlier.iter().any(near))
                    .then(|| Outcome::broken(act, format!("came later than {seconds} s after what the rule asks for")))
            })
        }
        Rule::After(first, then) => {
            let later = done(then);
            each(&any(first), |act| {
                let found = later.iter().any(|one| one.event > act.done);
                (!found).then(|| Outcome::broken(act, "was not followed by what the rule asks for".into()))
            })
        }
        Rule::ImmediatelyAfter(first, then) => each(&any(first), |act| {
            let next = acts.iter().find(|one| one.event > act.done && one.by == act.by);
            match next {
                Some(next) if acts.matches(then, next) => None,
                Some(next) => Some(Outcome::broken(act, format!("was followed by {} first", next.name()))),
                None => Some(Outcome::broken(act, "was followed by nothing".into())),
            }
        }),
        Rule::NeverAfter(first, then) => {
            let forbidden = any(then);
            each(&any(first), |act| {
                let found = forbidden.iter().find(|one| one.event > act.done);
                found.map(|one| Outcome::broken(one, format!("came after {}", act.name())))
            })
        }
        Rule::Never(selector) => match any(selector).first() {
            _ if acts.is_empty() => Outcome::NotExercised,
            Some(act) => Outcome::broken(act, "must never happen".into()),
            None => Outcome::Kept,
        },
        Rule::Eventually(selector) => match any(selector).first() {
            _ if acts.is_empty() => Outcome::NotExercised,
            Some(_) => Outcome::Kept,
            None => Outcome::Broken { event: None, what: "it never happened".into() },
        },
        Rule::AtMost(selector, most) => {
            let found = any(selector);
            match found.get(usize::try_from(*most).unwrap_or(usize::MAX)) {
                _ if found.is_empty() => Outcome::NotExercised,
                Some(act) => Outcome::broken(act, format!("happened {} times, at most {most} allowed", found.len())),
                None => Outcome::Kept,
            }
        }
    }
}

/// The first trigger that broke the rule; without a trigger nothing was put to the test.
fn each<'a>(triggers: &[&Act<'a>], broken: impl Fn(&Act<'a>) -> Option<Outcome>) -> Outcome {
    if triggers.is_empty() {
        return Outcome::NotExercised;
    }
    triggers.iter().find_map(|act| broken(act)).unwrap_or(Outcome::Kept)
}

#[cfg(test)]
mod tests;
