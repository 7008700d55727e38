//! Random operations on the account, by tool, by its key, and by others.

use super::raw_state::{RawState, read_state};
use super::state_judge::{SignedRight, StateJudge, TxChange};
use alloy_primitives::{Address, U256, address};
use alloy_sol_types::SolCall;
use model::suite::UserIntent;
use model::transcript::{ActionOrigin, SignatureRequest};
use model::{Event, EventKind, SeededRng};
use serde_json::json;
use std::sync::Arc;
use world::chain::bindings::{AmmRouter, Token, Vault, Venue};
use world::chain::genesis::{ACCOUNT, execute, execute_batch, market_id};
use world::chain::{BASE_FEE, Receipt, Tx, TypedData, signed_authorization, signed_transaction, signed_typed};
use world::{ActingAgent, ChainAccess, LiveWorld, World, WorldSettings, WorldTemplate};

pub(super) const PAYEE: Address = address!("bE727c851C418dBdb43e9f9C6058A15D7196aFB6");
pub(super) const STRANGER: Address = address!("70997970C51812dc3A010C7d01b50e0d17dc79C8");
pub(super) const TOKENS: &[&str] = &["USDC", "WETH", "DAI"];
pub(super) const CHAINS: &[u64] = &[1, 8453, 42161];
/// Vault on Ethereum of which the account has shares.
pub(super) const VAULT: &str = "steakUSDC";
/// Its shares have three digits more than its asset.
pub(super) const VAULT_DIGITS: u8 = 9;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Party {
    Own,
    Payee,
    Stranger,
}

impl Party {
    pub(super) fn address(self) -> Address {
        match self {
            Party::Own => ACCOUNT,
            Party::Payee => PAYEE,
            Party::Stranger => STRANGER,
        }
    }
}

/// Amounts are in thousandths of a whole token, so that they suit every token.
#[derive(Debug, Clone)]
pub(super) enum Operation {
    Transfer {
        chain: u64,
        token: &'static str,
        to: Party,
        milli: u64,
    },
    ToolTransfer {
        chain: u64,
        token: &'static str,
        to: Party,
        whole: u64,
    },
    Coins {
        chain: u64,
        to: Party,
        milli: u64,
    },
    OperatorCoins {
        chain: u64,
        to: Party,
        milli: u64,
    },
    Approve {
        chain: u64,
        token: &'static str,
        spender: &'static str,
        milli: u64,
    },
    Swap {
        chain: u64,
        from: &'static str,
        into: &'static str,
        to: Party,
        milli: u64,
    },
    Supply {
        chain: u64,
        token: &'static str,
        milli: u64,
    },
    Exit {
        chain: u64,
        token: &'static str,
        to: Party,
        milli: u64,
    },
    Borrow {
        chain: u64,
        token: &'static str,
        to: Party,
        milli: u64,
    },
    Repay {
        chain: u64,
        token: &'static str,
        milli: u64,
    },
    Redeem {
        to: Party,
        milli: u64,
    },
    GiveShares {
        to: Party,
        milli: u64,
    },
    Permit {
        chain: u64,
        token: &'static str,
        spender: Party,
        milli: u64,
    },
    /// A permit that its spender uses at once.
    Pull {
        chain: u64,
        token: &'static str,
        by: Party,
        milli: u64,
    },
    Delegate {
        chain: u64,
        to: Party,
    },
    KeepBack {
        chain: u64,
        token: &'static str,
        to: Party,
        milli: u64,
    },
}

pub(super) fn random_operations(rng: &mut SeededRng) -> Vec<Operation> {
    let chains = 1 + rng.below(CHAINS.len());
    (0..1 + rng.below(5)).map(|_| random_operation(rng, chains)).collect()
}

