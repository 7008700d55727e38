//! Holdings as the contracts tell them: balances, positions, debts, allowances.

use super::operation::{PAYEE, STRANGER, TOKENS, VAULT};
use alloy_primitives::{Address, U256};
use alloy_sol_types::SolCall;
use std::collections::BTreeMap;
use world::chain::bindings::{Token, Venue};
use world::chain::genesis::{ACCOUNT, market_id};
use world::chain::{AddressBook, ChainBackend, Tx};

/// State of one chain, by asset.
#[derive(Debug, Default)]
pub(super) struct RawState {
    pub(super) nonce: u64,
    pub(super) operator_coins: U256,
    /// Balances of account and operator together.
    pub(super) own: BTreeMap<String, U256>,
    /// Balances of the others.
    pub(super) others: BTreeMap<(Address, String), U256>,
    pub(super) supplied: BTreeMap<String, U256>,
    pub(super) borrowed: BTreeMap<String, U256>,
    /// Allowances of the account, by spender.
    pub(super) allowances: BTreeMap<(Address, String), U256>,
    /// Spenders that are contracts of a protocol.
    pub(super) protocols: Vec<Address>,
}

struct StateReader<'r> {
    node: &'r mut dyn ChainBackend,
}

impl StateReader<'_> {
    async fn view<C: SolCall<Return = U256>>(&mut self, at: Address, call: C) -> U256 {
        let outcome = self.node.call(&Tx::call(ACCOUNT, at, call.abi_encode())).await.expect("the chain answers");
        C::abi_decode_returns(&outcome.output).expect("a number")
    }
}

pub(super) async fn read_state(node: &mut dyn ChainBackend, book: &AddressBook, operator: Address) -> RawState {
    let mut state = RawState { nonce: node.nonce(operator).await.expect("the chain answers"), ..RawState::default() };
    state.operator_coins = node.balance(operator).await.expect("the chain answers");
    state.own.insert("ETH".into(), state.operator_coins + node.balance(ACCOUNT).await.expect("the chain answers"));
    for other in [PAYEE, STRANGER] {
        state.others.insert((other, "ETH".into()), node.balance(other).await.expect("the chain answers"));
    }
    let venue = book.find("AavePool").expect("the venue");
    state.protocols = ["AavePool", "SwapRouter02", "Permit2"].iter().filter_map(|name| book.find(name)).collect();
    let spenders: Vec<Address> = state.protocols.iter().copied().chain([PAYEE, STRANGER]).collect();
    let mut reader = StateReader { node };
    let assets: Vec<(String, Address)> =
        TOKENS.iter().copied().chain([VAULT]).filter_map(|name| Some((name.to_owned(), book.find(name)?))).collect();
    for (name, at) in assets {
        let own = reader.view(at, Token::balanceOfCall(ACCOUNT)).await + reader.view(at, Token::balanceOfCall(operator)).await;
        state.own.insert(name.clone(), own);
        for other in [PAYEE, STRANGER] {
            state.others.insert((other, name.clone()), reader.view(at, Token::balanceOfCall(other)).await);
        }
        for spender in &spenders {
            let allowed = reader.view(at, Token::allowanceCall { owner: ACCOUNT, spender: *spender }).await;
            state.allowances.insert((*spender, name.clone()), allowed);
        }
        let (account, market, asset) = (ACCOUNT, market_id("lend"), at);
        state.supplied.insert(name.clone(), reader.view(venue, Venue::suppliedCall { account, market, asset }).await);
        state.borrowed.insert(name, reader.view(venue, Venue::borrowedCall { account, market, asset }).await);
    }
    state
}
