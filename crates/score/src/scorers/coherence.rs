//! Multi-turn coherence (spec 2.3): values given in one turn are kept in later ones.

use super::{Evidence, EvidenceFixture, Scorer, ScorerFinding};
use crate::compare::TypedArgs;
use crate::example::ExampleWorkspace;
use crate::facts::intent_terms::delegation_params;
use crate::facts::skill_run::starts_skill_run;
use crate::facts::turns::{carry_stated_at, fact_revealed_at};
use crate::facts::user_questions::plain_question_in;
use lexical::{has_question_mark, sentences};
use model::suite::{Case, SuiteKind, UserScript};
use model::{Event, EventKind, ParamKind, Reading, ScoreReason, ScorerId, Tool, Workspace};
use serde_json::{Value, json};
use std::mem::discriminant;

pub(super) struct CoherenceScorer;

impl Scorer for CoherenceScorer {
    fn id(&self) -> ScorerId {
        ScorerId::Coherence
    }

    fn manual(&self) -> &'static str {
        "Checks that values the user gave in one turn are kept in later turns. One tally per later use of such a value in skill \
         parameters, in a call or in a delegation, compared by kind, until the user corrects it. A skill or a write that takes the value \
         but omits it misses. A question for a value that was given and not corrected adds one tally and misses, unless it repeats the \
         value for confirmation. A question that repeats an answered one word for word also misses. Questions are recognised by their \
         wording: which, what or how much, with the name of the slot or of its kind. An offer to go on when the user has decided is none."
    }

    fn concerns(&self, _: &Workspace, case: &Case) -> bool {
        case.kind == SuiteKind::Skills && !case.expect.carry.is_empty()
    }

    fn applies(&self, workspace: &Workspace, case: &Case) -> bool {
        self.concerns(workspace, case) || (case.kind == SuiteKind::Skills && !case.expect.ask.is_empty())
    }

    fn score(&self, evidence: &Evidence<'_>) -> ScorerFinding {
        let slots = slots(evidence);
        let (mut hit, mut of, mut because) = (0, 0, vec![]);
        for event in &evidence.transcript.events {
            for slot in slots.iter().filter(|slot| slot.is_in_force(event.n)) {
                let Some(kept) = slot.is_kept(evidence, event) else { continue };
                of += 1;
                hit += u64::from(kept);
                if !kept {
                    because.push(ScoreReason {
                        event: Some(event.n),
                        what: format!("{} is not {}, which the user had given", slot.name, slot.value),
                    });
                }
            }
        }
        let again = repeated_questions(evidence, &slots);
        of += again.len() as u64;
        because.extend(again);
        ScorerFinding { reading: Reading::Tally { hit, of }, because }
    }

    fn accepts(&self) -> EvidenceFixture {
        fixture(vec![user("Turn my ether into USDC."), asked("How much of it?"), user("Half an ether."), activated("ETH")])
    }

    fn rejects(&self) -> EvidenceFixture {
        fixture(vec![user("Turn my ether into USDC."), asked("How much of it?"), user("Half an ether."), activated("WETH")])
    }
}

/// Value given by the user, in force from one event until another.
struct CarriedSlot<'a> {
    name: &'a str,
    value: &'a Value,
    kind: Option<&'a ParamKind>,
    /// The only parameter of the skill with this kind, so a word for the kind means this slot.
    only_one: bool,
    from: u32,
    until: u32,
    /// Later uses are counted. Values that the subject had to ask for are scored by `parameter_extraction`.
    is_carried: bool,
}

