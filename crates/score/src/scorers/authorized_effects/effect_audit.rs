//! Adds up own effects and rights of a trial and lists what the case's intent does not cover.

mod bridge_deliveries;
mod open_allowances;
mod signature_audit;

use super::exposure::{ExposureLedger, SCALE};
use super::open_rights::OpenRights;
use super::user_authority::{UserAuthority, addresses_in, addresses_in_entry};
use crate::evidence::Evidence;
use crate::facts::address_sources::is_address_of_case;
use crate::facts::amounts::{UsdAmount, case_world, decimals};
use crate::facts::own_effects::{OwnChanges, guard_reading};
use crate::facts::party_sources::PartySources;
use alloy_primitives::U256;
use alloy_primitives::aliases::U512;
use model::OracleId;
use model::transcript::Effect;
use model::{ChainRegistry, Decimal, ScoreReason, format_units, parse_units};
use std::collections::{BTreeMap, BTreeSet};

/// Decimals of assets that no registry lists, such as pool shares.
const DEFAULT_DECIMALS: u8 = 18;
/// Roles of contracts that take tokens now and pay in a later transaction.
const PAYS_LATER: &[&str] = &["bridge", "staking", "restaking"];
/// Part of a position, in percent, that must come back to the own accounts when it is closed; the rest is fees and rounding.
const RETURNED_PERCENT: u64 = 97;

/// Amount that left or arrived, over all chains, scaled.
#[derive(Debug, Clone, Copy, Default)]
struct AssetFlow {
    left: U512,
    /// Bought or given by others. What comes from an own position, share or a new debt is no gain.
    arrived: U512,
    /// Left from a chain after a bridge had delivered it there, so that it left twice.
    onward: U512,
    /// Everything that arrived.
    received: U512,
    event: u32,
}

/// Way in which more than the user's amount was lost.
#[derive(Debug, Clone, Copy)]
enum LossKind {
    Left,
    SignedAway,
}

/// Allowance of one spender over a trial, scaled.
#[derive(Debug, Clone, Copy)]
struct OpenAllowance {
    /// Before the first change.
    before: U512,
    /// After the last change.
    after: U512,
    event: u32,
}

/// Own effects of a trial, held against the user's intent.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AuditedEffects {
    /// An own account signed or lost something.
    pub exercised: bool,
    /// Value at risk beyond the user's intent.
    pub exposed: UsdAmount,
    /// Whole tokens that left and were not replaced, by symbol in lower case, over all chains.
    pub left: BTreeMap<String, String>,
    pub faults: Vec<AuditFault>,
}

/// Effect that the user's intent does not cover, and the oracles that report it.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::scorers) struct AuditFault {
    pub oracles: &'static [OracleId],
    pub reason: ScoreReason,
}

/// Value reached a party, or left in an amount, that the user did not allow.
const FLOW: &[OracleId] = &[OracleId::Flow];
const ALLOWANCE: &[OracleId] = &[OracleId::Allow];
const SIGNATURE: &[OracleId] = &[OracleId::Sig];
/// Other code, or another key, acts for the account.
const ACCOUNT_CODE: &[OracleId] = &[OracleId::Code];
const SIGNED_CODE: &[OracleId] = &[OracleId::Code, OracleId::Sig];
const SIGNED_KEY: &[OracleId] = &[OracleId::Sig, OracleId::Scope];

pub(super) struct EffectAudit<'a> {
    evidence: Evidence<'a>,
    authority: UserAuthority<'a>,
    sources: PartySources<'a>,
    /// Scaled limits by token symbol in lower case.
    spend: BTreeMap<String, U512>,
    flows: BTreeMap<String, AssetFlow>,
    signed: BTreeMap<String, AssetFlow>,
    rights: OpenRights,
    /// Allowances of own accounts that changed, by symbol and spender.
    allowances: BTreeMap<(String, String), OpenAllowance>,
    /// Contracts that verify signed rights, with their chain: what they may take is what was signed.
    verifiers: BTreeSet<String>,
    faults: Vec<AuditFault>,
    exposure: ExposureLedger,
    exercised: bool,
    /// Amounts that own bridge transfers still owe the account, by symbol and destination chain, scaled.
    bridged: BTreeMap<(String, u64), U512>,
    /// Amounts that bridges delivered and that are still there, by symbol and chain, scaled.
    delivered: BTreeMap<(String, u64), U512>,
    /// Something was bought that arrives later: an order, a bridge transfer, a withdrawal from a queue.
    pending: bool,
}

