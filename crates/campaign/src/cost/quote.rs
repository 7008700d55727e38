//! Ceiling and likely cost of a trial, before the first token is spent.

use super::expected_session::{ExpectedSession, expected_sessions};
use model::suite::{Case, Surface, Talk};
use model::{Money, Price, SubjectFile, Workspace};
use run::Seat;
use run::providers::ceiling;
use run::subjects::llm::fixed_bytes;
use std::collections::HashMap;

/// One trial of one subject, its judge included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quote {
    /// Holds as long as no answer of a tool is larger than 16 KiB. The budget of the run holds in any case.
    pub ceiling: Money,
    pub likely: Money,
    /// Likely calls to models, and those of them that go to a judge.
    pub calls: u64,
    pub judged: u64,
    /// Whether a model without a known price is asked.
    pub unpriced: bool,
}

/// Models that are asked live in a run, and the trials per case. Replayed replies cost nothing.
#[derive(Debug, Clone, Copy)]
pub struct LiveModels<'a> {
    pub subjects: bool,
    pub judge: Option<&'a SubjectFile>,
    pub trials: u64,
}

/// The yardstick of the specification's durations.
pub(crate) const AT_ONCE: u64 = 8;
pub(crate) const CALL_S: u64 = 3;
/// Bytes that each move adds to the conversation at most, and usually.
const MOST_ADDED: u64 = 16 << 10;
const USUALLY_ADDED: u64 = 800;
/// Usual output of a model in a move, thinking included, in tokens; and bytes per token.
const USUALLY_SAID: u64 = 250;
const BYTES_PER_TOKEN: u64 = 4;
/// A persona tells its facts one by one.
const PERSONA_BYTES: u64 = 600;
/// Bytes around the material that a judge reads, and the most that it is shown of one event.
const JUDGE_BYTES: u64 = 1_600;
const MOST_JUDGED: u64 = 4_000;
/// Vendors cache no prefix shorter than this, and drop one that was not used for so long.
const LEAST_KEPT_TOKENS: u64 = 1_024;
const FORGOTTEN_AFTER_S: u64 = 300;

/// For each case, for each subject.
pub fn quotes(workspace: &Workspace, cases: &[&Case], subjects: &[&SubjectFile], live: &LiveModels<'_>) -> Vec<Quote> {
    let sessions: Vec<Vec<ExpectedSession>> = cases.iter().map(|case| expected_sessions(case)).collect();
    let mut begun: HashMap<&str, u64> = HashMap::new();
    for session in sessions.iter().flatten() {
        *begun.entry(&session.seat).or_default() += live.trials;
    }
    let moves: u64 = sessions.iter().flatten().map(|session| session.moves).sum();
    let models = subjects.iter().filter(|subject| subject.provider.is_llm()).count() as u64;
    let seconds = (moves * live.trials * models).div_ceil(AT_ONCE) * CALL_S;
    let mut bytes = HashMap::new();
    let mut quotes = vec![];
    for (case, sessions) in cases.iter().zip(&sessions) {
        for (n, subject) in subjects.iter().enumerate() {
            let mut quote = Quote::default();
            if live.subjects && subject.provider.is_llm() {
                let mut fixed = |session: &ExpectedSession| -> u64 {
                    *bytes.entry((n, session.seat.clone())).or_insert_with(|| seat_bytes(workspace, case, subject, session))
                };
                let largest = sessions.iter().map(&mut fixed).max().unwrap_or_default();
                let begins: Vec<Begin> = sessions
                    .iter()
                    .map(|session| {
                        let tokens = fixed(session) / BYTES_PER_TOKEN;
                        let of = begun.get(session.seat.as_str()).copied().unwrap_or(1).max(1);
                        Begin { tokens, written: written(workspace, case, subject, of, seconds), of }
                    })
                    .collect();
                quote = play(case, subject, sessions, &begins, largest);
            }
            if let Some(judge) = live.judge.filter(|_| case.expect.rubric.is_some()) {
                quote = with_judge(quote, judge, case, sessions, subject);
            }
            quotes.push(quote);
        }
    }
    quotes
}

