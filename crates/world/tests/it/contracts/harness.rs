//! In-memory EVM with our contracts, and helpers for contract tests.

use alloy_primitives::{Address, B256, Bytes, Log, U256, address, keccak256};
use alloy_sol_types::{SolCall, SolError, SolEvent};
use k256::ecdsa::SigningKey;
use revm::context::TxEnv;
use revm::context::result::ExecutionResult;
use revm::database::{CacheDB, EmptyDB};
use revm::primitives::TxKind;
use revm::primitives::hardfork::SpecId;
use revm::state::{AccountInfo, Bytecode};
use revm::{Context, DatabaseRef, ExecuteCommitEvm, ExecuteEvm, MainBuilder, MainContext};

pub(crate) use bardo_eval_world::chain::bindings::*;
pub(crate) use bardo_eval_world::chain::contracts::contract;

pub(crate) const CHAIN_ID: u64 = 8453;
pub(crate) const START: u64 = 1_800_000_000;
pub(crate) const FOREVER: U256 = U256::MAX;
pub(crate) const NATIVE: Address = Address::ZERO;
pub(crate) const OWNER: Address = address!("0x0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e");

/// Returns an address derived from a name.
pub(crate) fn address_named(name: &str) -> Address {
    Address::from_slice(&keccak256(name)[12..])
}

pub(crate) fn units(amount: u64, decimals: u8) -> U256 {
    U256::from(amount) * U256::from(10).pow(U256::from(decimals))
}

/// Returns the revert data of an error.
pub(crate) fn revert_data(error: impl SolError) -> Bytes {
    error.abi_encode().into()
}

pub(crate) fn selector_of<E: SolError>() -> [u8; 4] {
    E::SELECTOR
}

/// Splits revert data into selector and arguments.
pub(crate) fn split_revert(answer: &Bytes) -> ([u8; 4], &[u8]) {
    let (selector, rest) = answer.split_first_chunk().unwrap_or_else(|| panic!("no revert selector: {answer}"));
    (*selector, rest)
}

pub(crate) struct TxResult<T> {
    pub(crate) value: T,
    pub(crate) logs: Vec<Log>,
}

impl<T> TxResult<T> {
    /// Returns the events of one kind with their emitting contracts.
    pub(crate) fn events<E: SolEvent>(&self) -> Vec<(Address, E)> {
        self.logs.iter().filter_map(|log| Some((log.address, E::decode_log_data(&log.data).ok()?))).collect()
    }

    pub(crate) fn event<E: SolEvent>(&self) -> E {
        let mut found = self.events();
        assert_eq!(found.len(), 1, "{} happened {} times", E::SIGNATURE, found.len());
        found.remove(0).1
    }
}

#[derive(Clone)]
pub(crate) struct TestChain {
    db: CacheDB<EmptyDB>,
    pub(crate) now: u64,
}

impl TestChain {
    pub(crate) fn new() -> Self {
        Self { db: CacheDB::new(EmptyDB::default()), now: START }
    }

    pub(crate) fn etch(&mut self, name: &str, at: Address) {
        let code = Bytecode::new_raw(contract(name).runtime.clone());
        let balance = self.ether(at);
        self.db.insert_account_info(
            at,
            AccountInfo { code_hash: code.hash_slow(), code: Some(code), nonce: 1, balance, ..Default::default() },
        );
    }

    pub(crate) fn give_ether(&mut self, to: Address, wei: U256) {
        let mut info = self.db.basic_ref(to).expect("memory never fails").unwrap_or_default();
        info.balance += wei;
        self.db.insert_account_info(to, info);
    }

    pub(crate) fn ether(&self, of: Address) -> U256 {
        self.db.basic_ref(of).expect("memory never fails").unwrap_or_default().balance
    }

    pub(crate) fn transact(&mut self, from: Address, to: Address, value: U256, data: Bytes, keep: bool) -> ExecutionResult {
        let mut evm = Context::mainnet()
            .with_db(&mut self.db)
            .modify_cfg_chained(|cfg| {
                cfg.set_spec_and_mainnet_gas_params(SpecId::PRAGUE);
                cfg.chain_id = CHAIN_ID;
                cfg.disable_nonce_check = true;
                cfg.disable_balance_check = false;
                cfg.disable_base_fee = true;
                cfg.disable_eip3607 = true;
                cfg.disable_block_gas_limit = true;
            })
            .modify_block_chained(|block| {
                block.timestamp = U256::from(self.now);
                block.number = U256::from(1);
            })
            .build_mainnet();
        let tx = TxEnv {
            caller: from,
            kind: TxKind::Call(to),
            value,
            data,
            gas_limit: 16_000_000,
            gas_price: 0,
            chain_id: Some(CHAIN_ID),
            ..Default::default()
        };
        if keep { evm.transact_commit(tx).expect("a valid transaction") } else { evm.transact(tx).expect("a valid transaction").result }
    }