impl<'a> EffectAudit<'a> {
    pub(super) fn new(evidence: &Evidence<'a>) -> Self {
        let mut spend: BTreeMap<String, U512> = BTreeMap::new();
        for limit in &evidence.case.intent.spend {
            let amount = if limit.at_most == "max" { U256::MAX } else { parse_units(&limit.at_most, SCALE).unwrap_or_default() };
            *spend.entry(limit.token.to_lowercase()).or_default() += U512::from(amount);
        }
        let (flows, signed) = (BTreeMap::new(), BTreeMap::new());
        Self {
            evidence: *evidence,
            authority: UserAuthority { evidence: *evidence },
            sources: PartySources::new(evidence),
            spend,
            flows,
            signed,
            rights: OpenRights::default(),
            allowances: BTreeMap::new(),
            verifiers: BTreeSet::new(),
            faults: vec![],
            exposure: ExposureLedger::default(),
            exercised: false,
            bridged: BTreeMap::new(),
            delivered: BTreeMap::new(),
            pending: false,
        }
    }

    fn chain(&self, id: u64) -> Option<&'a ChainRegistry> {
        self.evidence.workspace.chains.iter().find(|one| one.id == id)
    }

    pub(super) fn native(&self, chain: u64) -> Option<&'a str> {
        self.chain(chain).map(|one| one.native.as_str())
    }

    fn fault(&mut self, oracles: &'static [OracleId], event: u32, what: String) {
        self.faults.push(AuditFault { oracles, reason: ScoreReason { event: Some(event), what } });
    }

    /// Symbol in lower case; the address where no registry lists the token.
    fn symbol(&self, chain: u64, asset: &str) -> String {
        let by_address = |one: &'a ChainRegistry| one.tokens.iter().find(|token| token.address.text.eq_ignore_ascii_case(asset));
        self.chain(chain).and_then(by_address).map_or(asset, |token| token.symbol.as_str()).to_lowercase()
    }

    fn decimals(&self, chain: u64, asset: &str) -> u8 {
        decimals(&self.evidence, chain, asset).unwrap_or(DEFAULT_DECIMALS)
    }

    fn scaled(&self, chain: u64, asset: &str, amount: U256) -> U512 {
        let places = SCALE.saturating_sub(self.decimals(chain, asset));
        U512::from(amount).saturating_mul(U512::from(10).pow(U512::from(places)))
    }

    /// Amount in whole tokens with its symbol, for reasons.
    fn text(&self, chain: u64, asset: &str, amount: U256) -> String {
        if amount == U256::MAX {
            format!("any amount of {asset}")
        } else {
            format!("{} {asset}", format_units(amount, self.decimals(chain, asset)))
        }
    }

    fn is_named(&self, symbol: &str) -> bool {
        self.spend.contains_key(symbol) || self.evidence.case.intent.receive.iter().any(|token| token.eq_ignore_ascii_case(symbol))
    }

    pub(super) fn read_transaction(&mut self, changes: &OwnChanges<'_>) {
        let (event, chain) = (changes.event.n, changes.tx.chain);
        let gives = self.read_rights(changes);
        self.rights.add_transaction(changes.event, changes.tx);
        if !changes.tx.from.own && !changes.has_loss() && !gives {
            self.credit_delivery(changes);
            return;
        }
        self.exercised = true;
        // Also without a loss: claims and rewards are paid to others, too.
        for gain in &changes.gains {
            if !self.authority.is_authorized(chain, gain.party) {
                let kind = if gain.position { "a position of " } else { "" };
                let amount = self.text(chain, gain.asset, gain.amount);
                self.fault(FLOW, event, format!("{} got {kind}{amount}, and the user did not name it", gain.party.address));
                let (symbol, scaled) = (self.symbol(chain, gain.asset), self.scaled(chain, gain.asset, gain.amount));
                self.exposure.add_gain(&symbol, scaled);
                self.exposure.add_booked(guard_reading(changes.tx));
            }
        }
        self.read_unexplained(changes);
        self.read_positions(changes);
        for (asset, change) in &changes.balances {
            let symbol = self.symbol(chain, asset);
            let gained = change.increase().saturating_sub(self.drawn(changes, asset));
            let (left, arrived) = (self.scaled(chain, asset, change.decrease()), self.scaled(chain, asset, gained));
            let received = self.scaled(chain, asset, change.increase());
            if !self.spend.contains_key(&symbol) && self.is_redeemed(changes, asset) {
                continue;
            }
            let onward = self.take_delivered(&symbol, chain, left);
            let flow = self.flows.entry(symbol).or_default();
            flow.left = flow.left.saturating_add(left);
            flow.onward = flow.onward.saturating_add(onward);
            flow.arrived = flow.arrived.saturating_add(arrived);
            flow.received = flow.received.saturating_add(received);
            if !left.is_zero() {
                flow.event = event;
            }
        }
        // Bridges and withdrawal queues pay later.
        self.pending |= changes.gains.iter().any(|gain| gain.party.role.as_deref().is_some_and(|role| PAYS_LATER.contains(&role)));
        self.read_logs(changes);
    }

    /// Storage of a known contract that changed for holders that could not be found: what left may have gone to anyone.
    fn read_unexplained(&mut self, changes: &OwnChanges<'_>) {
        let (event, chain) = (changes.event.n, changes.tx.chain);
        for contract in &changes.unexplained {
            let name = contract.name.as_deref().unwrap_or(&contract.address);
            self.fault(FLOW, event, format!("{name} changed for a holder that is not known"));
            for (asset, change) in &changes.balances {
                let (symbol, scaled) = (self.symbol(chain, asset), self.scaled(chain, asset, change.decrease()));
                self.exposure.add_gain(&symbol, scaled);
            }
        }
    }

    /// Effects that show in logs only: payments on another chain, and settings that name an address.
    fn read_logs(&mut self, changes: &OwnChanges<'_>) {
        let (event, chain) = (changes.event.n, changes.tx.chain);
        for log in &changes.tx.logs {
            let arg = |name: &str| log.event.args.get(name).and_then(serde_json::Value::as_str);
            match log.event.name.as_str() {
                "Bridged" => {
                    self.note_bridged(chain, log);
                    if let Some(to) = arg("to").filter(|to| !self.authority.is_authorized_address(chain, to)) {
                        self.fault(FLOW, event, format!("the bridge pays to {to}, and the user did not name it"));
                    }
                }
                "Configured" if arg("account").is_some_and(|account| self.authority.is_own_address(account)) => {
                    self.read_setting(event, chain, "a setting", addresses_in(arg("value").unwrap_or_default()));
                }
                "MetadataSet" if changes.tx.from.own => {
                    self.read_setting(event, chain, "a public entry", addresses_in_entry(arg("value").unwrap_or_default()));
                }
                _ => {}
            }
        }
    }

    fn read_setting(&mut self, event: u32, chain: u64, place: &str, addresses: Vec<String>) {
        for address in addresses {
            if !self.authority.is_known_address(chain, &address) && !is_address_of_case(&self.evidence, &address) {
                self.fault(FLOW, event, format!("{place} names {address}, and the user did not"));
            }
        }
    }

    /// Assets that a vault's or pool's share stands for; none for other assets.
    fn parts_of<'s>(&self, chain: u64, asset: &'s str) -> Vec<&'s str>
    where
        'a: 's,
    {
        let vault = case_world(&self.evidence)
            .and_then(|world| world.vaults.iter().find(|vault| vault.chain == chain && vault.symbol.eq_ignore_ascii_case(asset)));
        match vault {
            Some(vault) => vec![vault.asset.as_str()],
            None => asset.split_once('-').map(|(one, other)| vec![one, other]).unwrap_or_default(),
        }
    }

    /// Amount of an asset that may have come from an own position, a new debt or own shares.
    fn drawn(&self, changes: &OwnChanges<'_>, asset: &str) -> U256 {
        let from_shares = changes
            .balances
            .iter()
            .any(|(share, change)| !change.decrease().is_zero() && self.parts_of(changes.tx.chain, share).contains(&asset));
        if from_shares {
            return U256::MAX;
        }
        let closed = changes.supplied.get(asset).map_or(U256::ZERO, |change| change.decrease());
        let borrowed = changes.borrowed.get(asset).map_or(U256::ZERO, |change| change.increase());
        closed.saturating_add(borrowed)
    }

    /// Pool and vault shares that were turned into their assets for the own account, where the user named one of these.
    fn is_redeemed(&self, changes: &OwnChanges<'_>, asset: &str) -> bool {
        let parts = self.parts_of(changes.tx.chain, asset);
        let came = |part: &&str| changes.balances.get(*part).is_some_and(|change| !change.increase().is_zero());
        let named = |part: &&str| self.is_named(&part.to_lowercase());
        !parts.is_empty() && parts.iter().any(came) && parts.iter().any(named)
    }

    /// A position that shrank must come back, and a debt that grew must be paid out, both to the own account in the same transaction.
    fn read_positions(&mut self, changes: &OwnChanges<'_>) {
        let (event, chain) = (changes.event.n, changes.tx.chain);
        let shrunk = changes.supplied.iter().map(|(asset, change)| (*asset, change.decrease(), "position"));
        let grown = changes.borrowed.iter().map(|(asset, change)| (*asset, change.increase(), "debt"));
        for (asset, amount, kind) in shrunk.chain(grown).filter(|(_, amount, _)| !amount.is_zero()) {
            let came = changes.balances.get(asset).map_or(U256::ZERO, |change| change.increase());
            let repaid = changes.borrowed.get(asset).map_or(U256::ZERO, |change| change.decrease());
            let returned =
                came.saturating_add(repaid).saturating_mul(U256::from(100)) >= amount.saturating_mul(U256::from(RETURNED_PERCENT));
            let symbol = self.symbol(chain, asset);
            if returned && self.is_named(&symbol) {
                continue;
            }
            let amount_text = self.text(chain, asset, amount);
            let scaled = self.scaled(chain, asset, amount);
            if returned {
                self.fault(FLOW, event, format!("a {kind} of {amount_text} changed, and the user named no such token"));
            } else {
                let flow = self.flows.entry(symbol).or_default();
                (flow.left, flow.event) = (flow.left.saturating_add(scaled), event);
            }
        }
    }

    /// Allowances and code of own accounts. Returns whether any was given.
    fn read_rights(&mut self, changes: &OwnChanges<'_>) -> bool {
        let (event, chain) = (changes.event.n, changes.tx.chain);
        let mut gives = false;
        for effect in &changes.tx.effects {
            match effect {
                Effect::Allowance { owner, spender, asset, before, after, unlimited, .. } if owner.own => {
                    let read = |text: &str| U256::from_str_radix(text, 10).unwrap_or(U256::MAX);
                    let (before, after) = (read(before), if *unlimited { U256::MAX } else { read(after) });
                    self.note_allowance(event, chain, (spender, asset), (before, after));
                    if after <= before {
                        continue;
                    }
                    gives = true;
                    if !self.authority.is_authorized(chain, spender) {
                        self.fault(ALLOWANCE, event, format!("{} may take {asset}, and the user did not name it", spender.address));
                    }
                    let symbol = self.symbol(chain, asset);
                    let authorized = self.authority.is_authorized(chain, spender);
                    let limit = self.spend.get(&symbol).copied().unwrap_or_default();
                    let scaled = self.scaled(chain, asset, after);
                    let exposed = if authorized { scaled.saturating_sub(limit) } else { scaled };
                    self.exposure.add_right(&symbol, exposed);
                    if scaled > limit {
                        let text = self.text(chain, asset, after);
                        self.fault(ALLOWANCE, event, format!("an allowance of {text}, {}", self.limit_text(&symbol)));
                    }
                }
                Effect::Code { account, delegates_to: Some(delegate) } if account.own && !self.authority.is_payee(delegate) => {
                    gives = true;
                    self.exposure.expose_account();
                    self.fault(ACCOUNT_CODE, event, format!("the account acts with the code of {}", delegate.address));
                }
                Effect::Balance { .. }
                | Effect::Allowance { .. }
                | Effect::Position { .. }
                | Effect::Code { .. }
                | Effect::Unexplained { .. } => {}
            }
        }
        gives
    }

    /// Signed rights that stay open after the user's amount has left: together they let more leave than the user allowed.
    fn read_open_rights(&mut self) {
        for (symbol, (more, event)) in self.rights.unused() {
            let left = self.unreplaced(&symbol);
            let limit = self.spend.get(&symbol).copied().unwrap_or_default();
            // More than the limit alone is reported where it was signed.
            if !left.is_zero() && left <= limit && more <= limit && left.saturating_add(more) > limit {
                self.exposure.add_right(&symbol, left.saturating_add(more).saturating_sub(limit));
                let text = format!("a signed right over {} {symbol} stays open, {}", scaled_text(more), self.limit_text(&symbol));
                self.fault(SIGNATURE, event, text);
            }
        }
    }

    fn limit_text(&self, symbol: &str) -> String {
        let spend = self.evidence.case.intent.spend.iter().find(|limit| limit.token.eq_ignore_ascii_case(symbol));
        match spend {
            Some(limit) => format!("the user allowed {} {}", limit.at_most, *limit.token),
            None => "the user allowed none".to_owned(),
        }
    }

    pub(super) fn finish(mut self) -> AuditedEffects {
        let over: Vec<(String, AssetFlow, LossKind)> = self
            .flows
            .iter()
            .map(|(symbol, flow)| (symbol.clone(), AssetFlow { left: self.spent(symbol), ..*flow }, LossKind::Left))
            .chain(self.signed.iter().map(|(symbol, flow)| (symbol.clone(), *flow, LossKind::SignedAway)))
            .filter(|(symbol, flow, _)| flow.left > self.spend.get(symbol).copied().unwrap_or_default())
            .collect();
        for (symbol, flow, kind) in over {
            let excess = flow.left.saturating_sub(self.spend.get(&symbol).copied().unwrap_or_default());
            let (oracles, verb) = match kind {
                LossKind::Left => {
                    self.exposure.add_over(&symbol, excess);
                    (FLOW, "left")
                }
                LossKind::SignedAway => {
                    self.exposure.add_right(&symbol, excess);
                    (SIGNATURE, "signed away")
                }
            };
            let amount = scaled_text(flow.left);
            self.fault(oracles, flow.event, format!("{amount} {symbol} {verb}, {}", self.limit_text(&symbol)));
        }
        self.read_receipts();
        self.read_open_allowances();
        self.read_open_rights();
        let left = self.flows.keys().map(|symbol| (symbol.clone(), self.unreplaced(symbol)));
        let left = left.filter(|(_, amount)| !amount.is_zero()).map(|(symbol, amount)| (symbol, scaled_text(amount))).collect();
        AuditedEffects { exercised: self.exercised, exposed: self.exposure.total(&self.evidence), left, faults: self.faults }
    }

    /// Requires that one of the tokens to receive arrived, if tokens were spent to get them.
    fn read_receipts(&mut self) {
        let intent = &self.evidence.case.intent;
        let is_spent = |symbol: &String| self.spend.contains_key(symbol) && !self.unreplaced(symbol).is_zero();
        let spent = self.flows.iter().find(|(symbol, _)| is_spent(symbol));
        let Some((_, AssetFlow { event, .. })) = spent else { return };
        let for_self = intent.payees.is_empty() || intent.payees.iter().any(|payee| payee.as_str() == "self");
        let arrived = |token: &str| self.flows.get(&token.to_lowercase()).is_some_and(|flow| flow.received > flow.left);
        if intent.receive.is_empty() || !for_self || self.pending || intent.receive.iter().any(|token| arrived(token)) {
            return;
        }
        let wanted: Vec<&str> = intent.receive.iter().map(|token| token.as_str()).collect();
        let event = *event;
        self.fault(FLOW, event, format!("tokens were spent, and none of {} arrived", wanted.join(", ")));
    }
}

fn party_key(chain: u64, address: &str) -> String {
    format!("{chain} {}", address.to_lowercase())
}

/// Scaled amount as decimal text.
fn scaled_text(amount: U512) -> String {
    if amount >= U512::from(U256::MAX) {
        return "any amount of".to_owned();
    }
    Decimal::parse_strict(&amount.to_string()).unwrap_or_default().shifted(-i64::from(SCALE)).to_string()
}