/// The beginning that all conversations of a seat share, and how many of them have the vendor keep it.
struct Begin {
    tokens: u64,
    written: u64,
    of: u64,
}

/// As many conversations as are begun at once do not find what the others keep; all of them where it is forgotten in between, or where
/// each is shown tools of its own.
fn written(workspace: &Workspace, case: &Case, subject: &SubjectFile, of: u64, seconds: u64) -> u64 {
    let own_tools = matches!(subject.tools, model::ToolsShown::Pruned(most) if Seat::of(workspace, &case.brief).tools.len() as u64 > most);
    if own_tools || seconds / of > FORGOTTEN_AFTER_S { of } else { of.min(AT_ONCE) }
}

fn play(case: &Case, subject: &SubjectFile, sessions: &[ExpectedSession], begins: &[Begin], largest: u64) -> Quote {
    let usually: u64 = sessions.iter().map(|session| session.moves).sum();
    let Some(price) = &subject.price else { return Quote { calls: usually, unpriced: true, ..Quote::default() } };
    let talk = talk_bytes(&case.brief.talk);
    let likely = sessions.iter().zip(begins).enumerate().map(|(n, (session, begin))| {
        // An agent that is delegated to hears the hand-over first.
        let heard = if n == 0 { talk } else { USUALLY_ADDED };
        conversation(price, begin, session.moves, heard / BYTES_PER_TOKEN)
    });
    let likely = likely.sum::<Money>().plus(price.output_per_mtok.for_tokens(usually * USUALLY_SAID));
    let (limits, most) = (subject.limits, most_moves(case, subject));
    let first = largest.saturating_add(talk);
    let input = most.saturating_mul(first).saturating_add(MOST_ADDED.saturating_mul(most.saturating_mul(most.saturating_sub(1)) / 2));
    let around: Money = (0..most).map(|_| ceiling(price, 0, 0)).sum();
    // The move that passes the limit of tokens may itself be as long as the limit.
    let ceiling = ceiling(price, input, limits.output_tokens.saturating_mul(2)).plus(around);
    Quote { ceiling, likely: likely.min(ceiling), calls: usually, ..Quote::default() }
}

/// On a profile the trial ends with the first move that calls tools; moves that call none are answered by the next turn.
fn most_moves(case: &Case, subject: &SubjectFile) -> u64 {
    match case.brief.surface {
        Surface::Profile(_) => match &case.brief.talk {
            Talk::Turns(turns) => turns.len().max(1) as u64,
            Talk::Persona(_) => 12,
        },
        Surface::Agent(_) | Surface::Skills => subject.limits.turns.saturating_mul(8),
    }
}

/// The input of one conversation: it grows with every move, and all of it is sent each time. Where the vendor keeps beginnings, a move
/// reads what was sent before at the price for that, and has what is new kept for the next one.
fn conversation(price: &Price, begin: &Begin, moves: u64, heard: u64) -> Money {
    let added = USUALLY_ADDED / BYTES_PER_TOKEN;
    let sent = |tokens: u64| price.input_per_mtok.for_tokens(tokens);
    let (fixed, later) = (begin.tokens * moves, moves.saturating_sub(1));
    let Some(read) = price.cache_read_per_mtok.filter(|_| begin.tokens >= LEAST_KEPT_TOKENS) else {
        return sent(fixed + heard * moves + added * (moves * later / 2));
    };
    let write = price.cache_write_per_mtok.unwrap_or(price.input_per_mtok);
    let kept = begin.tokens * begin.written / begin.of;
    // The first message stands alone and is not kept; the second move keeps it with what followed.
    let (new, again) = if later == 0 { (0, 0) } else { (heard + added * later, heard * (later - 1) + added * (later * (later - 1) / 2)) };
    sent(heard).plus(write.for_tokens(kept + new)).plus(read.for_tokens(fixed.saturating_sub(kept) + again))
}

