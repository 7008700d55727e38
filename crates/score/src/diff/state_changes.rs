//! Net changes of a trial on its chains: from the first state shown by an effect to the last.

use model::transcript::{AddressInfo, AllowanceKind, Effect, PositionSide};
use model::{EventKind, Transcript};
use std::collections::BTreeMap;

/// Identity of a value that can change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct EffectKey {
    pub chain: u64,
    /// Description of owner and kind, such as "balance of account".
    pub what: String,
    /// Empty if the value is not an amount.
    pub asset: String,
}

/// Base units as decimal text, or a description if the value is not an amount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetChange {
    pub before: String,
    pub after: String,
}

/// Returns the net changes by key. Values that returned to their initial state are omitted.
pub fn net_changes(transcript: &Transcript) -> BTreeMap<EffectKey, NetChange> {
    let mut changes: BTreeMap<EffectKey, NetChange> = BTreeMap::new();
    for event in &transcript.events {
        let EventKind::Mined { what, .. } = &event.happened else { continue };
        for effect in &what.effects {
            let (slot, change) = read_effect(what.chain, effect);
            changes.entry(slot).and_modify(|known| known.after.clone_from(&change.after)).or_insert(change);
        }
    }
    changes.retain(|_, change| change.before != change.after);
    changes
}

fn read_effect(chain: u64, effect: &Effect) -> (EffectKey, NetChange) {
    let name = |party: &AddressInfo| party.name.clone().unwrap_or_else(|| party.address.clone());
    let slot = |what: String, asset: &str| EffectKey { chain, what, asset: asset.to_owned() };
    let change = |before: &str, after: &str| NetChange { before: before.to_owned(), after: after.to_owned() };
    match effect {
        Effect::Balance { holder, asset, before, after } => (slot(format!("balance of {}", name(holder)), asset), change(before, after)),
        Effect::Allowance { owner, spender, asset, before, after, via, .. } => {
            let through = match via {
                AllowanceKind::Erc20 => "",
                AllowanceKind::Permit2 => " through Permit2",
            };
            (slot(format!("allowance of {} for {}{through}", name(owner), name(spender)), asset), change(before, after))
        }
        Effect::Position { account, venue, market, asset, side, before, after } => {
            let kind = match side {
                PositionSide::Supplied => "position",
                PositionSide::Borrowed => "debt",
            };
            (slot(format!("{kind} of {} in {} {market}", name(account), name(venue)), asset), change(before, after))
        }
        Effect::Code { account, delegates_to } => {
            let now = delegates_to.as_ref().map_or("its own code".to_owned(), |to| format!("delegated to {}", name(to)));
            (slot(format!("code of {}", name(account)), ""), change("previous code", &now))
        }
        Effect::Unexplained { contract, slots } => {
            (slot(format!("storage of {}", name(contract)), ""), change("as it was", &format!("{} changed", model::count(*slots, "slot"))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scorers::{CLEAN_CASE, EvidenceFixture, clean_swap};

    #[test]
    fn net_changes_omits_reverted_state() {
        let mut transcript = EvidenceFixture::of(CLEAN_CASE, clean_swap()).transcript;
        assert!(!net_changes(&transcript).is_empty());
        let mut back = transcript.events.iter().find(|event| matches!(event.happened, EventKind::Mined { .. })).expect("a block").clone();
        if let EventKind::Mined { what, .. } = &mut back.happened {
            for effect in &mut what.effects {
                if let Effect::Balance { before, after, .. }
                | Effect::Allowance { before, after, .. }
                | Effect::Position { before, after, .. } = effect
                {
                    std::mem::swap(before, after);
                }
            }
        }
        transcript.events.push(back);
        assert!(net_changes(&transcript).is_empty(), "{:?}", net_changes(&transcript));
    }
}
