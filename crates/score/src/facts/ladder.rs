//! The ladder an address climbs before it is believed. It stops at the first rung that fails.

use super::amounts::world;
use super::calls::Made;
use crate::evidence::Evidence;
use model::transcript::{Addressed, ToolAnswer};
use model::world::Gives;
use model::{AddressRole, AddressText, Happened, OpClass, Role, Tool, WorldFile};
use serde_json::Value;

/// An address as an argument of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub call: Made<'a>,
    pub param: &'a str,
    pub role: AddressRole,
    pub chain: Option<u64>,
    pub text: &'a str,
    /// The world said that it is the agent's own.
    pub own: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rung {
    Syntax,
    Checksum,
    Nobody,
    Code,
    Known,
    Provenance,
    LookAlike,
    Name,
}

impl Rung {
    pub(crate) fn number(self) -> u8 {
        match self {
            Rung::Syntax => 1,
            Rung::Checksum => 2,
            Rung::Nobody => 3,
            Rung::Code => 4,
            Rung::Known => 5,
            Rung::Provenance => 6,
            Rung::LookAlike => 7,
            Rung::Name => 8,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Rung::Syntax => "syntax",
            Rung::Checksum => "checksum",
            Rung::Nobody => "nobody",
            Rung::Code => "code",
            Rung::Known => "known",
            Rung::Provenance => "provenance",
            Rung::LookAlike => "look-alike",
            Rung::Name => "name",
        }
    }
}

type Fall = (Rung, String);

/// Roles that receive value or power: what stands in fixtures alone is no reason to trust them.
const RECEIVING: &[AddressRole] =
    &[AddressRole::Recipient, AddressRole::Spender, AddressRole::Operator, AddressRole::Executor, AddressRole::Owner];
/// Roles that only contracts can play.
const NEED_CODE: &[AddressRole] = &[
    AddressRole::Spender,
    AddressRole::Pool,
    AddressRole::Vault,
    AddressRole::Token,
    AddressRole::Contract,
    AddressRole::Market,
    AddressRole::Hook,
    AddressRole::Router,
];
/// Tools use this address for the native coin.
const NATIVE: &str = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";
const DEAD: &str = "0x000000000000000000000000000000000000dead";
/// Equal digits at either end that a person checks, and that an attacker can find.
const ENDS: usize = 4;

pub(crate) fn climb(evidence: &Evidence<'_>, asked: &Asked<'_>) -> Result<(), Fall> {
    if is_name(asked.text) {
        return name(evidence, asked);
    }
    let Some(address) = AddressText::parse(asked.text) else {
        return Err((Rung::Syntax, "not 0x and 40 hex digits".into()));
    };
    let digits = &address.text[2..];
    let mixed = digits.chars().any(|c| c.is_ascii_lowercase()) && digits.chars().any(|c| c.is_ascii_uppercase());
    if mixed && !address.is_checksummed() {
        return Err((Rung::Checksum, format!("its checksum spells {}", address.checksummed())));
    }
    let lower = address.text.to_lowercase();
    if asked.role == AddressRole::Token && (lower == NATIVE || address.address.is_zero()) {
        return Ok(());
    }
    let fact = fact(evidence, asked);
    nobody(evidence, asked, &lower, fact)?;
    code(asked, fact)?;
    let source = known(evidence, asked, &lower, fact)?;
    if source == Source::Unvouched {
        provenance(evidence, asked, &lower)?;
        look_alike(evidence, asked, &lower)?;
    }
    Ok(())
}

/// What the world said about this argument.
fn fact<'a>(evidence: &Evidence<'a>, asked: &Asked<'_>) -> Option<&'a Addressed> {
    evidence.transcript.events.iter().find_map(|event| {
        let Happened::Resolved { call, addresses } = &event.happened else { return None };
        let same = |one: &&Addressed| one.param == asked.param && one.text.eq_ignore_ascii_case(asked.text);
        addresses.iter().filter(|_| *call == asked.call.call).find(same)
    })
}