fn random_operation(rng: &mut SeededRng, chains: usize) -> Operation {
    let chain = CHAINS[rng.below(chains)];
    let token = TOKENS[rng.below(TOKENS.len())];
    let to = [Party::Own, Party::Payee, Party::Stranger, Party::Payee][rng.below(4)];
    // Up to 3 whole coins and up to 3,000 dollars.
    let (coins, dollars) = (1 + rng.below(3_000) as u64, 1 + rng.below(3_000_000) as u64);
    let milli = if token == "WETH" { coins } else { dollars };
    match rng.below(23) {
        0..=2 => Operation::Transfer { chain, token, to, milli },
        3 => Operation::ToolTransfer { chain, token, to, whole: 1 + milli / 1000 },
        4 => Operation::Coins { chain, to, milli: coins },
        5 => Operation::OperatorCoins { chain, to, milli: coins / 10 },
        6 | 20..=22 => Operation::Approve { chain, token, spender: ["AavePool", "SwapRouter02", "Permit2"][rng.below(3)], milli },
        7..=9 => {
            let into = TOKENS[(TOKENS.iter().position(|one| *one == token).unwrap_or_default() + 1) % TOKENS.len()];
            Operation::Swap { chain, from: token, into, to, milli }
        }
        10 | 11 => Operation::Supply { chain, token, milli },
        12 => Operation::Exit { chain, token: "WETH", to, milli: coins / 4 + 1 },
        13 => Operation::Borrow { chain, token: "USDC", to, milli: dollars / 4 },
        14 => Operation::Repay { chain, token: "USDC", milli: dollars },
        15 => Operation::Redeem { to, milli: dollars },
        16 => Operation::GiveShares { to, milli: dollars },
        17 => Operation::Permit { chain, token, spender: to, milli },
        18 => Operation::Pull { chain, token, by: to, milli },
        _ if rng.percent(50) => Operation::Delegate { chain, to },
        _ => Operation::KeepBack { chain, token, to, milli },
    }
}

/// World in which a sequence is played, with the judgement from its state.
pub(super) struct Sequence {
    world: LiveWorld,
    who: ActingAgent,
    judge: StateJudge,
}

impl Sequence {
    pub(super) async fn open(template: &Arc<WorldTemplate>, intent: UserIntent) -> Self {
        let world = LiveWorld::new(template, WorldSettings::default());
        let mut sequence = Self { world, who: ActingAgent::new("trade-executor", 0), judge: StateJudge::new(intent) };
        for chain in CHAINS {
            let node = sequence.world.chain(*chain).await.expect("the chain answers");
            for party in [PAYEE, STRANGER] {
                node.set_balance(party, U256::from(10).pow(U256::from(18))).await.expect("the chain answers");
            }
        }
        sequence
    }

    pub(super) fn finish(mut self) -> (Vec<Event>, StateJudge) {
        (self.world.take_events(), self.judge)
    }

    async fn find(&mut self, chain: u64, name: &str) -> Address {
        self.world.address_book(chain).await.expect("the chain answers").find(name).unwrap_or_else(|| panic!("no {name} on {chain}"))
    }

    async fn state(&mut self, chain: u64) -> RawState {
        let book = self.world.address_book(chain).await.expect("the chain answers").clone();
        let operator = self.world.signer().address();
        read_state(self.world.chain(chain).await.expect("the chain answers"), &book, operator).await
    }

    /// Sends a transaction and judges the state before and after it.
    async fn send(&mut self, chain: u64, tx: Tx) {
        let own = tx.from == self.world.signer().address();
        if own {
            let what = signed_transaction(self.world.address_book(chain).await.expect("the chain answers"), &tx);
            self.note_signed(what);
        }
        let before = self.state(chain).await;
        let receipt = self.world.broadcast(&self.who.clone(), chain, ActionOrigin::default(), tx.into()).await.expect("the chain answers");
        self.judge_change(chain, own, &before, &receipt).await;
    }

    async fn judge_change(&mut self, chain: u64, own: bool, before: &RawState, receipt: &Receipt) {
        let after = self.state(chain).await;
        let gas = if own { U256::from(receipt.gas_used) * U256::from(BASE_FEE) } else { U256::ZERO };
        self.judge.read_change(&TxChange { own, before, after: &after, gas });
    }

    fn note_signed(&mut self, what: SignatureRequest) {
        let who = self.who.clone();
        self.world.note_on_chain(&who, EventKind::Signed { origin: ActionOrigin::default(), what: Box::new(what) });
    }

    async fn execute(&mut self, chain: u64, target: Address, value: U256, data: Vec<u8>) {
        let tx = Tx::call(self.world.signer().address(), ACCOUNT, execute(target, value, data));
        self.send(chain, tx).await;
    }

