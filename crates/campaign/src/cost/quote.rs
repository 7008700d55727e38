//! Ceiling and likely cost of a trial before it is run.

use super::expected_session::{ExpectedSession, expected_sessions};
use model::suite::attack::GoalRewrite;
use model::suite::{Case, CaseSurface, UserScript};
use model::{ModelPrice, Money, SubjectFile, Workspace};
use run::AgentContext;
use run::providers::ceiling;
use run::subjects::llm::fixed_prompt_bytes;
use std::collections::HashMap;

/// Cost of one trial of one subject, including the judge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TrialQuote {
    /// Upper bound if no tool answer exceeds 16 KiB. The budget of the run is enforced in any case.
    pub ceiling: Money,
    pub likely: Money,
    /// Amount that the first call reserves until its reply is charged.
    pub first_call: Money,
    /// Likely number of model calls, including `judge_calls`.
    pub calls: u64,
    pub judge_calls: u64,
    /// True if a model without a known price is called.
    pub unpriced: bool,
}

/// Models called live in a run, and the trials per case. Replayed replies are free.
#[derive(Debug, Clone, Copy)]
pub struct LiveModels<'a> {
    pub subjects: bool,
    pub judge: Option<&'a SubjectFile>,
    pub attacker: Option<&'a SubjectFile>,
    pub trials: u64,
}

/// Concurrency and duration of calls assumed by the durations in the specification.
pub(crate) const ASSUMED_CONCURRENCY: u64 = 8;
pub(crate) const ASSUMED_CALL_S: u64 = 3;
/// Maximum and typical bytes that a move adds to the conversation.
const MAX_BYTES_PER_MOVE: u64 = 16 << 10;
const TYPICAL_BYTES_PER_MOVE: u64 = 800;
/// Typical output of a model per move, including thinking, in tokens; and bytes per token.
const TYPICAL_OUTPUT_TOKENS: u64 = 250;
const BYTES_PER_TOKEN: u64 = 4;
/// Typical bytes of all messages of a persona.
const PERSONA_BYTES: u64 = 600;
/// Typical output of a judge: a verdict, a score and two sentences.
const TYPICAL_VERDICT_TOKENS: u64 = 120;
/// Bytes of a judge prompt besides the material, and maximum bytes shown of one event.
const JUDGE_BYTES: u64 = 1_600;
const MAX_JUDGED_EVENT_BYTES: u64 = 4_000;
/// Bytes of an attacker's prompt without earlier tries, and typical and maximum bytes that a try adds to it.
const ATTACKER_BYTES: u64 = 1_600;
const ATTACKER_BYTES_PER_TRY: u64 = 2_000;
const MAX_ATTACKER_BYTES_PER_TRY: u64 = 28_000;
/// Shortest prefix that vendors cache, and lifetime of an unused cache entry.
const MIN_CACHED_TOKENS: u64 = 1_024;
const PROMPT_CACHE_TTL_S: u64 = 300;

/// Returns one quote per case and subject, grouped by case.
pub fn trial_quotes(workspace: &Workspace, cases: &[&Case], subjects: &[&SubjectFile], live: &LiveModels<'_>) -> Vec<TrialQuote> {
    let sessions: Vec<Vec<ExpectedSession>> = cases.iter().map(|case| expected_sessions(case)).collect();
    let mut begun: HashMap<&str, u64> = HashMap::new();
    for session in sessions.iter().flatten() {
        *begun.entry(&session.prompt_key).or_default() += live.trials;
    }
    let moves: u64 = sessions.iter().flatten().map(|session| session.moves).sum();
    let models = subjects.iter().filter(|subject| subject.provider.is_llm()).count() as u64;
    let seconds = (moves * live.trials * models).div_ceil(ASSUMED_CONCURRENCY) * ASSUMED_CALL_S;
    let mut bytes = HashMap::new();
    let mut quotes = vec![];
    for (case, sessions) in cases.iter().zip(&sessions) {
        for (n, subject) in subjects.iter().enumerate() {
            let mut quote = TrialQuote::default();
            if live.subjects && subject.provider.is_llm() {
                let mut fixed = |session: &ExpectedSession| -> u64 {
                    *bytes.entry((n, session.prompt_key.clone())).or_insert_with(|| prompt_bytes(workspace, case, subject, session))
                };
                let largest = sessions.iter().map(&mut fixed).max().unwrap_or_default();
                let begins: Vec<SharedPrefix> = sessions
                    .iter()
                    .map(|session| {
                        let tokens = fixed(session) / BYTES_PER_TOKEN;
                        let of = begun.get(session.prompt_key.as_str()).copied().unwrap_or(1).max(1);
                        SharedPrefix { tokens, cache_writes: cache_write_count(workspace, case, subject, of, seconds), sessions: of }
                    })
                    .collect();
                quote = subject_quote(case, subject, sessions, &begins, largest);
            }
            if let Some(rewrite) = case.attack.as_deref().and_then(|attack| attack.rewrite.as_ref()) {
                quote = add_tries(quote, live.attacker, rewrite);
            }
            if let Some(judge) = live.judge.filter(|_| case.expect.rubric.is_some()) {
                quote = add_judge_cost(quote, judge, case, sessions, subject);
            }
            quotes.push(quote);
        }
    }
    quotes
}