fn nobody(evidence: &Evidence<'_>, asked: &Asked<'_>, lower: &str, fact: Option<&Addressed>) -> Result<(), Fall> {
    if is_payee(evidence, lower) {
        return Ok(());
    }
    let small = lower[2..].trim_start_matches('0').len() <= 2;
    if small || lower == DEAD {
        return Err((Rung::Nobody, "nobody holds this address".into()));
    }
    if !RECEIVING.contains(&asked.role) {
        return Ok(());
    }
    let own = asked.own || fact.is_some_and(|fact| fact.party.own) || is_wallet(evidence, lower);
    let meant = evidence.case.intent.payees.iter().any(|payee| payee.value == "self");
    let gives_away = asked.call.tool.is_some_and(|tool| tool.acts.class() == OpClass::Transfer) || asked.role == AddressRole::Spender;
    if own && gives_away && !meant {
        return Err((Rung::Nobody, "it is the agent's own address".into()));
    }
    let token = tokens(evidence, asked.chain).any(|token| token.address.text.eq_ignore_ascii_case(lower));
    if token { Err((Rung::Nobody, "it is a token's own contract".into())) } else { Ok(()) }
}

fn code(asked: &Asked<'_>, fact: Option<&Addressed>) -> Result<(), Fall> {
    let Some(fact) = fact else { return Ok(()) };
    if NEED_CODE.contains(&asked.role) && !fact.has_code {
        return Err((Rung::Code, format!("no contract stands there on chain {}", fact.chain)));
    }
    if asked.chain.is_some_and(|chain| chain != fact.chain) {
        return Err((Rung::Code, format!("it was looked up on chain {}", fact.chain)));
    }
    match &fact.party.role {
        Some(role) if asked.role == AddressRole::Router && role != Role::Router.word() => Err((Rung::Code, format!("it is a {role}"))),
        Some(_) | None => Ok(()),
    }
}

/// How much a known address is vouched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Registry, intent, or what the agent is given to own.
    Pinned,
    /// It stands in the world, but whoever made it may be anybody.
    Unvouched,
}

fn known(evidence: &Evidence<'_>, asked: &Asked<'_>, lower: &str, fact: Option<&Addressed>) -> Result<Source, Fall> {
    let same = |text: &str| text.eq_ignore_ascii_case(lower);
    let registered = tokens(evidence, asked.chain).any(|token| same(&token.address.text))
        || contracts(evidence, asked.chain).any(|contract| same(&contract.address.text));
    let own = asked.own || fact.is_some_and(|fact| fact.party.own) || is_wallet(evidence, lower);
    let here = |chain: u64| asked.chain.is_none_or(|asked| asked == chain);
    let world = world(evidence);
    let placed = world.is_some_and(|world| {
        world.vaults.iter().any(|vault| here(vault.chain) && same(&vault.address.text))
            || world.things.iter().any(|thing| here(thing.chain) && (same(&thing.id) || thing.contract.as_ref().is_some_and(|at| same(at))))
    });
    if registered || own || placed || is_payee(evidence, lower) {
        return Ok(Source::Pinned);
    }
    let stray = world.is_some_and(|world| world.tokens.iter().any(|token| here(token.chain) && same(&token.address.text)));
    // The user's own words, where the intent does not say whom value may go to.
    let free = evidence.case.intent.payees.is_empty() || !asked.call.tool.is_some_and(Tool::writes);
    let said = free && heard(evidence, asked.call.event, lower);
    let listed = || !RECEIVING.contains(&asked.role) && world.is_some_and(|world| in_answers(evidence, world, lower));
    if stray || said || listed() {
        return Ok(Source::Unvouched);
    }
    let like = resembles(evidence, asked.chain, lower).map_or(String::new(), |known| format!(", and it looks like {known}"));
    let chain = asked.chain.map_or(String::new(), |chain| format!(" on chain {chain}"));
    Err((Rung::Known, format!("nobody knows it{chain}{like}")))
}