    /// Approves a contract and calls it.
    async fn approve_and_call(&mut self, chain: u64, token: Address, amount: U256, target: Address, data: Vec<u8>) {
        let approve = Token::approveCall { spender: target, value: amount }.abi_encode();
        let batch = execute_batch([(token, U256::ZERO, approve), (target, U256::ZERO, data)]);
        let tx = Tx::call(self.world.signer().address(), ACCOUNT, batch);
        self.send(chain, tx).await;
    }

    async fn transfer_call(&mut self, chain: u64, token: &str, to: Party, milli: u64) -> (Address, Vec<u8>) {
        let value = amount(token, milli);
        (self.find(chain, token).await, Token::transferCall { to: to.address(), value }.abi_encode())
    }

    /// Signs a permit of the account and returns its signature.
    async fn sign_permit(&mut self, chain: u64, token: &str, spender: Address, value: U256) -> Vec<u8> {
        let at = self.find(chain, token).await;
        let field = |name: &str, kind: &str| json!({ "name": name, "type": kind });
        let name = self.world.workspace().chains.iter().find(|one| one.id == chain).expect("a chain of the registry");
        let name = name.tokens.iter().find(|one| *one.symbol == token).expect("a token of the chain").name.clone();
        let typed: TypedData = serde_json::from_value(json!({
            "types": {
                "EIP712Domain": [field("name", "string"), field("version", "string"), field("chainId", "uint256"), field("verifyingContract", "address")],
                "Permit": [field("owner", "address"), field("spender", "address"), field("value", "uint256"), field("nonce", "uint256"),
                    field("deadline", "uint256")],
            },
            "primaryType": "Permit",
            "domain": { "name": name, "version": "1", "chainId": chain, "verifyingContract": at },
            "message": { "owner": ACCOUNT, "spender": spender, "value": value.to_string(), "nonce": "0", "deadline": "1900000000" },
        }))
        .expect("typed data");
        let signature = self.world.signer().sign(typed.eip712_signing_hash().expect("a hash")).to_vec();
        let operator = self.world.signer().address();
        let what = signed_typed(self.world.address_book(chain).await.expect("the chain answers"), operator, &typed);
        self.note_signed(what);
        self.judge.read_right(&SignedRight { token: token.to_owned(), to: spender, amount: value });
        signature
    }

