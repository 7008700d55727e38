//! What a trial may cost, and what it will likely cost, before the first token is spent.

use model::suite::{Case, Surface, Talk};
use model::{Money, Price, SubjectFile, Workspace};
use run::Seat;
use run::providers::ceiling;
use std::collections::HashMap;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quote {
    /// As long as no answer of a tool is larger than 16 KiB. Whatever happens, the run's budget holds.
    pub ceiling: Money,
    pub likely: Money,
}

/// What each move adds to the conversation at most, and usually.
const MOST_ADDED: u64 = 16 << 10;
const USUALLY_ADDED: u64 = 800;
/// What a model usually says in a move, in tokens, and how many bytes make one.
const USUALLY_SAID: u64 = 150;
const BYTES_PER_TOKEN: u64 = 4;
/// A persona tells its facts one by one.
const PERSONA_BYTES: u64 = 600;

/// For each case, for each subject.
pub fn quotes(workspace: &Workspace, cases: &[&Case], subjects: &[&SubjectFile]) -> Vec<Quote> {
    let mut seats = HashMap::new();
    let mut quotes = vec![];
    for case in cases {
        let seat = *seats.entry(surface(&case.brief.surface)).or_insert_with(|| seat_bytes(workspace, case));
        quotes.extend(subjects.iter().map(|subject| match (&subject.price, subject.provider.is_llm()) {
            (Some(price), true) => quote(case, subject, price, seat),
            (Some(_) | None, _) => Quote::default(),
        }));
    }
    quotes
}

fn quote(case: &Case, subject: &SubjectFile, price: &Price, seat: u64) -> Quote {
    let limits = subject.limits;
    let first = seat.saturating_add(talk_bytes(&case.brief.talk));
    // On a profile the trial ends with the first move that calls tools; moves that call none are answered by the next turn.
    let (most, usually) = match case.brief.surface {
        Surface::Profile(_) => (turns(&case.brief.talk), 1),
        Surface::Agent(_) | Surface::Skills => (limits.turns.saturating_mul(8), case.reference.len() as u64 + 1),
    };
    let input = |moves: u64, added: u64| {
        moves.saturating_mul(first).saturating_add(added.saturating_mul(moves.saturating_mul(moves.saturating_sub(1)) / 2))
    };
    // The move that passes the limit of tokens may itself be as long as the limit.
    let output = limits.output_tokens.saturating_mul(2);
    let around = ceiling(price, 0, 0);
    let around: Money = (0..most).map(|_| around).sum();
    let likely_in = input(usually.min(most), USUALLY_ADDED) / BYTES_PER_TOKEN;
    Quote {
        ceiling: ceiling(price, input(most, MOST_ADDED), output).plus(around),
        likely: price.input_per_mtok.for_tokens(likely_in).plus(price.output_per_mtok.for_tokens(usually.min(most) * USUALLY_SAID)),
    }
}

fn seat_bytes(workspace: &Workspace, case: &Case) -> u64 {
    let seat = Seat::of(workspace, &case.brief);
    let tools: usize = seat.tools.iter().map(|tool| tool.name.len() + tool.description.len() + tool.input_schema.to_string().len()).sum();
    let skills: usize = seat.skills.iter().map(|(name, about)| name.len() + about.len()).sum();
    (seat.prompt.len() + tools + skills) as u64
}

fn surface(surface: &Surface) -> String {
    match surface {
        Surface::Profile(name) => format!("profile {}", name.value),
        Surface::Agent(name) => format!("agent {}", name.value),
        Surface::Skills => "skills".to_owned(),
    }
}

fn turns(talk: &Talk) -> u64 {
    match talk {
        Talk::Turns(turns) => turns.len().max(1) as u64,
        Talk::Persona(_) => 12,
    }
}

fn talk_bytes(talk: &Talk) -> u64 {
    match talk {
        Talk::Turns(turns) => turns.iter().map(|turn| turn.value.len() as u64).sum(),
        Talk::Persona(_) => PERSONA_BYTES,
    }
}