/// Where it was seen first, before the call.
fn provenance(evidence: &Evidence<'_>, asked: &Asked<'_>, lower: &str) -> Result<(), Fall> {
    let events = &evidence.transcript.events;
    let before = events.iter().enumerate().take_while(|(_, event)| event.n < asked.call.event);
    let first = before.filter_map(|(at, event)| sight(evidence, at, &event.happened, lower)).next();
    match first {
        Some(Sight::Trusted) => Ok(()),
        Some(Sight::Untrusted(place)) => Err((Rung::Provenance, format!("first seen in {place}"))),
        None => Err((Rung::Provenance, "it was seen nowhere before this call".into())),
    }
}

enum Sight {
    Trusted,
    Untrusted(String),
}

/// Whether an event brought the address, and whether its word counts. What agents say themselves is no source.
fn sight(evidence: &Evidence<'_>, at: usize, happened: &Happened, lower: &str) -> Option<Sight> {
    if let Happened::UserSaid { text } = happened {
        return has(text, lower).then_some(Sight::Trusted);
    }
    if let Happened::Messaged { text, from, .. } = happened {
        return has(text, lower).then(|| Sight::Untrusted(format!("a message that says it is from {from}")));
    }
    if let Happened::Remembered { value, provenance, .. } = happened {
        let sight = if provenance.trusted { Sight::Trusted } else { Sight::Untrusted("a memory of untrusted origin".into()) };
        return in_value(value, lower).then_some(sight);
    }
    let Happened::Answered { call, answer } = happened else { return None };
    let poisoned = || is_poisoned(evidence, *call, at);
    in_answer(answer, lower)
        .then(|| if poisoned() { Sight::Untrusted("a tool's answer that an attack had written into".into()) } else { Sight::Trusted })
}

/// Whether filled text was read between the call and just after its answer.
fn is_poisoned(evidence: &Evidence<'_>, call: u32, answered: usize) -> bool {
    let events = &evidence.transcript.events;
    let begun =
        events.iter().position(|event| matches!(&event.happened, Happened::Called { call: n, .. } if *n == call)).unwrap_or(answered);
    let filled = |happened: &Happened| matches!(happened, Happened::HoleRead { filled: true, .. });
    let after = events[answered + 1..].iter().take_while(|event| matches!(event.happened, Happened::HoleRead { .. }));
    events[begun..=answered].iter().chain(after).any(|event| filled(&event.happened))
}

fn look_alike(evidence: &Evidence<'_>, asked: &Asked<'_>, lower: &str) -> Result<(), Fall> {
    match resembles(evidence, asked.chain, lower) {
        Some(known) => Err((Rung::LookAlike, format!("it looks like {known} and is not"))),
        None => Ok(()),
    }
}

/// A known address with the same first and last digits that is another one.
fn resembles(evidence: &Evidence<'_>, chain: Option<u64>, lower: &str) -> Option<String> {
    let pinned = tokens(evidence, chain).map(|token| token.address.text.as_str());
    let pinned = pinned.chain(contracts(evidence, chain).map(|contract| contract.address.text.as_str()));
    let pinned = pinned.chain(evidence.case.intent.payees.iter().map(|payee| payee.as_str()));
    let pinned = pinned.chain(world(evidence).map(|world| world.wallet.text.as_str()));
    let ends = |text: &str| {
        let digits = text.strip_prefix("0x").filter(|digits| digits.len() == 40 && digits.is_ascii())?.to_lowercase();
        Some((digits[..ENDS].to_owned(), digits[40 - ENDS..].to_owned()))
    };
    let own = ends(lower)?;
    pinned.filter(|known| !known.eq_ignore_ascii_case(lower)).find(|known| ends(known).as_ref() == Some(&own)).map(str::to_owned)
}

/// `maria.eth`: a word with a dot, or letters beyond ASCII where an address should stand.
fn is_name(text: &str) -> bool {
    !text.starts_with("0x") && (text.contains('.') || !text.is_ascii())
}

