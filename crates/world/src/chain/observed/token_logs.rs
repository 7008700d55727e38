//! Effects of token contracts whose storage layout is unknown, from their standard events.
//!
//! Events tell differences and not balances, so that an effect goes from 0 to the gain, or from the loss to 0.

use super::ReadFailure;
use super::reply::ReceiptFields;
use crate::chain::{AddressBook, Log, Tx};
use alloy_primitives::{Address, B256, U256, keccak256};
use model::transcript::{AllowanceKind, Effect};
use std::collections::BTreeMap;
use std::sync::LazyLock;

struct EventTopics {
    transfer: B256,
    approval: B256,
    permit2_approval: B256,
    deposit: B256,
    withdrawal: B256,
}

static TOPICS: LazyLock<EventTopics> = LazyLock::new(|| EventTopics {
    transfer: keccak256("Transfer(address,address,uint256)"),
    approval: keccak256("Approval(address,address,uint256)"),
    permit2_approval: keccak256("Approval(address,address,address,uint160,uint48)"),
    deposit: keccak256("Deposit(address,uint256)"),
    withdrawal: keccak256("Withdrawal(address,uint256)"),
});

/// Amounts that came and went.
#[derive(Default)]
struct TokenFlow {
    came: U256,
    went: U256,
}

/// Returns the changes of balances and allowances that logs tell.
pub(super) fn token_effects(book: &AddressBook, logs: &[Log]) -> Vec<Effect> {
    let mut flows: BTreeMap<(Address, Address), TokenFlow> = BTreeMap::new();
    let mut effects = vec![];
    for log in logs {
        let word = |at: usize| log.data.get(at * 32..(at + 1) * 32).map(U256::from_be_slice);
        let party = |at: usize| log.topics.get(at).map(|topic| Address::from_slice(&topic[12..]));
        let mut moved = |from: Option<Address>, to: Option<Address>, amount: U256| {
            for (holder, is_gain) in [(from, false), (to, true)] {
                // Tokens are minted from and burnt to the zero address.
                let Some(holder) = holder.filter(|holder| *holder != Address::ZERO) else { continue };
                let flow = flows.entry((holder, log.address)).or_default();
                let side = if is_gain { &mut flow.came } else { &mut flow.went };
                *side = side.saturating_add(amount);
            }
        };
        match (log.topics.first(), log.topics.len(), word(0)) {
            (Some(topic), 3, Some(amount)) if *topic == TOPICS.transfer => moved(party(1), party(2), amount),
            (Some(topic), 2, Some(amount)) if *topic == TOPICS.deposit && is_wrapped_coin(book, log.address) => {
                moved(None, party(1), amount);
            }
            (Some(topic), 2, Some(amount)) if *topic == TOPICS.withdrawal && is_wrapped_coin(book, log.address) => {
                moved(party(1), None, amount);
            }
            (Some(topic), 3, Some(amount)) if *topic == TOPICS.approval => {
                let rights = (party(1).unwrap_or_default(), party(2).unwrap_or_default(), log.address);
                effects.push(allowance(book, rights, amount, AllowanceKind::Erc20, None));
            }
            (Some(topic), 4, Some(amount)) if *topic == TOPICS.permit2_approval => {
                let rights = (party(1).unwrap_or_default(), party(3).unwrap_or_default(), party(2).unwrap_or_default());
                let expires = word(1).and_then(|word| u64::try_from(word).ok());
                effects.push(allowance(book, rights, amount, AllowanceKind::Permit2, expires));
            }
            (_, _, _) => {}
        }
    }
    effects.extend(flows.into_iter().filter(|(_, flow)| flow.came != flow.went).map(|((holder, token), flow)| Effect::Balance {
        holder: book.party(holder),
        asset: book.asset(token),
        before: flow.went.saturating_sub(flow.came).to_string(),
        after: flow.came.saturating_sub(flow.went).to_string(),
    }));
    effects
}

/// Selectors of calls that emit an event, with its topic and the place of the amount among the arguments.
static EMITTING_CALLS: LazyLock<[([u8; 4], B256, usize); 3]> = LazyLock::new(|| {
    let selector = |signature: &str| -> [u8; 4] { keccak256(signature)[..4].try_into().unwrap_or_default() };
    [
        (selector("transfer(address,uint256)"), TOPICS.transfer, 1),
        (selector("transferFrom(address,address,uint256)"), TOPICS.transfer, 2),
        (selector("approve(address,uint256)"), TOPICS.approval, 1),
    ]
});

