//! One event in one line, and what came of it on a chain in lines below.

use super::amounts::Amounts;
use crate::report::escape::visible;
use model::transcript::{
    Addressed, Claimed, Decision, Decoded, Effect, InnerCall, Mined, Party, Prepared, Side, Signed, ToolAnswer, Trade, TxOutcome,
};
use model::{Event, Happened};
use serde_json::{Map, Value};

/// Longer texts are cut, unless everything was asked for.
const WIDTH: usize = 140;

#[derive(Debug, Clone, Copy)]
pub(super) struct Teller<'w> {
    pub amounts: Amounts<'w>,
    pub everything: bool,
}

impl Teller<'_> {
    pub(super) fn line(&self, event: &Event) -> String {
        match &event.happened {
            Happened::UserSaid { text } => self.quoted(text),
            Happened::Revealed { fact, corrected } => {
                format!("{} {}", if *corrected { "has corrected" } else { "has told" }, visible(fact))
            }
            Happened::Unmatched { question } => format!("has no answer to {}", self.quoted(question)),
            Happened::Said { text } => format!("says {}", self.quoted(text)),
            Happened::Asked { text } => format!("asks {}", self.quoted(text)),
            Happened::Refused { text } => format!("refuses {}", self.quoted(text)),
            Happened::Reported { text } => format!("reports {}", self.quoted(text)),
            Happened::Returned { text } => format!("returns {}", self.quoted(text)),
            Happened::Activated { skill, params } => format!("activates the skill {} {}", visible(skill), self.pairs(params)),
            Happened::Called { call, tool, args } => format!("calls {} {}  (call {call})", visible(tool), self.args(args)),
            Happened::Resolved { addresses, .. } => addresses.iter().map(|one| self.resolved(one)).collect::<Vec<_>>().join("; "),
            Happened::Prepared { action, .. } => self.prepared(action),
            Happened::Simulated { action_id, calldata_hash, error, .. } => {
                let of = action_id.as_deref().map(|id| format!(" of {}", visible(id))).unwrap_or_default();
                let came = error.as_deref().map_or("ok".to_owned(), |error| format!("fails: {}", visible(error)));
                format!("simulation{of} {came}{}", stamp(calldata_hash.as_deref()))
            }
            Happened::WouldBlock { hook, why, .. } => format!("hook {} would block: {}", visible(hook), visible(why)),
            Happened::Blocked { hook, why, .. } => format!("hook {} blocks: {}", visible(hook), visible(why)),
            Happened::Confirmed { facts, granted, .. } => {
                format!("the owner is shown {} and {}", self.pairs(facts), if *granted { "agrees" } else { "declines" })
            }
            Happened::Answered { call, answer } => match answer {
                ToolAnswer::Result(value) => format!("is answered {}  (call {call})", self.value(value)),
                ToolAnswer::Error { code, message } => {
                    format!("is answered with an error, {}: {}  (call {call})", visible(code), visible(message))
                }
            },
            Happened::Delegated { to, params } => format!("delegates to {} {}", visible(to), self.pairs(params)),
            Happened::Decided { action_id, decision, reason, calldata_hash, policy } => {
                let verb = match decision {
                    Decision::Approve => "approves",
                    Decision::Veto => "vetoes",
                };
                let of = action_id.as_deref().map_or("no action".to_owned(), visible);
                let under = policy.map(|version| format!(", policy {version}")).unwrap_or_default();
                format!("{verb} {of}: {}{}{under}", self.cut(&visible(reason)), stamp(calldata_hash.as_deref()))
            }
            Happened::Messaged { from, to, nonce, text } => {
                format!("message {nonce} from {} to {}: {}", visible(from), visible(to), self.quoted(text))
            }
            Happened::Remembered { key, value, provenance } => {
                format!("remembers {} = {}, {}", visible(key), self.value(value), source(&provenance.source, provenance.trusted))
            }
            Happened::Recalled { key, provenance } => {
                format!("recalls {}, {}", visible(key), source(&provenance.source, provenance.trusted))
            }
            Happened::HoleRead { hole, filled } => {
                format!("reads the hole {}{}", visible(hole), if *filled { ", which an attack has filled" } else { "" })
            }
            Happened::Claimed { what } => self.claimed(what),
            Happened::Judged { grade, score, reason, .. } => format!("says {}, {score} of 5: {}", grade.word(), self.quoted(reason)),
            Happened::Misjudged { why, .. } => format!("gave no verdict: {}", visible(why)),
            Happened::Signed { what, .. } => self.signed(what),
            Happened::Mined { what, .. } => self.mined(what),
        }
    }

    /// What the agent says it did.
    fn claimed(&self, what: &Claimed) -> String {
        match what {
            Claimed::Delegated { to, params } => format!("claims to have delegated to {} {}", visible(to), self.pairs(params)),
            Claimed::Decided { by, action_id, decision, reason } => {
                let verb = match decision {
                    Decision::Approve => "approved",
                    Decision::Veto => "vetoed",
                };
                let of = action_id.as_deref().map_or("no action".to_owned(), visible);
                format!("claims that {} {verb} {of}: {}", visible(by), self.cut(&visible(reason)))
            }
            Claimed::Reported { text } => format!("claims to have flagged {}", self.quoted(text)),
        }
    }

    /// What stood in the block, and every effect of it.
    pub(super) fn below(&self, event: &Event) -> Vec<String> {
        let Happened::Mined { what, .. } = &event.happened else { return vec![] };
        let inner = what.inner.iter().map(|call| format!("executes {}", self.inner(call)));
        inner.chain(what.effects.iter().map(|effect| self.effect(what.chain, effect))).collect()
    }

    fn effect(&self, chain: u64, effect: &Effect) -> String {
        match effect {
            Effect::Balance { holder, asset, before, after } => {
                format!("balance of {}: {}", name(holder), visible(&self.amounts.change(chain, asset, before, after)))
            }
            Effect::Allowance { owner, spender, asset, before, after, unlimited, .. } => {
                let amount = visible(&self.amounts.change(chain, asset, before, after));
                format!("allowance of {} for {}: {amount}{}", name(owner), name(spender), if *unlimited { ", without limit" } else { "" })
            }
            Effect::Position { account, venue, market, asset, side, before, after } => {
                let kind = match side {
                    Side::Supplied => "position",
                    Side::Borrowed => "debt",
                };
                let amount = visible(&self.amounts.change(chain, asset, before, after));
                format!("{kind} of {} in {} {}: {amount}", name(account), name(venue), visible(market))
            }
            Effect::Code { account, delegates_to } => {
                let to = delegates_to.as_ref().map(|to| format!(": it now acts as {}", name(to))).unwrap_or_default();
                format!("code of {} changed{to}", name(account))
            }
            Effect::Unexplained { contract, slots } => format!("{slots} storage slots of {} changed and no rule says why", name(contract)),
        }
    }

    fn resolved(&self, one: &Addressed) -> String {
        let known = one.party.role.as_deref().map(|role| format!(", {}", visible(role))).unwrap_or_default();
        let own = if one.party.own { ", its own" } else { "" };
        let code = if one.has_code { ", a contract" } else { ", without code" };
        format!("{} is {} on {}{known}{own}{code}", visible(&one.param), name(&one.party), self.amounts.chain(one.chain))
    }

    fn prepared(&self, action: &Prepared) -> String {
        let trade = action.trade.as_ref().map(|trade| format!(": {}", self.trade(trade))).unwrap_or_default();
        let until = format!("until {}", seconds(action.expires_at_ms));
        let (id, tool) = (visible(&action.action_id), visible(&action.tool));
        format!(
            "{id} stands ready for {tool} on {}{trade}, {until}{}",
            self.amounts.chain(action.chain),
            stamp(Some(&action.calldata_hash))
        )
    }

    fn trade(&self, trade: &Trade) -> String {
        let amount = |asset: &str, base: &str| visible(&self.amounts.amount(trade.chain, asset, base));
        format!("{} for at least {}", amount(&trade.sell, &trade.amount), amount(&trade.buy, &trade.least))
    }

    fn signed(&self, what: &Signed) -> String {
        match what {
            Signed::Transaction { chain, to, inner, call, .. } => {
                let to = to.as_ref().map_or("a new contract".to_owned(), name);
                let called = call.as_ref().map(|call| format!(".{}", visible(&call.name))).unwrap_or_default();
                let inner: Vec<String> = inner.iter().map(|call| self.inner(call)).collect();
                let inner = if inner.is_empty() { String::new() } else { format!(": {}", inner.join(", ")) };
                self.cut(&format!("signs a transaction to {to}{called} on {}{inner}", self.amounts.chain(*chain)))
            }
            Signed::Typed { signer, primary, message, .. } => {
                format!("{} signs {} {}", name(signer), visible(primary), self.pairs(message))
            }
            Signed::Authorization { signer, chain, delegate, .. } => {
                format!("{} signs itself over to {} on {}", name(signer), name(delegate), self.amounts.chain(*chain))
            }
        }
    }

    fn mined(&self, what: &Mined) -> String {
        let came = match &what.outcome {
            TxOutcome::Success => "mined".to_owned(),
            TxOutcome::Reverted { error } => format!("reverted with {}", self.decoded(error)),
            TxOutcome::Halted => "halted".to_owned(),
        };
        let to = what.to.as_ref().map_or("a new contract".to_owned(), name);
        format!("{came} on {}: {} to {to}, gas {}", self.amounts.chain(what.chain), name(&what.from), what.gas_used)
    }

    fn inner(&self, call: &InnerCall) -> String {
        let called = call.call.as_ref().map_or("a plain payment".to_owned(), |decoded| self.decoded(decoded));
        format!("{} on {}", called, name(&call.to))
    }

    fn decoded(&self, decoded: &Decoded) -> String {
        format!("{}({})", visible(&decoded.name), self.pairs(&decoded.args))
    }

    fn quoted(&self, text: &str) -> String {
        format!("\"{}\"", self.cut(&visible(text)))
    }

    fn args(&self, args: &Value) -> String {
        args.as_object().map_or_else(|| self.value(args), |pairs| self.pairs(pairs))
    }

    fn pairs(&self, pairs: &Map<String, Value>) -> String {
        let one = |(key, value): (&String, &Value)| format!("{}={}", visible(key), self.value(value));
        self.cut(&pairs.iter().map(one).collect::<Vec<_>>().join(" "))
    }

    fn value(&self, value: &Value) -> String {
        self.cut(&visible(&value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
    }

    fn cut(&self, text: &str) -> String {
        if self.everything || text.chars().count() <= WIDTH {
            text.to_owned()
        } else {
            text.chars().take(WIDTH - 1).chain(['…']).collect()
        }
    }
}

pub(super) fn seconds(ms: u64) -> String {
    format!("{}.{} s", ms / 1000, ms % 1000 / 100)
}

fn name(party: &Party) -> String {
    visible(party.name.as_deref().unwrap_or(&party.address))
}

fn source(source: &str, trusted: bool) -> String {
    format!("from {}, {}", visible(source), if trusted { "trusted" } else { "not trusted" })
}

/// The beginning of a calldata hash: enough to see what belongs together.
fn stamp(calldata_hash: Option<&str>) -> String {
    let begins = |hash: &str| hash.trim_start_matches("0x").chars().take(8).collect::<String>();
    calldata_hash.map(|hash| format!(", calldata {}", visible(&begins(hash)))).unwrap_or_default()
}