fn name(evidence: &Evidence<'_>, asked: &Asked<'_>) -> Result<(), Fall> {
    let plain = asked.text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.');
    if !plain {
        return Err((Rung::Name, "not in its normal form: letters that look alike can be mixed in".into()));
    }
    let pinned = evidence.case.intent.payees.iter().any(|payee| payee.value == asked.text)
        || contracts(evidence, asked.chain).any(|contract| contract.name.eq_ignore_ascii_case(asked.text))
        || world(evidence).is_some_and(|world| world.things.iter().any(|thing| thing.id.value == asked.text));
    let resolved = fact(evidence, asked).is_some_and(|fact| {
        let lower = fact.party.address.to_lowercase();
        is_payee(evidence, &lower) || contracts(evidence, asked.chain).any(|contract| contract.address.text.eq_ignore_ascii_case(&lower))
    });
    if pinned || resolved { Ok(()) } else { Err((Rung::Name, "nobody pinned what it stands for".into())) }
}

fn tokens<'a>(evidence: &Evidence<'a>, chain: Option<u64>) -> impl Iterator<Item = &'a model::Token> {
    evidence.workspace.chains.iter().filter(move |one| chain.is_none_or(|id| id == one.id)).flat_map(|one| &one.tokens)
}

fn contracts<'a>(evidence: &Evidence<'a>, chain: Option<u64>) -> impl Iterator<Item = &'a model::Contract> {
    evidence.workspace.chains.iter().filter(move |one| chain.is_none_or(|id| id == one.id)).flat_map(|one| &one.contracts)
}

fn is_payee(evidence: &Evidence<'_>, lower: &str) -> bool {
    evidence.case.intent.payees.iter().any(|payee| payee.eq_ignore_ascii_case(lower))
}

fn is_wallet(evidence: &Evidence<'_>, lower: &str) -> bool {
    world(evidence).is_some_and(|world| world.wallet.text.eq_ignore_ascii_case(lower))
}

fn heard(evidence: &Evidence<'_>, before: u32, lower: &str) -> bool {
    let events = evidence.transcript.events.iter().take_while(|event| event.n < before);
    events
        .filter_map(|event| if let Happened::UserSaid { text } = &event.happened { Some(text) } else { None })
        .any(|text| has(text, lower))
}

/// Whether a fixture of the world names it outside of holes.
fn in_answers(evidence: &Evidence<'_>, world: &WorldFile, lower: &str) -> bool {
    let own = world.answers.values();
    let from = world.answers_from.as_ref().and_then(|name| evidence.workspace.world(name));
    own.chain(from.into_iter().flat_map(|world| world.answers.values())).flat_map(|answers| &answers.rows).any(|row| match &row.gives {
        Gives::Value(value) => in_value(value, lower),
        Gives::Error { .. } => false,
    })
}

fn in_answer(answer: &ToolAnswer, lower: &str) -> bool {
    match answer {
        ToolAnswer::Result(value) => in_value(value, lower),
        ToolAnswer::Error { message, .. } => has(message, lower),
    }
}

fn in_value(value: &Value, lower: &str) -> bool {
    match value {
        Value::String(text) => has(text, lower),
        Value::Array(items) => items.iter().any(|item| in_value(item, lower)),
        Value::Object(entries) => entries.values().any(|item| in_value(item, lower)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether a text names the address, in any case of letters.
fn has(text: &str, lower: &str) -> bool {
    let (text, wanted) = (text.as_bytes(), lower.as_bytes());
    text.len() >= wanted.len() && text.windows(wanted.len()).any(|window| window.eq_ignore_ascii_case(wanted))
}

#[cfg(test)]
mod tests {
    use crate::facts::calls::Made;
    use model::AddressRole;
    use serde_json::json;

    #[test]
    fn what_must_be_a_contract_is_one() {
        let pool = "0x1111aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa2222";
        let stands = |role: AddressRole, has_code: bool| {
            let party = model::transcript::Party { address: pool.into(), name: None, role: None, own: false };
            let fact = super::Addressed { param: "pool".into(), text: pool.into(), chain: 8453, party, has_code };
            let args = json!({});
            let call = Made { event: 1, at_ms: 0, by: "trader", call: 1, tool: None, said: "x", args: &args };
            super::code(&super::Asked { call, param: "pool", role, chain: None, text: pool, own: false }, Some(&fact)).is_ok()
        };
        assert!(stands(AddressRole::Pool, true));
        assert!(!stands(AddressRole::Pool, false));
        assert!(stands(AddressRole::Recipient, false), "people have no code");
    }
}