fn with_judge(quote: Quote, judge: &SubjectFile, case: &Case, sessions: &[ExpectedSession], subject: &SubjectFile) -> Quote {
    let asked = Quote { calls: quote.calls + 1, judged: 1, ..quote };
    let Some(price) = &judge.price else { return Quote { unpriced: true, ..asked } };
    let moves: u64 = sessions.iter().map(|session| session.moves).sum();
    let read = JUDGE_BYTES + talk_bytes(&case.brief.talk) + USUALLY_ADDED * moves;
    let likely = price.input_per_mtok.for_tokens(read / BYTES_PER_TOKEN).plus(price.output_per_mtok.for_tokens(USUALLY_SAID));
    let most = ceiling(price, JUDGE_BYTES + MOST_JUDGED * 2 * most_moves(case, subject), judge.limits.output_tokens);
    Quote { ceiling: quote.ceiling.plus(most), likely: quote.likely.plus(likely.min(most)), ..asked }
}

fn seat_bytes(workspace: &Workspace, case: &Case, subject: &SubjectFile, session: &ExpectedSession) -> u64 {
    match &session.agent {
        Some(agent) => fixed_bytes(subject, &Seat::agent(workspace, agent), u32::from(!session.is_root)),
        None => fixed_bytes(subject, &Seat::of(workspace, &case.brief), 0),
    }
}

fn talk_bytes(talk: &Talk) -> u64 {
    match talk {
        Talk::Turns(turns) => turns.iter().map(|turn| turn.value.len() as u64).sum(),
        Talk::Persona(_) => PERSONA_BYTES,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(read: Option<u64>) -> Price {
        let dollars = Money::dollars;
        Price {
            input_per_mtok: dollars(10),
            output_per_mtok: dollars(50),
            cache_read_per_mtok: read.map(dollars),
            cache_write_per_mtok: read.map(|_| dollars(12)),
            as_of: "2026-11-15".into(),
        }
    }

    #[test]
    fn the_first_conversation_has_the_beginning_kept_and_the_others_read_it() {
        let begin = |written, of| Begin { tokens: 100_000, written, of };
        let tokens = |dollars: u64, tokens: u64| Money::dollars(dollars).for_tokens(tokens);
        let alone = conversation(&price(Some(1)), &begin(1, 1), 1, 0);
        assert_eq!(alone, tokens(12, 100_000));
        let one_of_ten = conversation(&price(Some(1)), &begin(1, 10), 1, 0);
        assert_eq!(one_of_ten, tokens(12, 10_000).plus(tokens(1, 90_000)));
        assert_eq!(conversation(&price(None), &begin(1, 10), 1, 0), tokens(10, 100_000), "a vendor that keeps nothing");
    }

    #[test]
    fn a_conversation_reads_what_it_sent_before_and_keeps_what_is_new() {
        let begin = Begin { tokens: 2_000, written: 0, of: 1 };
        let tokens = |dollars: u64, tokens: u64| Money::dollars(dollars).for_tokens(tokens);
        // Three moves: 500 heard, then 200 added twice. Sent afresh 500; kept 700 and 200; read the beginning thrice and 700 once.
        assert_eq!(conversation(&price(Some(1)), &begin, 3, 500), tokens(10, 500).plus(tokens(12, 900)).plus(tokens(1, 6_700)));
        assert_eq!(conversation(&price(None), &begin, 3, 500), tokens(10, 3 * 2_000 + 3 * 500 + 3 * 200));
        let short = Begin { tokens: 1_000, written: 0, of: 1 };
        assert_eq!(conversation(&price(Some(1)), &short, 1, 0), tokens(10, 1_000), "too short to be kept");
    }
}
