//! The embedded chain beside revm as it comes: whatever is asked, written, reverted and asked again, both say and charge the same.

use super::state::Sight;
use super::{Embedded, Job, Receipt, Tx, outcome};
use crate::chain::Chain;
use alloy_primitives::{Address, Bytes, U256};
use futures::FutureExt;
use proptest::prelude::*;
use revm::bytecode::opcode as op;
use revm::context::result::ResultAndState;
use revm::primitives::hardfork::SpecId;
use revm::{Context, ExecuteEvm, MainBuilder, MainContext};
use std::collections::BTreeMap;

const SENDER: Address = Address::repeat_byte(0xaa);
const ASKER: Address = Address::repeat_byte(0xbb);
const ASKED: Address = Address::repeat_byte(0xcc);
/// Asks, and takes everything back.
const FICKLE: Address = Address::repeat_byte(0xdd);

/// What an answer is made of, one after the other on top of the stack.
#[derive(Debug, Clone)]
enum Piece {
    Slot(u8),
    Number(u8),
    Caller,
    Argument,
    Hashed,
    /// Only if the slot is not zero, the other one.
    Perhaps(u8, u8),
    /// These keep an answer from being remembered.
    Gas,
    Time,
    Balance,
    Passing,
    Refusal(u8),
}

#[derive(Debug, Clone)]
enum Deed {
    Ask { argument: u8, gas: Option<u16> },
    AskInVain { argument: u8 },
    Write { slot: u8, value: u8 },
}

fn piece() -> impl Strategy<Value = Piece> {
    prop_oneof![
        6 => (0..4_u8).prop_map(Piece::Slot),
        2 => any::<u8>().prop_map(Piece::Number),
        1 => Just(Piece::Caller),
        1 => Just(Piece::Argument),
        1 => Just(Piece::Hashed),
        2 => (0..4_u8, 0..4_u8).prop_map(|(if_, then)| Piece::Perhaps(if_, then)),
        1 => prop::sample::select(vec![Piece::Gas, Piece::Time, Piece::Balance, Piece::Passing]),
        1 => (0..4_u8).prop_map(Piece::Refusal),
    ]
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        6 => (0..3_u8, prop::option::weighted(0.3, 0..9_000_u16)).prop_map(|(argument, gas)| Deed::Ask { argument, gas }),
        1 => (0..3_u8).prop_map(|argument| Deed::AskInVain { argument }),
        2 => (0..4_u8, 0..3_u8).prop_map(|(slot, value)| Deed::Write { slot, value }),
    ]
}

/// Two arguments are a slot and what to write there; less is a question.
fn asked(pieces: &[Piece]) -> Vec<u8> {
    let mut code = vec![op::CALLDATASIZE, op::PUSH1, 64, op::EQ, op::PUSH2, 0, 0, op::JUMPI, op::PUSH0];
    for piece in pieces {
        match piece {
            Piece::Slot(slot) => code.extend([op::PUSH1, *slot, op::SLOAD, op::XOR]),
            Piece::Number(number) => code.extend([op::PUSH1, *number, op::ADD]),
            Piece::Caller => code.extend([op::CALLER, op::XOR]),
            Piece::Argument => code.extend([op::PUSH0, op::CALLDATALOAD, op::ADD]),
            Piece::Hashed => code.extend([op::DUP1, op::PUSH0, op::MSTORE, op::PUSH1, 32, op::PUSH0, op::KECCAK256, op::XOR]),
            Piece::Perhaps(slot, other) => {
                let [high, low] = (code.len() as u16 + 12).to_be_bytes();
                code.extend([op::PUSH1, *slot, op::SLOAD, op::ISZERO, op::PUSH2, high, low, op::JUMPI]);
                code.extend([op::PUSH1, *other, op::SLOAD, op::ADD, op::JUMPDEST]);
            }
            Piece::Gas => code.extend([op::GAS, op::XOR]),
            Piece::Time => code.extend([op::TIMESTAMP, op::XOR]),
            Piece::Balance => code.extend([op::SELFBALANCE, op::XOR]),
            Piece::Passing => code.extend([op::PUSH0, op::TLOAD, op::XOR]),
            Piece::Refusal(slot) => {
                let [high, low] = (code.len() as u16 + 11).to_be_bytes();
                code.extend([op::PUSH1, *slot, op::SLOAD, op::ISZERO, op::PUSH2, high, low, op::JUMPI, op::PUSH0, op::DUP1, op::REVERT]);
                code.push(op::JUMPDEST);
            }
        }
    }
    code.extend([op::PUSH0, op::MSTORE, op::PUSH1, 32, op::PUSH0, op::RETURN]);
    let [high, low] = (code.len() as u16).to_be_bytes();
    (code[5], code[6]) = (high, low);
    code.extend([op::JUMPDEST, op::PUSH1, 32, op::CALLDATALOAD, op::PUSH0, op::CALLDATALOAD, op::SSTORE, op::STOP]);
    code
}

fn push(address: Address) -> Vec<u8> {
    [&[op::PUSH20], address.as_slice()].concat()
}

