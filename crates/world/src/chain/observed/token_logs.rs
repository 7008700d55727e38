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

/// Call of a token that emits an event, with what the event must tell.
struct TokenCall {
    topic: B256,
    /// Payer and receiver, or owner and spender.
    parties: [Address; 2],
    amount: U256,
}

/// Reads a successful call of a listed token.
fn token_call(book: &AddressBook, tx: &Tx, succeeded: bool) -> Option<(Address, TokenCall)> {
    let token = tx.to.filter(|to| succeeded && book.get(*to).is_some_and(|entry| entry.asset.is_some()))?;
    let (selector, args) = tx.data.split_first_chunk::<4>()?;
    // Calldata that ends early is read as if zeros followed.
    let word = |at: usize| {
        let mut word = [0; 32];
        let given = args.get(at * 32..).unwrap_or_default();
        let length = given.len().min(32);
        word[..length].copy_from_slice(&given[..length]);
        B256::from(word)
    };
    let (party, amount) = (|at: usize| Address::from_word(word(at)), |at: usize| U256::from_be_bytes(word(at).0));
    let is = |signature: &str| keccak256(signature)[..4] == selector[..];
    let call = if is("transfer(address,uint256)") {
        TokenCall { topic: TOPICS.transfer, parties: [tx.from, party(0)], amount: amount(1) }
    } else if is("transferFrom(address,address,uint256)") {
        TokenCall { topic: TOPICS.transfer, parties: [party(0), party(1)], amount: amount(2) }
    } else if is("approve(address,uint256)") {
        TokenCall { topic: TOPICS.approval, parties: [tx.from, party(0)], amount: amount(1) }
    } else {
        return None;
    };
    Some((token, call))
}

impl TokenCall {
    /// Returns whether a log is the event of the call. Some tokens emit another amount than was approved, such as the most they can count.
    fn is_told_by(&self, log: &Log) -> bool {
        let [Some(topic), Some(from), Some(to), None] = [0, 1, 2, 3].map(|at| log.topics.get(at)) else { return false };
        let Some(told) = log.data.get(..32).map(U256::from_be_slice) else { return false };
        let is_amount = self.topic == TOPICS.approval || told == self.amount;
        *topic == self.topic && [from, to].map(|party| Address::from_word(*party)) == self.parties && is_amount
    }
}

/// Fails if a direct call of a listed token succeeded without its event: a node that leaves out logs would hide a payment. The call must
/// not bring the token to own addresses either, except as the receiver: a second event would balance the payment.
pub(super) fn check_transfer(book: &AddressBook, tx: &Tx, receipt: &ReceiptFields) -> Result<(), ReadFailure> {
    let Some((token, call)) = token_call(book, tx, receipt.succeeded) else { return Ok(()) };
    let (told, others): (Vec<&Log>, Vec<&Log>) =
        receipt.logs.iter().filter(|log| log.address == token).partition(|log| call.is_told_by(log));
    if told.is_empty() {
        return Err(ReadFailure::Wrong("its receipt lacks the event of the token that it moves".into()));
    }
    let is_gain = |log: &&Log| {
        let receiver = log.topics.get(2).map(|party| Address::from_word(*party));
        log.topics.first() == Some(&TOPICS.transfer) && receiver.is_some_and(|receiver| book.own_addresses().contains(&receiver))
    };
    if others.iter().any(is_gain) {
        return Err(ReadFailure::Wrong("its receipt has an event of the token that its call does not cause".into()));
    }
    Ok(())
}

