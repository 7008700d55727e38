//! Calldata of the keeper during a trial: deposits from outside, bridge arrivals, renaming of stray tokens.

use crate::chain::bindings::{Token, Venue};
use alloy_primitives::{Address, U256};
use alloy_sol_types::SolCall;

pub(crate) fn rename(name: String, symbol: String) -> Vec<u8> {
    Token::setMetadataCall { name_: name, symbol_: symbol }.abi_encode()
}

pub(crate) fn mint(to: Address, value: U256) -> Vec<u8> {
    Token::mintCall { to, value }.abi_encode()
}

pub(crate) fn transfer(to: Address, value: U256) -> Vec<u8> {
    Token::transferCall { to, value }.abi_encode()
}

pub(crate) fn bridge_in(asset: Address, amount: U256, from_chain: u64, nonce: u64, to: Address) -> Vec<u8> {
    Venue::bridgeInCall { asset, amount, srcChain: U256::from(from_chain), nonce: U256::from(nonce), to }.abi_encode()
}