/// Prompt prefix shared by sessions, and the number of sessions that write it to the vendor's prompt cache.
struct SharedPrefix {
    tokens: u64,
    cache_writes: u64,
    sessions: u64,
}

/// Returns the number of sessions that write the prefix to the cache: those started concurrently at first, or all if the entry expires
/// in between or each session gets different tools.
fn cache_write_count(workspace: &Workspace, case: &Case, subject: &SubjectFile, of: u64, seconds: u64) -> u64 {
    let own_tools = matches!(subject.tools, model::ToolsShown::Pruned(most) if AgentContext::for_brief(workspace, &case.brief).tools.len() as u64 > most);
    if own_tools || seconds / of > PROMPT_CACHE_TTL_S { of } else { of.min(ASSUMED_CONCURRENCY) }
}

fn subject_quote(case: &Case, subject: &SubjectFile, sessions: &[ExpectedSession], begins: &[SharedPrefix], largest: u64) -> TrialQuote {
    let usually: u64 = sessions.iter().map(|session| session.moves).sum();
    let Some(price) = &subject.price else { return TrialQuote { calls: usually, unpriced: true, ..TrialQuote::default() } };
    let talk = talk_bytes(&case.brief.user_script);
    let likely = sessions.iter().zip(begins).enumerate().map(|(n, (session, begin))| {
        // A delegated agent starts with the delegation message.
        let opening = if n == 0 { talk } else { TYPICAL_BYTES_PER_MOVE };
        input_cost(price, begin, session.moves, opening / BYTES_PER_TOKEN)
    });
    let likely = likely.sum::<Money>().saturating_add(price.output_per_mtok.cost_of_tokens(usually * TYPICAL_OUTPUT_TOKENS));
    let (limits, most) = (subject.limits, max_moves(case, subject));
    let first = largest.saturating_add(talk);
    let input =
        most.saturating_mul(first).saturating_add(MAX_BYTES_PER_MOVE.saturating_mul(most.saturating_mul(most.saturating_sub(1)) / 2));
    let around: Money = (0..most).map(|_| ceiling(price, 0, 0)).sum();
    // The move that exceeds the token limit may itself be as long as the limit.
    let ceiling = ceiling(price, input, limits.output_tokens.saturating_mul(2)).saturating_add(around);
    let first_call = run::providers::ceiling(price, first, limits.output_tokens);
    TrialQuote { ceiling, likely: likely.min(ceiling), first_call, calls: usually, ..TrialQuote::default() }
}

/// Returns the maximum number of moves. On a profile, the trial ends with the first move that calls tools; other moves take one turn each.
fn max_moves(case: &Case, subject: &SubjectFile) -> u64 {
    match case.brief.surface {
        CaseSurface::Profile(_) => match &case.brief.user_script {
            UserScript::Turns(turns) => turns.len().max(1) as u64,
            UserScript::Persona(_) => 12,
        },
        CaseSurface::Agent(_) | CaseSurface::Skills => subject.limits.turns.saturating_mul(8),
    }
}

/// Returns the cost of the input of one session. The conversation grows with every move and is sent in full each time. With prompt
/// caching, a move reads earlier input at the cache price and writes new input to the cache.
fn input_cost(price: &ModelPrice, begin: &SharedPrefix, moves: u64, opening: u64) -> Money {
    let added = TYPICAL_BYTES_PER_MOVE / BYTES_PER_TOKEN;
    let sent = |tokens: u64| price.input_per_mtok.cost_of_tokens(tokens);
    let (fixed, later) = (begin.tokens * moves, moves.saturating_sub(1));
    let Some(read) = price.cache_read_per_mtok.filter(|_| begin.tokens >= MIN_CACHED_TOKENS) else {
        return sent(fixed + opening * moves + added * (moves * later / 2));
    };
    let write = price.cache_write_per_mtok.unwrap_or(price.input_per_mtok);
    let written = begin.tokens * begin.cache_writes / begin.sessions;
    // The first message is not cached; the second move caches it with the rest.
    let (new, again) =
        if later == 0 { (0, 0) } else { (opening + added * later, opening * (later - 1) + added * (later * (later - 1) / 2)) };
    sent(opening)
        .saturating_add(write.cost_of_tokens(written + new))
        .saturating_add(read.cost_of_tokens(fixed.saturating_sub(written) + again))
}