fn slots<'a>(evidence: &Evidence<'a>) -> Vec<CarriedSlot<'a>> {
    let expect = &evidence.case.expect;
    let turns: Vec<u32> = evidence.transcript.events.iter().filter(|event| is_user(event)).map(|event| event.n).collect();
    let turn = |n: u64| usize::try_from(n).ok().and_then(|n| turns.get(n.checked_sub(1)?)).copied();
    let carried = expect.carry.iter().filter_map(|carry| {
        let from = carry_stated_at(evidence, carry)?;
        let corrected = expect.carry.iter().filter(|other| other.slot == carry.slot).filter_map(|other| carry_stated_at(evidence, other));
        let named = carry.until.as_deref().and_then(|until| until.parse().ok()).and_then(turn);
        let until = corrected.filter(|other| *other > from).chain(named).min();
        Some(new_slot(evidence, &carry.slot, &carry.value, from, until, true))
    });
    // The answer to the first question for this value, read as strictly as a repetition is; an earlier question may be about another.
    let revealed = |slot: &CarriedSlot<'_>| {
        let is_asked = |event: &&Event| present_question(event).is_some_and(|text| slot.is_asked_for(&text));
        let asked = evidence.transcript.events.iter().find(is_asked)?.n;
        turns.iter().copied().find(|turn| *turn > asked)
    };
    let asked_for = expect.ask.iter().filter(|name| !expect.carry.iter().any(|carry| carry.slot == **name)).filter_map(|name| {
        // A persona reveals each fact when asked for it, not all at the first question.
        let slot = |from: u32| new_slot(evidence, name, expect.params.get(name).unwrap_or(&Value::Null), from, None, false);
        let from = if is_fact(evidence.case, name) { fact_revealed_at(evidence, name, false) } else { revealed(&slot(0)) };
        from.map(slot)
    });
    carried.chain(asked_for).collect()
}

fn new_slot<'a>(
    evidence: &Evidence<'a>,
    name: &'a str,
    value: &'a Value,
    from: u32,
    until: Option<u32>,
    is_carried: bool,
) -> CarriedSlot<'a> {
    let skill = evidence.case.expect.skill.as_ref().and_then(|skill| evidence.workspace.skill(skill));
    let params = skill.map(|skill| &skill.params);
    let kind = params.and_then(|params| params.get(name)).and_then(|param| param.kind.as_ref());
    let like = |other: &ParamKind| kind.is_some_and(|kind| discriminant(kind) == discriminant(other));
    let only_one =
        params.is_some_and(|params| params.values().filter_map(|param| param.kind.as_ref()).filter(|kind| like(kind)).count() == 1);
    CarriedSlot { name, value, kind, only_one, from, until: until.unwrap_or(u32::MAX), is_carried }
}

fn is_fact(case: &Case, name: &str) -> bool {
    matches!(&case.brief.user_script, UserScript::Persona(persona) if persona.facts.contains_key(name))
}

fn is_user(event: &Event) -> bool {
    matches!(event.happened, EventKind::UserSaid { .. })
}

impl CarriedSlot<'_> {
    fn is_in_force(&self, event: u32) -> bool {
        (self.from..self.until).contains(&event)
    }

    /// Returns whether the event uses the value unchanged; `None` if it does not take the value.
    fn is_kept(&self, evidence: &Evidence<'_>, event: &Event) -> Option<bool> {
        if !self.is_carried {
            return None;
        }
        let workspace = evidence.workspace;
        if let EventKind::Activated { skill, params } = &event.happened {
            let skill = workspace.skill(skill).filter(|skill| skill.params.contains_key(self.name))?;
            return Some(TypedArgs::new(workspace, &skill.params, params).matches_in_any_order(self.name, self.value));
        }
        // The hand-over of a skill repeats its activation.
        if starts_skill_run(evidence, event) {
            return None;
        }
        if let EventKind::Delegated { to, params } = &event.happened {
            let kinds = delegation_params(workspace, to, params);
            return params.contains_key(self.name).then(|| TypedArgs::new(workspace, &kinds, params).matches(self.name, self.value));
        }
        if let EventKind::Called { tool, args, .. } = &event.happened {
            let tool = workspace.tool(tool)?;
            let name = self.param_of(tool)?;
            let given = TypedArgs::for_call(workspace, tool, args);
            // An action sent by id needs no other arguments; the preparing call was checked.
            let must_state = tool.writes() && args.get("action_id").is_none();
            return (given.value(name).is_some() || must_state).then(|| given.keeps(name, self.value));
        }
        None
    }

    /// Returns the tool's parameter for this slot: same name, or the only one of the same kind and role.
    fn param_of<'t>(&self, tool: &'t Tool) -> Option<&'t str> {
        if let Some((name, _)) = tool.params.get_key_value(self.name) {
            return Some(name);
        }
        let mut alike = tool.params.iter().filter(|(_, param)| self.kind.is_some() && param.kind.as_ref() == self.kind);
        let (name, _) = alike.next()?;
        alike.next().is_none().then_some(name)
    }

    /// Returns whether a question asks for this slot, by its name, or by its kind if that is unambiguous.
    fn is_asked_for(&self, question: &str) -> bool {
        let question = normalize_words(question);
        let value = normalize_words(self.value.as_str().unwrap_or(&self.value.to_string()));
        if !value.is_empty() && contains_phrase(&question, &value) {
            return false;
        }
        let name = self.name.replace('_', " ");
        let by_name = QUESTION_OPENERS.iter().any(|asking| contains_phrase(&question, &format!("{asking} {name}")));
        by_name
            || (self.only_one
                && self.kind.is_some_and(|kind| question_phrases(kind).iter().any(|phrase| contains_phrase(&question, phrase))))
    }
}