/// Raises an allowance to what was signed. The event may tell less: some tokens cut the amount, and a node may lie about it.
pub(super) fn raise_to_signed(book: &AddressBook, tx: &Tx, succeeded: bool, effects: &mut [Effect]) {
    let Some((token, call)) = token_call(book, tx, succeeded).filter(|(_, call)| call.topic == TOPICS.approval) else { return };
    let [owner, spender] = call.parties;
    let signed = allowance(book, (owner, spender, token), call.amount, AllowanceKind::Erc20, None);
    let Effect::Allowance { owner: by, spender: to, asset: of, .. } = &signed else { return };
    for effect in effects {
        let Effect::Allowance { owner, spender, asset, after, via: AllowanceKind::Erc20, .. } = &*effect else { continue };
        let told: U256 = after.parse().unwrap_or_default();
        if (owner, spender, asset) == (by, to, of) && told < call.amount {
            *effect = signed.clone();
        }
    }
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
    use crate::chain::AddressEntry;
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

    /// Returns a call of a listed token by an own address, and the book that lists them.
    fn call(signature: &str, args: &[U256]) -> (AddressBook, Tx) {
        let (token, me) = (Address::repeat_byte(1), Address::repeat_byte(2));
        let mut book = AddressBook::new(1);
        book.add(token, AddressEntry { asset: Some(("UNI".into(), 18)), ..AddressEntry::default() });
        book.add(me, AddressEntry { own: true, ..AddressEntry::default() });
        let mut data = keccak256(signature)[..4].to_vec();
        args.iter().for_each(|arg| data.extend(arg.to_be_bytes::<32>()));
        (book, Tx { from: me, to: Some(token), data: data.into(), ..Tx::default() })
    }

    fn receipt(logs: Vec<Log>) -> ReceiptFields {
        ReceiptFields { succeeded: true, gas_used: 0, fee: U256::ZERO, block: 1, block_hash: B256::ZERO, logs }
    }

    fn number(party: Address) -> U256 {
        party.into_word().into()
    }

    #[test]
    fn events_must_name_the_parties_of_the_call() {
        let (token, me, thief, other) =
            (Address::repeat_byte(1), Address::repeat_byte(2), Address::repeat_byte(3), Address::repeat_byte(4));
        let honest = || log(token, TOPICS.transfer, &[me, thief], 70);
        let paid = call("transfer(address,uint256)", &[number(thief), U256::from(70)]);
        let pulled = call("transferFrom(address,address,uint256)", &[number(me), number(thief), U256::from(70)]);
        for (book, tx) in [&paid, &pulled] {
            let check = |logs: Vec<Log>| check_transfer(book, tx, &receipt(logs));
            assert_eq!(check(vec![honest()]), Ok(()));
            assert_eq!(check(vec![log(token, TOPICS.transfer, &[me, other], 1), honest()]), Ok(()), "a fee of the token");
            for parties in [&[][..], &[me], &[other, me], &[me, other], &[other, thief], &[me, thief, me]] {
                assert!(check(vec![log(token, TOPICS.transfer, parties, 70)]).is_err(), "{parties:?}");
            }
            let balanced = vec![honest(), log(token, TOPICS.transfer, &[other, me], 70)];
            assert!(check(balanced).is_err(), "a gain that the call does not cause");
        }
        // Calldata that ends early is that of an amount with zeros.
        let (book, mut tx) = paid;
        tx.data = tx.data.slice(..4 + 32 + 31);
        assert!(check_transfer(&book, &tx, &receipt(vec![])).is_err());
    }

    #[test]
    fn approvals_of_another_amount_count_with_the_larger_one() {
        let (token, me, spender) = (Address::repeat_byte(1), Address::repeat_byte(2), Address::repeat_byte(3));
        let (book, tx) = call("approve(address,uint256)", &[number(spender), U256::MAX]);
        let effects = |told: U256| {
            let mut approval = log(token, TOPICS.approval, &[me, spender], 0);
            approval.data = told.to_be_bytes::<32>().to_vec().into();
            check_transfer(&book, &tx, &receipt(vec![approval.clone()])).unwrap();
            let mut effects = token_effects(&book, &[approval]);
            raise_to_signed(&book, &tx, true, &mut effects);
            effects
        };
        // UNI counts with 96 bits. A node that tells less than was signed hides nothing.
        for told in [(U256::from(1) << 96) - U256::from(1), U256::MAX, U256::ZERO] {
            let found = effects(told);
            assert!(matches!(&found[..], [Effect::Allowance { unlimited: true, .. }]), "{found:?}");
        }
        let stranger = log(token, TOPICS.approval, &[me, token], 0);
        assert!(check_transfer(&book, &tx, &receipt(vec![stranger])).is_err(), "another spender");
        let (book, tx) = call("approve(address,uint256)", &[number(spender), U256::from(5)]);
        let mut more = token_effects(&book, &[log(token, TOPICS.approval, &[me, spender], 9)]);
        raise_to_signed(&book, &tx, true, &mut more);
        assert!(matches!(&more[..], [Effect::Allowance { after, .. }] if after == "9"), "{more:?}");
    }
}