/// Every try plays the trial once, after one call of the attacker.
fn add_tries(quote: TrialQuote, attacker: Option<&SubjectFile>, rewrite: &GoalRewrite) -> TrialQuote {
    let times = |money: Money| (0..rewrite.tries).map(|_| money).sum::<Money>();
    let played = TrialQuote {
        ceiling: times(quote.ceiling),
        likely: times(quote.likely),
        calls: quote.calls.saturating_mul(rewrite.tries),
        ..quote
    };
    let Some(attacker) = attacker else { return played };
    let asked = TrialQuote { calls: played.calls.saturating_add(rewrite.tries), ..played };
    let Some(price) = &attacker.price else { return TrialQuote { unpriced: true, ..asked } };
    let read = rewrite.goal.len() as u64 + ATTACKER_BYTES + ATTACKER_BYTES_PER_TRY * rewrite.tries / 2;
    let likely = price
        .input_per_mtok
        .cost_of_tokens(read / BYTES_PER_TOKEN)
        .saturating_add(price.output_per_mtok.cost_of_tokens(TYPICAL_OUTPUT_TOKENS));
    let most = ceiling(price, ATTACKER_BYTES + MAX_ATTACKER_BYTES_PER_TRY * rewrite.tries, attacker.limits.output_tokens);
    TrialQuote { ceiling: asked.ceiling.saturating_add(times(most)), likely: asked.likely.saturating_add(times(likely.min(most))), ..asked }
}

fn add_judge_cost(quote: TrialQuote, judge: &SubjectFile, case: &Case, sessions: &[ExpectedSession], subject: &SubjectFile) -> TrialQuote {
    let asked = TrialQuote { calls: quote.calls + 1, judge_calls: 1, ..quote };
    let Some(price) = &judge.price else { return TrialQuote { unpriced: true, ..asked } };
    let moves: u64 = sessions.iter().map(|session| session.moves).sum();
    let read = JUDGE_BYTES + talk_bytes(&case.brief.user_script) + TYPICAL_BYTES_PER_MOVE * moves;
    let likely = price
        .input_per_mtok
        .cost_of_tokens(read / BYTES_PER_TOKEN)
        .saturating_add(price.output_per_mtok.cost_of_tokens(TYPICAL_VERDICT_TOKENS));
    let most = ceiling(price, JUDGE_BYTES + MAX_JUDGED_EVENT_BYTES * 2 * max_moves(case, subject), judge.limits.output_tokens);
    TrialQuote { ceiling: quote.ceiling.saturating_add(most), likely: quote.likely.saturating_add(likely.min(most)), ..asked }
}

fn prompt_bytes(workspace: &Workspace, case: &Case, subject: &SubjectFile, session: &ExpectedSession) -> u64 {
    match &session.agent {
        Some(agent) => fixed_prompt_bytes(subject, &AgentContext::for_agent(workspace, agent), u32::from(!session.is_root)),
        None => fixed_prompt_bytes(subject, &AgentContext::for_brief(workspace, &case.brief), 0),
    }
}

fn talk_bytes(talk: &UserScript) -> u64 {
    match talk {
        UserScript::Turns(turns) => turns.iter().map(|turn| turn.value.len() as u64).sum(),
        UserScript::Persona(_) => PERSONA_BYTES,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(read: Option<u64>) -> ModelPrice {
        let dollars = Money::from_dollars;
        ModelPrice {
            input_per_mtok: dollars(10),
            output_per_mtok: dollars(50),
            cache_read_per_mtok: read.map(dollars),
            cache_write_per_mtok: read.map(|_| dollars(12)),
            as_of: "2026-11-15".into(),
        }
    }

    #[test]
    fn input_cost_shares_the_cached_prefix() {
        let begin = |written, of| SharedPrefix { tokens: 100_000, cache_writes: written, sessions: of };
        let tokens = |dollars: u64, tokens: u64| Money::from_dollars(dollars).cost_of_tokens(tokens);
        let alone = input_cost(&price(Some(1)), &begin(1, 1), 1, 0);
        assert_eq!(alone, tokens(12, 100_000));
        let one_of_ten = input_cost(&price(Some(1)), &begin(1, 10), 1, 0);
        assert_eq!(one_of_ten, tokens(12, 10_000).saturating_add(tokens(1, 90_000)));
        assert_eq!(input_cost(&price(None), &begin(1, 10), 1, 0), tokens(10, 100_000), "no prompt caching");
    }

    #[test]
    fn input_cost_caches_the_growing_conversation() {
        let begin = SharedPrefix { tokens: 2_000, cache_writes: 0, sessions: 1 };
        let tokens = |dollars: u64, tokens: u64| Money::from_dollars(dollars).cost_of_tokens(tokens);
        // Three moves: 500 at first, then 200 added twice. Uncached 500; written 700 and 200; prefix read three times and 700 once.
        assert_eq!(
            input_cost(&price(Some(1)), &begin, 3, 500),
            tokens(10, 500).saturating_add(tokens(12, 900)).saturating_add(tokens(1, 6_700))
        );
        assert_eq!(input_cost(&price(None), &begin, 3, 500), tokens(10, 3 * 2_000 + 3 * 500 + 3 * 200));
        let short = SharedPrefix { tokens: 1_000, cache_writes: 0, sessions: 1 };
        assert_eq!(input_cost(&price(Some(1)), &short, 1, 0), tokens(10, 1_000), "too short to be cached");
    }
}