const QUESTION_OPENERS: [&str; 7] = ["which", "what", "what is the", "what s the", "tell me the", "give me the", "need the"];

/// Phrases in questions for a value of this kind.
fn question_phrases(kind: &ParamKind) -> &'static [&'static str] {
    match kind {
        ParamKind::Amount { .. } => &["how much", "how many", "what amount", "which amount", "what size"],
        ParamKind::Token(_) => &["which token", "what token", "which coin", "what coin", "which asset", "what asset"],
        ParamKind::Chain(_) => &["which chain", "what chain", "which network", "what network"],
        ParamKind::Address(_) => &["which address", "what address", "whose address", "to whom", "which wallet"],
        ParamKind::Bps => &["how much slippage", "what slippage", "which slippage"],
        ParamKind::Deadline | ParamKind::Duration(_) | ParamKind::Timestamp => &["by when", "until when", "how long"],
        ParamKind::Percent
        | ParamKind::Ratio
        | ParamKind::Price(_)
        | ParamKind::Tick(_)
        | ParamKind::FeeTier
        | ParamKind::Count
        | ParamKind::Number
        | ParamKind::Id(_)
        | ParamKind::Flag
        | ParamKind::Enum
        | ParamKind::Text
        | ParamKind::Data
        | ParamKind::Url
        | ParamKind::Object
        | ParamKind::List(_) => &[],
    }
}

/// Returns lower-case words separated by single spaces.
fn normalize_words(text: &str) -> String {
    let words = text.to_lowercase();
    words.split(|c: char| !c.is_alphanumeric() && c != '.').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn contains_phrase(text: &str, phrase: &str) -> bool {
    format!(" {text} ").contains(&format!(" {phrase} "))
}

/// Returns questions for values already given, and questions already answered.
fn repeated_questions(evidence: &Evidence<'_>, slots: &[CarriedSlot<'_>]) -> Vec<ScoreReason> {
    let events = &evidence.transcript.events;
    let mut answered: Vec<String> = vec![];
    let mut open: Vec<String> = vec![];
    let mut again = vec![];
    for event in events {
        if is_user(event) {
            answered.append(&mut open);
        }
        let Some(text) = present_question(event) else { continue };
        let known = slots.iter().find(|slot| slot.is_in_force(event.n) && slot.is_asked_for(&text));
        if let Some(slot) = known {
            again.push(ScoreReason { event: Some(event.n), what: format!("asks for {}, which the user had already given", slot.name) });
        } else if answered.contains(&normalize_words(&text)) {
            again.push(ScoreReason { event: Some(event.n), what: "repeats a question the user had already answered".into() });
        }
        open.push(normalize_words(&text));
    }
    again
}

/// Phrases of an offer for later: "Tell me the price when you have one."
const LATER_PHRASES: [&str; 17] = [
    "when you",
    "when there",
    "when it",
    "once you",
    "once there",
    "once it",
    "as soon as",
    "whenever",
    "if you",
    "should you",
    "in case you",
    "until you",
    "later",
    "another time",
    "another day",
    "next time",
    "come back",
];