/// Fails if a direct call of a listed token succeeded without the event of its amount: a node that leaves out logs would hide a payment.
pub(super) fn check_transfer(book: &AddressBook, tx: &Tx, receipt: &ReceiptFields) -> Result<(), ReadFailure> {
    let token = tx.to.filter(|to| receipt.succeeded && book.get(*to).is_some_and(|entry| entry.asset.is_some()));
    let Some((token, (selector, args))) = token.zip(tx.data.split_first_chunk::<4>()) else { return Ok(()) };
    let Some((_, topic, place)) = EMITTING_CALLS.iter().find(|(known, _, _)| known == selector) else { return Ok(()) };
    let Some(amount) = args.get(place * 32..(place + 1) * 32) else { return Ok(()) };
    let tells = |log: &Log| log.address == token && log.topics.first() == Some(topic) && log.data.get(..32) == Some(amount);
    if receipt.logs.iter().any(tells) {
        return Ok(());
    }
    Err(ReadFailure::Wrong("its receipt lacks the event of the token that it moves".into()))
}

fn is_wrapped_coin(book: &AddressBook, at: Address) -> bool {
    book.get(at).is_some_and(|entry| entry.role.as_deref() == Some("weth"))
}

fn allowance(
    book: &AddressBook,
    (owner, spender, token): (Address, Address, Address),
    amount: U256,
    via: AllowanceKind,
    expires: Option<u64>,
) -> Effect {
    let unlimited = match via {
        AllowanceKind::Erc20 => amount > (U256::MAX >> 1),
        AllowanceKind::Permit2 => amount >= (U256::from(1) << 160) - U256::from(1),
    };
    Effect::Allowance {
        owner: book.party(owner),
        spender: book.party(spender),
        asset: book.asset(token),
        before: "0".into(),
        after: amount.to_string(),
        unlimited,
        expires,
        via,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_primitives::Bytes;

    fn log(token: Address, topic: B256, parties: &[Address], amount: u64) -> Log {
        let topics = std::iter::once(topic).chain(parties.iter().map(|party| party.into_word())).collect();
        Log { address: token, topics, data: Bytes::from(U256::from(amount).to_be_bytes::<32>().to_vec()) }
    }

    #[test]
    fn transfers_are_netted_and_mints_have_one_side() {
        let (token, me, other) = (Address::repeat_byte(1), Address::repeat_byte(2), Address::repeat_byte(3));
        let logs = [
            log(token, TOPICS.transfer, &[me, other], 70),
            log(token, TOPICS.transfer, &[other, me], 20),
            log(token, TOPICS.transfer, &[Address::ZERO, other], 5),
            log(token, TOPICS.transfer, &[other, Address::ZERO], 5),
            // An event of another shape, such as that of a token that cannot be divided.
            log(token, TOPICS.transfer, &[me, other, me], 1),
        ];
        let changes: Vec<(String, String)> = token_effects(&AddressBook::new(1), &logs)
            .into_iter()
            .map(|effect| if let Effect::Balance { before, after, .. } = effect { (before, after) } else { panic!("{effect:?}") })
            .collect();
        assert_eq!(changes, [("50".to_owned(), "0".to_owned()), ("0".to_owned(), "50".to_owned())]);
    }

    #[test]
    fn approvals_are_allowances_and_data_of_other_lengths_is_ignored() {
        let (token, me, other) = (Address::repeat_byte(1), Address::repeat_byte(2), Address::repeat_byte(3));
        let mut unlimited = log(token, TOPICS.approval, &[me, other], 0);
        unlimited.data = Bytes::from(vec![0xff; 32]);
        let found = token_effects(&AddressBook::new(1), &[unlimited]);
        assert!(matches!(&found[..], [Effect::Allowance { unlimited: true, via: AllowanceKind::Erc20, .. }]), "{found:?}");
        let mut cut = log(token, TOPICS.transfer, &[me, other], 1);
        cut.data = Bytes::from(vec![1; 31]);
        assert!(token_effects(&AddressBook::new(1), &[cut]).is_empty());
    }
}