    pub(crate) fn try_send<C: SolCall>(&mut self, from: Address, to: Address, value: U256, call: &C) -> Result<TxResult<C::Return>, Bytes> {
        match self.transact(from, to, value, call.abi_encode().into(), true) {
            ExecutionResult::Success { logs, output, .. } => {
                Ok(TxResult { value: C::abi_decode_returns(output.data()).expect("the answer of this function"), logs })
            }
            ExecutionResult::Revert { output, .. } => Err(output),
            ExecutionResult::Halt { reason, .. } => panic!("{} halted: {reason:?}", C::SIGNATURE),
        }
    }

    pub(crate) fn send_with_value<C: SolCall>(&mut self, from: Address, to: Address, value: U256, call: C) -> TxResult<C::Return> {
        self.try_send(from, to, value, &call).unwrap_or_else(|answer| panic!("{} failed: {}", C::SIGNATURE, describe_revert(&answer)))
    }

    pub(crate) fn send<C: SolCall>(&mut self, from: Address, to: Address, call: C) -> TxResult<C::Return> {
        self.send_with_value(from, to, U256::ZERO, call)
    }

    /// Returns the revert data of a transaction that must fail.
    pub(crate) fn expect_revert<C: SolCall>(&mut self, from: Address, to: Address, call: C) -> Bytes {
        self.expect_revert_with_value(from, to, U256::ZERO, call)
    }

    pub(crate) fn expect_revert_with_value<C: SolCall>(&mut self, from: Address, to: Address, value: U256, call: C) -> Bytes {
        match self.try_send(from, to, value, &call) {
            Ok(_) => panic!("{} was not refused", C::SIGNATURE),
            Err(answer) => answer,
        }
    }

    pub(crate) fn view<C: SolCall>(&mut self, to: Address, call: C) -> C::Return {
        self.try_view(to, call).unwrap_or_else(|answer| panic!("{} failed: {}", C::SIGNATURE, describe_revert(&answer)))
    }

    pub(crate) fn try_view<C: SolCall>(&mut self, to: Address, call: C) -> Result<C::Return, Bytes> {
        match self.transact(Address::ZERO, to, U256::ZERO, call.abi_encode().into(), false) {
            ExecutionResult::Success { output, .. } => Ok(C::abi_decode_returns(output.data()).expect("the answer of this function")),
            ExecutionResult::Revert { output, .. } => Err(output),
            ExecutionResult::Halt { reason, .. } => panic!("{} halted: {reason:?}", C::SIGNATURE),
        }
    }

    // Tokens

    pub(crate) fn token(&mut self, symbol: &str, decimals: u8) -> Address {
        self.token_of("Token", symbol, decimals)
    }

    pub(crate) fn token_of(&mut self, contract: &str, symbol: &str, decimals: u8) -> Address {
        let at = address_named(symbol);
        self.etch(contract, at);
        self.send(
            OWNER,
            at,
            Token::initCall { name_: symbol.to_lowercase(), symbol_: symbol.to_owned(), decimals_: decimals, owner_: OWNER },
        );
        at
    }

    pub(crate) fn weth(&mut self) -> Address {
        let at = address_named("WETH");
        self.etch("Weth", at);
        self.send(OWNER, at, Weth::initCall { name_: "Wrapped Ether".to_owned(), symbol_: "WETH".to_owned() });
        at
    }

    pub(crate) fn mint(&mut self, token: Address, to: Address, value: U256) {
        self.send(OWNER, token, Token::mintCall { to, value });
    }

    pub(crate) fn balance(&mut self, token: Address, account: Address) -> U256 {
        if token == NATIVE { self.ether(account) } else { self.view(token, Token::balanceOfCall(account)) }
    }

    pub(crate) fn allow(&mut self, owner: Address, token: Address, spender: Address) {
        self.send(owner, token, Token::approveCall { spender, value: U256::MAX });
    }

    pub(crate) fn allowance(&mut self, token: Address, owner: Address, spender: Address) -> U256 {
        self.view(token, Token::allowanceCall { owner, spender })
    }
}

/// Formats revert data for assertion messages.
fn describe_revert(answer: &Bytes) -> String {
    let text = String::from_utf8_lossy(answer);
    format!("{answer} {}", text.chars().filter(char::is_ascii_graphic).collect::<String>())
}

/// Key pair derived from a name.
pub(crate) struct TestSigner(SigningKey);

impl TestSigner {
    pub(crate) fn new(name: &str) -> Self {
        Self(SigningKey::from_slice(keccak256(name).as_slice()).expect("a hash is a valid key with overwhelming probability"))
    }

    pub(crate) fn address(&self) -> Address {
        Address::from_public_key(self.0.verifying_key())
    }

    /// Returns r, s and v in 65 bytes.
    pub(crate) fn sign(&self, hash: B256) -> Bytes {
        let (signature, id) = self.0.sign_prehash_recoverable(hash.as_slice()).expect("a hash can be signed");
        let mut bytes = signature.to_bytes().to_vec();
        bytes.push(27 + id.to_byte());
        bytes.into()
    }
}
