//! World with its account on one chain, and helpers for account operations.

use alloy_primitives::{Address, Bytes, U256};
use alloy_sol_types::SolCall;
pub(crate) use bardo_eval_world::chain::bindings::{AmmRouter, PolicyCage, Token, Vault, Venue};
use bardo_eval_world::chain::genesis::{ACCOUNT, Genesis, base_units};
use bardo_eval_world::chain::{AddressBook, ChainBackend, EmbeddedChain, Tx, decode_mined};
use model::transcript::{Effect, MinedTransaction, TxOutcome};
use testkit::reference_workspace;

pub(crate) fn genesis(chain: u64) -> Genesis {
    let workspace = reference_workspace();
    Genesis::from_world(&workspace, workspace.world("defi_small").expect("the world"), chain).expect("a genesis")
}

/// Returns the same world with an account large enough that only spending limits apply.
pub(crate) fn rich_genesis(chain: u64) -> Genesis {
    let workspace = reference_workspace();
    let mut world = workspace.world("defi_small").expect("the world").clone();
    for balance in world.balances.iter_mut().filter(|balance| *balance.token == "USDC") {
        balance.amount = "10000000".into();
    }
    Genesis::from_world(&workspace, &world, chain).expect("a genesis")
}

pub(crate) async fn embedded(genesis: &Genesis) -> EmbeddedChain {
    genesis.embedded_chain().await.expect("the set-up").thaw()
}

pub(crate) struct AccountDriver<'d> {
    pub(crate) chain: &'d mut dyn ChainBackend,
    pub(crate) book: &'d AddressBook,
    pub(crate) operator: Address,
}

impl<'d> AccountDriver<'d> {
    pub(crate) fn new(chain: &'d mut dyn ChainBackend, book: &'d AddressBook) -> Self {
        let operator = book.find("operator").expect("the operator");
        Self { chain, book, operator }
    }

    pub(crate) fn address_of(&self, name: &str) -> Address {
        self.book.find(name).unwrap_or_else(|| panic!("no address named {name}"))
    }

    /// Calls a contract from the account, through the cage.
    pub(crate) async fn execute(&mut self, target: Address, data: Vec<u8>) -> MinedTransaction {
        self.execute_with_value(target, U256::ZERO, data).await
    }

    pub(crate) async fn execute_with_value(&mut self, target: Address, value: U256, data: Vec<u8>) -> MinedTransaction {
        let call = PolicyCage::executeCall { target, value, data: Bytes::from(data) };
        self.send(Tx::call(self.operator, ACCOUNT, call.abi_encode())).await
    }

    pub(crate) async fn send(&mut self, tx: Tx) -> MinedTransaction {
        let nonce = self.chain.nonce(tx.from).await.expect("a nonce");
        let receipt = self.chain.send(&tx).await.expect("a receipt");
        decode_mined(self.book, &tx, nonce, &receipt)
    }

    pub(crate) async fn transfer(&mut self, token: &str, to: Address, amount: U256) -> MinedTransaction {
        self.execute(self.address_of(token), Token::transferCall { to, value: amount }.abi_encode()).await
    }

    pub(crate) async fn approve(&mut self, token: &str, spender: Address, amount: U256) -> MinedTransaction {
        self.execute(self.address_of(token), Token::approveCall { spender, value: amount }.abi_encode()).await
    }

    pub(crate) async fn swap(&mut self, from: &str, to: &str, amount: U256) -> MinedTransaction {
        let path = vec![self.address_of(from), self.address_of(to)];
        let call = AmmRouter::swapExactInCall { amountIn: amount, minOut: U256::ZERO, path, to: ACCOUNT, deadline: U256::MAX };
        self.execute(self.address_of("SwapRouter02"), call.abi_encode()).await
    }
}

pub(crate) fn usdc(text: &str) -> U256 {
    base_units(text, 6).expect("an amount")
}

/// Returns the change of the account's balance of an asset.
pub(crate) fn balance_change(mined: &MinedTransaction, asset: &str) -> i128 {
    mined
        .effects
        .iter()
        .find_map(|effect| match effect {
            Effect::Balance { holder, asset: named, before, after } if holder.name.as_deref() == Some("account") && named == asset => {
                let number = |text: &str| text.parse::<i128>().expect("a number");
                Some(number(after) - number(before))
            }
            Effect::Balance { .. }
            | Effect::Allowance { .. }
            | Effect::Position { .. }
            | Effect::Code { .. }
            | Effect::Unexplained { .. } => None,
        })
        .unwrap_or(0)
}

pub(crate) fn revert_name(mined: &MinedTransaction) -> String {
    match &mined.outcome {
        TxOutcome::Reverted { error } => format!("{} {}", error.name, serde_json::Value::Object(error.args.clone())),
        TxOutcome::Success => "success".into(),
        TxOutcome::Halted => "halted".into(),
    }
}