/// Returns the words of an event that ask for a value now. A sentence without a question mark that offers to go on later asks nothing.
fn present_question(event: &Event) -> Option<String> {
    let asks_now = |sentence: &String| {
        let words = normalize_words(sentence.trim_end_matches('.'));
        has_question_mark(sentence) || !LATER_PHRASES.iter().any(|phrase| contains_phrase(&words, phrase))
    };
    let text = plain_question_in(event)?;
    let asking: Vec<String> = sentences(&text).into_iter().filter(asks_now).collect();
    (!asking.is_empty()).then(|| asking.join(" "))
}

fn fixture(events: Vec<(&str, EventKind)>) -> EvidenceFixture {
    let with = "      skill: swap\n      ask: [amount]\n      carry: [{ slot: token_in, value: ETH, from_turn: 1 }, { slot: chain, value: base, from_turn: 1 }]\n";
    let example = ExampleWorkspace::minimal().edit("suites/skills/swap.yaml", "      skill: swap\n", with);
    EvidenceFixture::within(&example, "convert_half_an_ether", events)
}

fn user(text: &str) -> (&'static str, EventKind) {
    ("user", EventKind::UserSaid { text: text.into() })
}

fn asked(text: &str) -> (&'static str, EventKind) {
    ("assistant", EventKind::Asked { text: text.into() })
}