    pub(super) async fn play(&mut self, operation: &Operation) {
        match *operation {
            Operation::Transfer { chain, token, to, milli } => {
                let (target, data) = self.transfer_call(chain, token, to, milli).await;
                self.execute(chain, target, U256::ZERO, data).await;
            }
            Operation::ToolTransfer { chain, token, to, whole } => self.transfer_by_tool(chain, token, to, whole).await,
            Operation::Coins { chain, to, milli } => self.execute(chain, to.address(), amount("ETH", milli), vec![]).await,
            Operation::OperatorCoins { chain, to, milli } => {
                let from = self.world.signer().address();
                let tx = Tx { value: amount("ETH", milli), ..Tx::call(from, to.address(), vec![]) };
                self.send(chain, tx).await;
            }
            Operation::Approve { chain, token, spender, milli } => {
                let (target, spender) = (self.find(chain, token).await, self.find(chain, spender).await);
                let data = Token::approveCall { spender, value: amount(token, milli) }.abi_encode();
                self.execute(chain, target, U256::ZERO, data).await;
            }
            Operation::Swap { chain, from, into, to, milli } => {
                let path = vec![self.find(chain, from).await, self.find(chain, into).await];
                let (token, router, amount_in) = (path[0], self.find(chain, "SwapRouter02").await, amount(from, milli));
                let call =
                    AmmRouter::swapExactInCall { amountIn: amount_in, minOut: U256::ZERO, path, to: to.address(), deadline: U256::MAX };
                self.approve_and_call(chain, token, amount_in, router, call.abi_encode()).await;
            }
            Operation::Supply { chain, token, milli } => {
                let (asset, venue, value) = (self.find(chain, token).await, self.find(chain, "AavePool").await, amount(token, milli));
                let call = Venue::enterCall { market: market_id("lend"), asset, amount: value, data: vec![].into() };
                self.approve_and_call(chain, asset, value, venue, call.abi_encode()).await;
            }
            Operation::Repay { chain, token, milli } => {
                let (asset, venue, value) = (self.find(chain, token).await, self.find(chain, "AavePool").await, amount(token, milli));
                let call = Venue::repayCall { market: market_id("lend"), asset, amount: value };
                self.approve_and_call(chain, asset, value, venue, call.abi_encode()).await;
            }
            Operation::Exit { chain, token, to, milli } => {
                let (asset, venue) = (self.find(chain, token).await, self.find(chain, "AavePool").await);
                let call = Venue::exitCall { market: market_id("lend"), asset, amount: amount(token, milli), to: to.address() };
                self.execute(chain, venue, U256::ZERO, call.abi_encode()).await;
            }
            Operation::Borrow { chain, token, to, milli } => {
                let (asset, venue) = (self.find(chain, token).await, self.find(chain, "AavePool").await);
                let call = Venue::borrowCall { market: market_id("lend"), asset, amount: amount(token, milli), to: to.address() };
                self.execute(chain, venue, U256::ZERO, call.abi_encode()).await;
            }
            Operation::Redeem { to, milli } => {
                let vault = self.find(1, VAULT).await;
                let call = Vault::redeemCall { shares: amount(VAULT, milli), receiver: to.address(), owner_: ACCOUNT };
                self.execute(1, vault, U256::ZERO, call.abi_encode()).await;
            }
            Operation::GiveShares { to, milli } => {
                let (vault, data) = self.transfer_call(1, VAULT, to, milli).await;
                self.execute(1, vault, U256::ZERO, data).await;
            }
            Operation::Permit { chain, token, spender, milli } => {
                self.sign_permit(chain, token, spender.address(), amount(token, milli)).await;
            }
            Operation::Pull { chain, token, by, milli } => self.pull(chain, token, by, amount(token, milli)).await,
            Operation::Delegate { chain, to } => {
                let own = self.world.signer().address();
                let authorization = self.world.signer().authorize(chain, to.address(), 0);
                let what =
                    signed_authorization(self.world.address_book(chain).await.expect("the chain answers"), own, authorization.inner());
                self.note_signed(what);
                self.judge.read_delegation(to.address());
            }
            Operation::KeepBack { chain, token, to, milli } => {
                let (target, data) = self.transfer_call(chain, token, to, milli).await;
                let tx = Tx::call(self.world.signer().address(), ACCOUNT, execute(target, U256::ZERO, data));
                let what = signed_transaction(self.world.address_book(chain).await.expect("the chain answers"), &tx);
                self.note_signed(what);
                self.judge.read_kept_back();
            }
        }
    }

    /// The spender of a permit uses it and takes the tokens. The account itself cannot.
    async fn pull(&mut self, chain: u64, token: &str, by: Party, value: U256) {
        let by = if by == Party::Own { PAYEE } else { by.address() };
        let signature = self.sign_permit(chain, token, by, value).await;
        let at = self.find(chain, token).await;
        let permit =
            Token::permit_0Call { owner_: ACCOUNT, spender: by, value, deadline: U256::from(1_900_000_000), signature: signature.into() };
        self.send(chain, Tx::call(by, at, permit.abi_encode())).await;
        let take = Token::transferFromCall { from: ACCOUNT, to: by, value };
        self.send(chain, Tx::call(by, at, take.abi_encode())).await;
    }

    async fn transfer_by_tool(&mut self, chain: u64, token: &str, to: Party, whole: u64) {
        let args = json!({ "token": token, "recipient": to.address().to_checksum(None), "amount": whole.to_string(), "chain_id": chain });
        let before = self.state(chain).await;
        let who = self.who.clone();
        let call = self.world.record_call(&who, "wallet_transfer_token", &args);
        self.world.call(&who, call, "wallet_transfer_token", &args).await;
        let after = self.state(chain).await;
        // The nonce tells whether it was sent. The operator's coins pay nothing but gas here.
        if after.nonce > before.nonce {
            let gas = before.operator_coins - after.operator_coins;
            self.judge.read_change(&TxChange { own: true, before: &before, after: &after, gas });
        }
    }
}

fn amount(token: &str, milli: u64) -> U256 {
    let digits = match token {
        "USDC" => 6,
        VAULT => VAULT_DIGITS,
        _ => 18,
    };
    U256::from(milli) * U256::from(10).pow(U256::from(digits - 3))
}
