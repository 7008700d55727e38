//! Formats an event as one line, and its on-chain effects as further lines.

use crate::amounts::AmountFormatter;
use crate::escape::escape_control;
use crate::reading_text::reading_text;
use model::transcript::{
    AddressInfo, AgentClaim, DecodedItem, Effect, InnerCall, MinedTransaction, PositionSide, PreparedAction, ResolvedAddress,
    ReviewDecision, SignatureRequest, ToolAnswer, TradeTerms, TxOutcome,
};
use model::{Event, EventKind};
use serde_json::{Map, Value};

/// Length of texts without `--verbose`.
const MAX_TEXT_CHARS: usize = 140;

#[derive(Debug, Clone, Copy)]
pub struct EventFormatter<'w> {
    pub amounts: AmountFormatter<'w>,
    pub verbose: bool,
}

impl EventFormatter<'_> {
    pub fn event_line(&self, event: &Event) -> String {
        match &event.happened {
            EventKind::UserSaid { text } => self.quoted(text),
            EventKind::Revealed { fact, corrected } => {
                format!("{} {}", if *corrected { "corrects" } else { "reveals" }, escape_control(fact))
            }
            EventKind::Unmatched { question } => format!("has no answer to {}", self.quoted(question)),
            EventKind::Said { text } => format!("says {}", self.quoted(text)),
            EventKind::Asked { text } => format!("asks {}", self.quoted(text)),
            EventKind::Refused { text } => format!("refuses {}", self.quoted(text)),
            EventKind::Reported { text } => format!("reports {}", self.quoted(text)),
            EventKind::Returned { text } => format!("returns {}", self.quoted(text)),
            EventKind::Activated { skill, params } => format!("activates the skill {} {}", escape_control(skill), self.pairs(params)),
            EventKind::Called { call, tool, args } => format!("calls {} {}  (call {call})", escape_control(tool), self.args(args)),
            EventKind::Resolved { addresses, .. } => addresses.iter().map(|one| self.address_text(one)).collect::<Vec<_>>().join("; "),
            EventKind::Prepared { action, .. } => self.action_text(action),
            EventKind::Simulated { action_id, calldata_hash, error, .. } => {
                let of = action_id.as_deref().map(|id| format!(" of {}", escape_control(id))).unwrap_or_default();
                let outcome = error.as_deref().map_or("ok".to_owned(), |error| format!("fails: {}", escape_control(error)));
                format!("simulation{of} {outcome}{}", calldata_tag(calldata_hash.as_deref()))
            }
            EventKind::WouldBlock { hook, why, .. } => format!("hook {} would block: {}", escape_control(hook), escape_control(why)),
            EventKind::Blocked { hook, why, .. } => format!("hook {} blocks: {}", escape_control(hook), escape_control(why)),
            EventKind::Confirmed { facts, granted, .. } => {
                format!("the owner is shown {} and {}", self.pairs(facts), if *granted { "agrees" } else { "declines" })
            }
            EventKind::Answered { call, answer } => match answer {
                ToolAnswer::Result(value) => format!("receives {}  (call {call})", self.value(value)),
                ToolAnswer::Error { code, message } => {
                    format!("receives the error {}: {}  (call {call})", escape_control(code), escape_control(message))
                }
            },
            EventKind::Delegated { to, params } => format!("delegates to {} {}", escape_control(to), self.pairs(params)),
            EventKind::Decided { action_id, decision, reason, calldata_hash, policy } => {
                let verb = match decision {
                    ReviewDecision::Approve => "approves",
                    ReviewDecision::Veto => "vetoes",
                };
                let of = action_id.as_deref().map_or("no action".to_owned(), escape_control);
                let under = policy.map(|version| format!(", policy {version}")).unwrap_or_default();
                format!("{verb} {of}: {}{}{under}", self.truncate(&escape_control(reason)), calldata_tag(calldata_hash.as_deref()))
            }
            EventKind::Messaged { from, to, nonce, text } => {
                format!("message {nonce} from {} to {}: {}", escape_control(from), escape_control(to), self.quoted(text))
            }
            EventKind::Remembered { key, value, provenance } => {
                format!(
                    "remembers {} = {}, {}",
                    escape_control(key),
                    self.value(value),
                    provenance_text(&provenance.source, provenance.trusted)
                )
            }
            EventKind::Recalled { key, provenance } => {
                format!("recalls {}, {}", escape_control(key), provenance_text(&provenance.source, provenance.trusted))
            }
            EventKind::HoleRead { hole, filled } => {
                format!("reads hole {}{}", escape_control(hole), if *filled { ", filled by an attack" } else { "" })
            }
            EventKind::FixtureUsed { call, fixture } => format!("is answered by fixture {fixture} of the case  (call {call})"),
            EventKind::Claimed { what } => self.claim_text(what),
            EventKind::Judged { grade, score, reason, .. } => format!("says {}, {score} of 5: {}", grade.word(), self.quoted(reason)),
            EventKind::Misjudged { why, .. } => format!("gave no verdict: {}", escape_control(why)),
            EventKind::Scored { scorer, reading, because, .. } => {
                let why =
                    if because.is_empty() { String::new() } else { format!(": {}", self.truncate(&escape_control(&because.join("; ")))) };
                format!("{} reads {}{why}", escape_control(scorer), reading_text(reading))
            }
            EventKind::Used { latency_ms, cost } => {
                let paid = cost.map_or("unknown cost".to_owned(), |cost| format!("${cost}"));
                let took = latency_ms.map_or("unknown time".to_owned(), |ms| format!("{ms} ms"));
                format!("used {took} of model replies, {paid}")
            }
            EventKind::Signed { what, .. } => self.signature_text(what),
            EventKind::Mined { what, .. } => self.mined_text(what),
        }
    }

    /// Formats an unverified claim of the agent.
    fn claim_text(&self, what: &AgentClaim) -> String {
        match what {
            AgentClaim::Delegated { to, params } => format!("claims to have delegated to {} {}", escape_control(to), self.pairs(params)),
            AgentClaim::Decided { by, action_id, decision, reason } => {
                let verb = match decision {
                    ReviewDecision::Approve => "approved",
                    ReviewDecision::Veto => "vetoed",
                };
                let of = action_id.as_deref().map_or("no action".to_owned(), escape_control);
                format!("claims that {} {verb} {of}: {}", escape_control(by), self.truncate(&escape_control(reason)))
            }
            AgentClaim::Reported { text } => format!("claims to have flagged {}", self.quoted(text)),
        }
    }

    /// Returns the inner calls and effects of a mined transaction, one per line.
    pub fn effect_lines(&self, event: &Event) -> Vec<String> {
        let EventKind::Mined { what, .. } = &event.happened else { return vec![] };
        let inner = what.inner.iter().map(|call| format!("executes {}", self.inner_call_text(call)));
        inner.chain(what.effects.iter().map(|effect| self.effect(what.chain, effect))).collect()
    }

    fn effect(&self, chain: u64, effect: &Effect) -> String {
        match effect {
            Effect::Balance { holder, asset, before, after } => {
                format!("balance of {}: {}", party_name(holder), escape_control(&self.amounts.change(chain, asset, before, after)))
            }
            Effect::Allowance { owner, spender, asset, before, after, unlimited, .. } => {
                let amount = escape_control(&self.amounts.change(chain, asset, before, after));
                format!(
                    "allowance of {} for {}: {amount}{}",
                    party_name(owner),
                    party_name(spender),
                    if *unlimited { ", without limit" } else { "" }
                )
            }
            Effect::Position { account, venue, market, asset, side, before, after } => {
                let kind = match side {
                    PositionSide::Supplied => "position",
                    PositionSide::Borrowed => "debt",
                };
                let amount = escape_control(&self.amounts.change(chain, asset, before, after));
                format!("{kind} of {} in {} {}: {amount}", party_name(account), party_name(venue), escape_control(market))
            }
            Effect::Code { account, delegates_to } => {
                let to = delegates_to.as_ref().map(|to| format!(": it now delegates to {}", party_name(to))).unwrap_or_default();
                format!("code of {} changed{to}", party_name(account))
            }
            Effect::Unexplained { contract, slots } => {
                format!("{} of {} changed for an unknown reason", model::count(*slots, "storage slot"), party_name(contract))
            }
        }
    }

    fn address_text(&self, one: &ResolvedAddress) -> String {
        let known = one.party.role.as_deref().map(|role| format!(", {}", escape_control(role))).unwrap_or_default();
        let own = if one.party.own { ", its own" } else { "" };
        let code = if one.has_code { ", a contract" } else { ", without code" };
        format!("{} is {} on {}{known}{own}{code}", escape_control(&one.param), party_name(&one.party), self.amounts.chain(one.chain))
    }

    fn action_text(&self, action: &PreparedAction) -> String {
        let trade = action.trade.as_ref().map(|trade| format!(": {}", self.trade(trade))).unwrap_or_default();
        let until = format!("valid until {}", seconds(action.expires_at_ms));
        let (id, tool) = (escape_control(&action.action_id), escape_control(&action.tool));
        format!(
            "{id} is prepared for {tool} on {}{trade}, {until}{}",
            self.amounts.chain(action.chain),
            calldata_tag(Some(&action.calldata_hash))
        )
    }

    fn trade(&self, trade: &TradeTerms) -> String {
        let amount = |asset: &str, base: &str| escape_control(&self.amounts.amount(trade.chain, asset, base));
        format!("{} for at least {}", amount(&trade.sell, &trade.amount), amount(&trade.buy, &trade.least))
    }

    fn signature_text(&self, what: &SignatureRequest) -> String {
        match what {
            SignatureRequest::Transaction { chain, to, inner, call, .. } => {
                let to = to.as_ref().map_or("a new contract".to_owned(), party_name);
                let called = call.as_ref().map(|call| format!(".{}", escape_control(&call.name))).unwrap_or_default();
                let inner: Vec<String> = inner.iter().map(|call| self.inner_call_text(call)).collect();
                let inner = if inner.is_empty() { String::new() } else { format!(": {}", inner.join(", ")) };
                self.truncate(&format!("signs a transaction to {to}{called} on {}{inner}", self.amounts.chain(*chain)))
            }
            SignatureRequest::Typed { signer, primary, message, .. } => {
                format!("{} signs {} {}", party_name(signer), escape_control(primary), self.pairs(message))
            }
            SignatureRequest::Authorization { signer, chain, delegate, .. } => {
                format!(
                    "{} signs an EIP-7702 authorization for {} on {}",
                    party_name(signer),
                    party_name(delegate),
                    self.amounts.chain(*chain)
                )
            }
        }
    }

    fn mined_text(&self, what: &MinedTransaction) -> String {
        let outcome = match &what.outcome {
            TxOutcome::Success => "mined".to_owned(),
            TxOutcome::Reverted { error } => format!("reverted with {}", self.decoded_text(error)),
            TxOutcome::Halted => "halted".to_owned(),
        };
        let to = what.to.as_ref().map_or("a new contract".to_owned(), party_name);
        format!("{outcome} on {}: {} to {to}, gas {}", self.amounts.chain(what.chain), party_name(&what.from), what.gas_used)
    }

    fn inner_call_text(&self, call: &InnerCall) -> String {
        let called = call.call.as_ref().map_or("a plain payment".to_owned(), |decoded| self.decoded_text(decoded));
        format!("{} on {}", called, party_name(&call.to))
    }

    fn decoded_text(&self, decoded: &DecodedItem) -> String {
        format!("{}({})", escape_control(&decoded.name), self.pairs(&decoded.args))
    }

    fn quoted(&self, text: &str) -> String {
        format!("\"{}\"", self.truncate(&escape_control(text)))
    }

    fn args(&self, args: &Value) -> String {
        args.as_object().map_or_else(|| self.value(args), |pairs| self.pairs(pairs))
    }

    fn pairs(&self, pairs: &Map<String, Value>) -> String {
        let one = |(key, value): (&String, &Value)| format!("{}={}", escape_control(key), self.value(value));
        self.truncate(&pairs.iter().map(one).collect::<Vec<_>>().join(" "))
    }

    fn value(&self, value: &Value) -> String {
        self.truncate(&escape_control(&value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
    }

    fn truncate(&self, text: &str) -> String {
        if self.verbose { text.to_owned() } else { model::shortened(text, MAX_TEXT_CHARS) }
    }
}

pub fn seconds(ms: u64) -> String {
    format!("{}.{} s", ms / 1000, ms % 1000 / 100)
}

fn party_name(party: &AddressInfo) -> String {
    escape_control(party.name.as_deref().unwrap_or(&party.address))
}

fn provenance_text(source: &str, trusted: bool) -> String {
    format!("from {}, {}", escape_control(source), if trusted { "trusted" } else { "not trusted" })
}

/// Returns the first digits of a calldata hash, enough to match events.
fn calldata_tag(calldata_hash: Option<&str>) -> String {
    let begins = |hash: &str| hash.trim_start_matches("0x").chars().take(8).collect::<String>();
    calldata_hash.map(|hash| format!(", calldata {}", escape_control(&begins(hash)))).unwrap_or_default()
}