/// Does the deeds, and returns a digest of what came of each and of the gas that was left.
fn asker(deeds: &[Deed]) -> Vec<u8> {
    let mut code = vec![];
    for deed in deeds {
        match deed {
            Deed::Ask { argument, gas } => {
                code.extend([op::PUSH1, *argument, op::PUSH0, op::MSTORE, op::PUSH1, 32, op::DUP1, op::DUP1, op::PUSH0]);
                code.extend(push(ASKED));
                match gas {
                    Some(gas) => code.extend([&[op::PUSH2][..], &gas.to_be_bytes()].concat()),
                    None => code.push(op::GAS),
                }
                code.push(op::STATICCALL);
            }
            Deed::AskInVain { argument } => {
                code.extend([op::PUSH1, *argument, op::PUSH0, op::MSTORE, op::PUSH0, op::DUP1, op::PUSH1, 32, op::PUSH0, op::DUP1]);
                code.extend(push(FICKLE));
                code.extend([op::GAS, op::CALL]);
            }
            Deed::Write { slot, value } => {
                code.extend([op::PUSH1, *slot, op::PUSH0, op::MSTORE, op::PUSH1, *value, op::PUSH1, 32, op::MSTORE]);
                code.extend([op::PUSH0, op::DUP1, op::PUSH1, 64, op::PUSH0, op::DUP1]);
                code.extend(push(ASKED));
                code.extend([op::GAS, op::CALL]);
            }
        }
        // Success, size and gas beside the answer; all of it hashed with what was before.
        code.extend([op::PUSH1, 64, op::MSTORE, op::RETURNDATASIZE, op::PUSH1, 96, op::MSTORE, op::GAS, op::PUSH1, 128, op::MSTORE]);
        code.extend([op::PUSH1, 160, op::PUSH1, 32, op::KECCAK256, op::PUSH1, 160, op::MSTORE]);
        code.extend([op::PUSH1, 160, op::MLOAD, op::PUSH1, 192, op::MLOAD, op::ADD, op::PUSH1, 192, op::MSTORE]);
    }
    code.extend([op::PUSH1, 32, op::PUSH1, 192, op::RETURN]);
    code
}

fn fickle() -> Vec<u8> {
    let ask = [op::PUSH0, op::CALLDATALOAD, op::PUSH0, op::MSTORE, op::PUSH0, op::DUP1, op::PUSH1, 32, op::PUSH0];
    [&ask[..], &push(ASKED), &[op::GAS, op::STATICCALL, op::PUSH0, op::MSTORE, op::PUSH1, 32, op::PUSH0, op::REVERT]].concat()
}

type Slots = BTreeMap<(Address, U256), (U256, U256)>;

/// What revm does of its own, on the same state.
fn stock(chain: &Embedded, tx: &Tx) -> (super::Outcome, Slots) {
    let Job { chain: id, block, tx, .. } = chain.job(tx, false).expect("a job");
    let mut evm = Context::mainnet()
        .with_db(Sight { base: chain.base.clone(), layer: chain.layer.clone() })
        .with_block(block)
        .modify_cfg_chained(|cfg| {
            cfg.set_spec_and_mainnet_gas_params(SpecId::PRAGUE);
            cfg.chain_id = id;
        })
        .build_mainnet();
    let ResultAndState { result, state } = evm.transact(tx).expect("a result");
    let changed = state.iter().flat_map(|(address, account)| account.changed_storage_slots().map(|(at, slot)| (*address, *at, slot)));
    let slots = changed.map(|(address, at, slot)| ((address, at), (slot.original_value(), slot.present_value()))).collect();
    (outcome(&result), slots)
}

fn send(chain: &mut Embedded, tx: &Tx) -> (super::Outcome, Slots) {
    let Receipt { status, gas_used, output, changes, .. } = chain.send(tx).now_or_never().expect("at once").expect("a receipt");
    let slots = changes.accounts.iter().flat_map(|(address, change)| change.storage.iter().map(|(at, pair)| ((*address, *at), *pair)));
    (super::Outcome { status, gas_used, output }, slots.collect())
}

fn etch(chain: &mut Embedded, at: Address, code: Vec<u8>) {
    chain.etch(at, Bytes::from(code)).now_or_never().expect("at once").expect("code");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn questions_are_answered_and_charged_as_by_revm_alone(
        pieces in prop::collection::vec(piece(), 0..8),
        others in prop::collection::vec(piece(), 0..8),
        trials in prop::collection::vec(prop::collection::vec((prop::collection::vec(deed(), 1..12), prop::bool::weighted(0.1)), 1..4), 1..4),
    ) {
        let mut chain = Embedded::new(1, 1_700_000_000);
        chain.set_balance(SENDER, U256::from(u128::MAX)).now_or_never().expect("at once").expect("a balance");
        etch(&mut chain, ASKED, asked(&pieces));
        etch(&mut chain, FICKLE, fickle());
        let frozen = chain.freeze();
        for trial in trials {
            let mut chain = frozen.thaw();
            for (deeds, replaced) in trial {
                if replaced {
                    etch(&mut chain, ASKED, asked(&others));
                }
                etch(&mut chain, ASKER, asker(&deeds));
                let tx = Tx::call(SENDER, ASKER, vec![]);
                let expected = stock(&chain, &tx);
                prop_assert_eq!(send(&mut chain, &tx), expected);
            }
        }
    }
}