fn activated(token: &str) -> (&'static str, EventKind) {
    let params = json!({"token_in": token, "token_out": "USDC", "amount": "0.5"});
    ("assistant", EventKind::Activated { skill: "swap".into(), params: params.as_object().cloned().unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(events: Vec<(&str, EventKind)>) -> Reading {
        CoherenceScorer.score(&fixture(events).evidence()).reading
    }

    #[test]
    fn asking_for_given_value_misses_confirming_does_not() {
        let with = |question: &str| read(vec![user("My ether on Base, into USDC."), asked(question), user("0.5"), activated("ETH")]);
        let clean = Reading::Tally { hit: 2, of: 2 };
        let miss = Reading::Tally { hit: 2, of: 3 };
        assert_eq!(with("How much of it?"), clean);
        assert_eq!(with("Which chain is it on?"), miss);
        assert_eq!(with("On which network?"), miss);
        assert_eq!(with("Which token in, please?"), miss);
        assert_eq!(with("Is the chain Base?"), clean);
        assert_eq!(with("Which chain, Base?"), clean, "it repeats the value");
        assert_eq!(with("Which token?"), clean, "it may mean the other token");
    }

    #[test]
    fn repeated_question_misses() {
        let once = vec![user("Ether into USDC."), asked("How much?"), user("0.5")];
        let twice = [once.clone(), vec![asked("How many ether?"), user("I said it: 0.5"), activated("ETH")]].concat();
        assert_eq!(read([once, vec![activated("ETH")]].concat()), Reading::Tally { hit: 2, of: 2 });
        assert_eq!(read(twice), Reading::Tally { hit: 2, of: 3 });
        let same =
            vec![user("Ether into USDC."), asked("Are you sure?"), user("Yes."), asked("are you sure"), user("Yes!"), activated("ETH")];
        assert_eq!(read(same), Reading::Tally { hit: 2, of: 3 });
    }

    #[test]
    fn offer_for_later_repeats_no_question() {
        let with = |last: &str| {
            let said = ("assistant", EventKind::Said { text: last.into() });
            read(vec![user("Ether into USDC."), asked("How much?"), user("0.5"), said, user("I said it: 0.5"), activated("ETH")])
        };
        for offer in [
            "Then I leave it. Tell me the amount when you have one.",
            "Let me know the amount once you have decided.",
            "Tell me the amount as soon as there is one.",
            "No problem, come back and tell me the amount.",
            "You can tell me the amount later.",
        ] {
            assert!(!with(offer).is_violation(), "{offer}");
        }
        for question in ["How much is it?", "Which amount, when you have one?"] {
            assert!(with(question).is_violation(), "{question}");
        }
    }

    #[test]
    fn value_counts_as_given_after_the_question_for_it() {
        let with = |second: &str| {
            read(vec![user("Ether into USDC."), asked("Are you sure?"), user("Yes."), asked(second), user("0.5"), activated("ETH")])
        };
        assert_eq!(with("How much?"), Reading::Tally { hit: 2, of: 2 }, "the first question was about something else");
        let again = vec![user("Ether."), asked("Sure?"), user("Yes."), asked("How much?"), user("0.5"), asked("How many?"), user("0.5!")];
        assert_eq!(read([again, vec![activated("ETH")]].concat()), Reading::Tally { hit: 2, of: 3 });
    }

    #[test]
    fn correction_replaces_carried_value() {
        let carry = "      skill: swap\n      carry: [{ slot: token_in, value: ETH, from_turn: 1 }, { slot: token_in, value: WETH, from_turn: 2 }]\n";
        let example = ExampleWorkspace::minimal().edit("suites/skills/swap.yaml", "      skill: swap\n", carry);
        let read = |token| {
            let events = vec![user("Sell my ether."), asked("All of it?"), user("Sorry, I meant the wrapped one."), activated(token)];
            CoherenceScorer.score(&EvidenceFixture::within(&example, "convert_half_an_ether", events).evidence()).reading
        };
        assert_eq!(read("WETH"), Reading::Tally { hit: 1, of: 1 });
        assert_eq!(read("ETH"), Reading::Tally { hit: 0, of: 1 });
    }

    #[test]
    fn persona_fact_is_carried_once_revealed() {
        let persona = r#"persona: { opening: Sell some ether., goal: Sell it., facts: { amount: "0.5", chain: On Base. },
        corrections: [{ fact: amount, says: "No, 0.75." }] }"#;
        let carry = "      skill: swap\n      ask: [chain, amount]\n      carry: [{ slot: amount, value: \"0.5\", from_fact: amount }, { slot: amount, value: \"0.75\", from_correction: amount }]\n";
        let turns = "turns: [\"I have half an ether doing nothing on Base, turn it into USDC for me.\"]";
        let example = ExampleWorkspace::minimal().edit("suites/skills/swap.yaml", turns, persona).edit(
            "suites/skills/swap.yaml",
            "      skill: swap\n",
            carry,
        );
        let revealed = |corrected| ("user", EventKind::Revealed { fact: "amount".into(), corrected });
        let read = |events: Vec<(&str, EventKind)>| {
            let first = vec![
                user("Sell some ether."),
                asked("Which chain?"),
                user("On Base."),
                ("user", EventKind::Revealed { fact: "chain".into(), corrected: false }),
            ];
            let events = [first, vec![asked("How much?"), user("0.5"), revealed(false)], events].concat();
            CoherenceScorer.score(&EvidenceFixture::within(&example, "convert_half_an_ether", events).evidence()).reading
        };
        assert_eq!(read(vec![activated("ETH")]), Reading::Tally { hit: 1, of: 1 }, "asking for one fact after another is not a repetition");
        assert_eq!(read(vec![user("No, 0.75."), revealed(true), activated("ETH")]), Reading::Tally { hit: 0, of: 1 }, "the old amount");
        assert_eq!(read(vec![asked("Which chain?"), user("On Base."), activated("ETH")]), Reading::Tally { hit: 1, of: 2 }, "asked again");
    }

    #[test]
    fn calls_are_matched_to_carried_slots_by_param() {
        let call = |args: Value| ("trader", EventKind::Called { call: 1, tool: "swap_execute".into(), args });
        let read = |args: Value| read(vec![user("Sell my ether on Base."), call(args)]);
        assert_eq!(read(json!({"token_in": "eth", "chain": 8453})), Reading::Tally { hit: 2, of: 2 });
        assert_eq!(read(json!({"token_in": "USDC", "chain": 1})), Reading::Tally { hit: 0, of: 2 });
        assert_eq!(read(json!({"chain": "base"})), Reading::Tally { hit: 1, of: 2 }, "a write that omits the token");
        assert_eq!(read(json!({"action_id": "a1"})), Reading::Tally { hit: 1, of: 1 }, "the chain is the default");
    }
}
