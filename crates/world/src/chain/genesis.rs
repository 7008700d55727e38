//! Genesis state of a chain: our contracts at the registry's addresses, pools at pinned prices, and the agent's account with its policy.

mod holdings;
pub(crate) mod keeper_calls;
mod policy_setup;

use super::address_book::{AddressBook, AddressEntry};
pub use super::genesis_step::{ACCOUNT, GenesisStep, KEEPER};
use super::policy_contract::{PolicyDeployment, policy_deployment};
use super::{ChainBackend, ChainError, EmbeddedChain, FrozenChain, Tx, TxStatus, contracts, decode};
use crate::chain::bindings::{AmmFactory, AmmRouter, FeeBurner, IdentityRegistry, PolicyCage, Token, Vault, Venue, Weth};
use alloy_primitives::{Address, B256, Bytes, U256, address, keccak256};
use alloy_sol_types::SolCall;
use model::{Policy, Role, Workspace, WorldFile};

/// Usual address of Multicall3, which clients assume on every chain.
pub const MULTICALL3: Address = address!("cA11bde05977b3631167028862bE2a173976CA11");
/// Address of the AMM factory if the registry has none for the chain.
const FACTORY: Address = address!("FAC700000000000000000000000000000000FAC7");

/// Encodes the operator's calldata for a call by the account.
pub fn execute(target: Address, value: U256, data: Vec<u8>) -> Vec<u8> {
    PolicyCage::executeCall { target, value, data: data.into() }.abi_encode()
}

/// Like [`execute`], for several calls that are made atomically.
pub fn execute_batch(calls: impl IntoIterator<Item = (Address, U256, Vec<u8>)>) -> Vec<u8> {
    let calls = calls.into_iter().map(|(target, value, data)| PolicyCage::Call { target, value, data: data.into() }).collect();
    PolicyCage::executeBatchCall { calls }.abi_encode()
}

pub use model::parse_units as base_units;
pub use model::world::MARKETS;

pub fn market_id(name: &str) -> B256 {
    keccak256(name.as_bytes())
}

/// US dollars on each side of a pool.
const POOL_USD: u64 = 10_000_000;

/// Set-up of one chain as data, so that both backends execute the same steps.
#[derive(Debug, Clone)]
pub struct Genesis {
    pub book: AddressBook,
    pub steps: Vec<GenesisStep>,
    /// Unix time at which the set-up starts.
    pub starts_at: u64,
    /// Unix time at which the trial starts.
    pub opens_at: u64,
}

/// Time between set-up and trial, long enough that the set-up does not count for the daily limits.
const SETUP_LEAD_S: u64 = 2 * DAY_S;
const DAY_S: u64 = 86_400;

impl Genesis {
    pub fn from_world(workspace: &Workspace, world: &WorldFile, chain_id: u64) -> Result<Self, ChainError> {
        GenesisBuilder::new(workspace, world, chain_id)?.build()
    }

    /// Returns the same set-up at a time after `unix_s`, the latest block of a node. Moves by whole days, so that the time of day is kept.
    /// Returns it unchanged if it is later anyway.
    pub fn after(&self, unix_s: u64) -> Self {
        let mut moved = self.clone();
        let days = (unix_s + 1).saturating_sub(self.starts_at).div_ceil(DAY_S);
        let shift = days * DAY_S;
        (moved.starts_at, moved.opens_at) = (moved.starts_at + shift, moved.opens_at + shift);
        for step in &mut moved.steps {
            if let GenesisStep::At { unix_s } = step {
                *unix_s += shift;
            }
        }
        moved
    }

    /// Executes the steps on a node that may have blocks already, at a time after them. Returns the time at which the trial starts.
    pub async fn apply_after_latest(&self, chain: &mut dyn ChainBackend) -> Result<u64, ChainError> {
        let latest = chain.latest().await?.unix_s;
        let moved = self.after(latest.saturating_sub(1));
        if latest < moved.starts_at {
            // The first block has the same time as on an embedded chain.
            chain.set_time(moved.starts_at + 1).await?;
        }
        moved.apply(chain).await?;
        Ok(moved.opens_at)
    }

    /// Executes the steps on a chain.
    ///
    /// # Errors
    ///
    /// Fails if a transaction of the set-up reverts.
    pub async fn apply(&self, chain: &mut dyn ChainBackend) -> Result<(), ChainError> {
        for step in &self.steps {
            match step {
                GenesisStep::Etch { at, contract } => chain.etch(*at, contracts::contract(contract).runtime.clone()).await?,
                GenesisStep::Fund { who, wei } => chain.set_balance(*who, *wei).await?,
                GenesisStep::At { unix_s } => chain.set_time(*unix_s).await?,
                GenesisStep::EtchCode { at, code } => chain.etch(*at, code.clone()).await?,
                GenesisStep::Construct { at, code, what } => {
                    chain.etch(*at, code.clone()).await?;
                    let runtime = send_step(chain, Tx::call(KEEPER, *at, vec![]), what).await?;
                    if runtime.is_empty() {
                        return Err(ChainError::Unsupported(format!("the constructor of {what} returns no code")));
                    }
                    chain.etch(*at, runtime).await?;
                }
                GenesisStep::Send { from, to, data, value, what } => {
                    let tx = Tx { from: *from, to: Some(*to), value: *value, data: data.clone(), ..Tx::default() };
                    send_step(chain, tx, what).await?;
                }
            }
        }
        Ok(())
    }

    /// Returns an embedded chain after the set-up, to be shared by trials.
    pub async fn embedded_chain(&self) -> Result<FrozenChain, ChainError> {
        let mut chain = EmbeddedChain::new(self.book.chain, self.starts_at);
        self.apply(&mut chain).await?;
        Ok(chain.freeze())
    }
}

/// Sends a transaction of the set-up and returns its output.
async fn send_step(chain: &mut dyn ChainBackend, tx: Tx, what: &str) -> Result<Bytes, ChainError> {
    let receipt = chain.send(&Tx { gas: super::BLOCK_GAS / 2, ..tx }).await?;
    if receipt.status == TxStatus::Success {
        return Ok(receipt.output);
    }
    let error = decode::decode_revert(&receipt.output);
    Err(ChainError::Unsupported(format!("setting up {what} reverts with {}", error.name)))
}

struct GenesisBuilder<'b> {
    policy: &'b Policy,
    /// Address of the agent's key.
    operator: Address,
    world: &'b WorldFile,
    chain: &'b model::ChainRegistry,
    book: AddressBook,
    steps: Vec<GenesisStep>,
    weth: Address,
    factory: Address,
    /// Own policy contract, in place of the cage.
    own_policy: Option<PolicyDeployment>,
}

impl<'b> GenesisBuilder<'b> {
    fn new(workspace: &'b Workspace, world: &'b WorldFile, id: u64) -> Result<Self, ChainError> {
        let chain = workspace
            .chains
            .iter()
            .find(|chain| chain.id == id)
            .ok_or_else(|| ChainError::Unsupported(format!("chain {id} is not in the registry")))?;
        let by_role = |role: Role| chain.contracts.iter().find(|contract| contract.role == role).map(|contract| contract.address.address);
        let weth =
            by_role(Role::Weth).or_else(|| chain.tokens.iter().find(|token| *token.symbol == "WETH").map(|token| token.address.address));
        let weth = weth.ok_or_else(|| ChainError::Unsupported(format!("chain {id} has no wrapped native coin in the registry")))?;
        let factory = by_role(Role::Factory).unwrap_or(FACTORY);
        let own_policy = policy_deployment(workspace).map_err(|problem| ChainError::Unsupported(problem.what))?;
        let missing = |what: &str| ChainError::Unsupported(format!("chain {id} needs {what}"));
        let policy = workspace.policy.as_ref().ok_or_else(|| missing("policy.yaml"))?;
        let operator = world.wallet.as_ref().ok_or_else(|| missing("a wallet in the world"))?.address;
        Ok(Self { policy, operator, world, chain, book: AddressBook::new(id), steps: vec![], weth, factory, own_policy })
    }

    fn build(mut self) -> Result<Genesis, ChainError> {
        let missing = || ChainError::Unsupported(format!("chain {} needs starts_at in the world", self.book.chain));
        let opens_at = self.world.starts_at.ok_or_else(missing)?;
        self.steps.push(GenesisStep::Fund { who: KEEPER, wei: U256::from(10).pow(U256::from(27)) });
        self.add_contract(Address::ZERO, &self.chain.native.clone(), None, None, Some((self.chain.native.clone(), 18)));
        self.tokens();
        self.contracts();
        self.pools()?;
        self.vaults()?;
        self.stray_tokens();
        self.named_contracts();
        self.venue_liquidity();
        self.account()?;
        self.holdings()?;
        self.funds()?;
        // Refund the gas that the operator spent in the set-up.
        self.steps.push(GenesisStep::Fund { who: self.operator, wei: units(1, 18) });
        self.steps.push(GenesisStep::At { unix_s: opens_at });
        match &self.own_policy {
            Some(own) => {
                let steps = own.steps(self.operator).map_err(|(what, _)| ChainError::Unsupported(what))?;
                self.steps.extend(steps);
            }
            None => {
                self.limits();
                self.send(ACCOUNT, PolicyCage::startSessionCall {}.abi_encode(), U256::ZERO, "the session");
            }
        }
        Ok(Genesis { book: self.book, steps: self.steps, starts_at: opens_at.saturating_sub(SETUP_LEAD_S), opens_at })
    }

    fn add_contract(&mut self, at: Address, name: &str, role: Option<Role>, contract: Option<&'static str>, asset: Option<(String, u8)>) {
        let role = role.map(|role| role.word().to_owned());
        self.book.add(at, AddressEntry { name: name.to_owned(), role, contract, asset, own: false });
        if let Some(contract) = contract {
            self.steps.push(GenesisStep::Etch { at, contract });
        }
    }

    fn send(&mut self, to: Address, data: Vec<u8>, value: U256, what: &str) {
        self.steps.push(GenesisStep::Send { from: KEEPER, to, data: data.into(), value, what: what.to_owned() });
    }

    fn tokens(&mut self) {
        for token in &self.chain.tokens {
            let at = token.address.address;
            let contract = if at == self.weth { "Weth" } else { "Token" };
            self.add_contract(at, &token.symbol, None, Some(contract), Some((token.symbol.value.clone(), token.decimals)));
            let data = if at == self.weth {
                Weth::initCall { name_: token.name.clone(), symbol_: token.symbol.value.clone() }.abi_encode()
            } else {
                let (name, symbol) = (token.name.clone(), token.symbol.value.clone());
                Token::initCall { name_: name, symbol_: symbol, decimals_: token.decimals, owner_: KEEPER }.abi_encode()
            };
            self.send(at, data, U256::ZERO, &token.symbol);
        }
    }

    fn contracts(&mut self) {
        if !self.chain.contracts.iter().any(|contract| contract.role == Role::Factory) {
            self.add_contract(self.factory, "AmmFactory", Some(Role::Factory), Some("AmmFactory"), None);
            self.send(self.factory, AmmFactory::initCall {}.abi_encode(), U256::ZERO, "the factory");
        }
        self.add_contract(MULTICALL3, "Multicall3", None, Some("Multicall3"), None);
        for contract in &self.chain.contracts {
            let at = contract.address.address;
            if self.book.get(at).is_some() {
                continue;
            }
            let (kind, init) = self.kind_of(contract.role);
            // The wrapped native coin may be a contract in the registry instead of a token.
            let asset = (contract.role == Role::Weth).then(|| (format!("W{}", self.chain.native), 18));
            self.add_contract(at, &contract.name, Some(contract.role), kind, asset);
            if let Some(init) = init {
                self.send(at, init, U256::ZERO, &contract.name);
            }
            if kind == Some("Venue") {
                self.open_markets(at);
            }
        }
    }

    /// Returns the name and the init calldata of our contract for a role of the registry.
    fn kind_of(&self, role: Role) -> (Option<&'static str>, Option<Vec<u8>>) {
        let routed = AmmRouter::initCall { factory_: self.factory, weth_: self.weth }.abi_encode();
        let owned = Venue::initCall { owner_: KEEPER }.abi_encode();
        match role {
            Role::Router => (Some("AmmRouter"), Some(routed)),
            Role::Quoter => (Some("AmmQuoter"), Some(routed)),
            Role::Factory => (Some("AmmFactory"), Some(AmmFactory::initCall {}.abi_encode())),
            Role::Permit2 => (Some("Permit2"), None),
            Role::IdentityRegistry | Role::ReputationRegistry => (
                Some("IdentityRegistry"),
                Some(IdentityRegistry::initCall { name_: "Agents".into(), symbol_: "AGENT".into() }.abi_encode()),
            ),
            Role::SanctionsOracle => (Some("SanctionsList"), Some(owned)),
            Role::FeeBurner => {
                let uni =
                    self.chain.tokens.iter().find(|token| *token.symbol == "UNI").map_or(Address::ZERO, |token| token.address.address);
                let burn = U256::from(4_000) * U256::from(10).pow(U256::from(18));
                (Some("FeeBurner"), Some(FeeBurner::initCall { token_: uni, burnAmount_: burn }.abi_encode()))
            }
            Role::LendingPool
            | Role::Staking
            | Role::Bridge
            | Role::PerpRouter
            | Role::YieldRouter
            | Role::Restaking
            | Role::PoolManager
            | Role::PositionManager
            | Role::VaultFactory => (Some("Venue"), Some(owned)),
            Role::Weth => {
                let wrapped = format!("W{}", self.chain.native);
                (Some("Weth"), Some(Weth::initCall { name_: wrapped.clone(), symbol_: wrapped }.abi_encode()))
            }
            Role::FeeJar | Role::PriceOracle => (None, None),
        }
    }

    fn open_markets(&mut self, venue: Address) {
        for name in MARKETS {
            let call = Venue::setMarketCall { market: market_id(name), open: true, minRatioBps: 12_500 };
            self.send(venue, call.abi_encode(), U256::ZERO, "a market");
        }
        for (asset, decimals, usd8) in self.priced_assets() {
            let call = Venue::setPriceCall { asset, priceUsd8: usd8, decimals };
            self.send(venue, call.abi_encode(), U256::ZERO, "a price");
        }
    }

    /// Returns the assets with a pinned price, including the native coin: address, decimals, USD with 8 decimals.
    fn priced_assets(&self) -> Vec<(Address, u8, u128)> {
        let native = self.price(&self.chain.native).map(|usd8| (Address::ZERO, 18, usd8));
        let tokens = self.chain.tokens.iter().filter_map(|token| Some((token.address.address, token.decimals, self.price(&token.symbol)?)));
        native.into_iter().chain(tokens).collect()
    }

    fn price(&self, symbol: &str) -> Option<u128> {
        let text = self.world.prices.iter().find(|(name, _)| name.eq_ignore_ascii_case(symbol)).map(|(_, price)| price.as_str())?;
        u128::try_from(base_units(text, 8)?).ok()
    }

    fn usdc(&self) -> Option<(Address, u8)> {
        self.chain.tokens.iter().find(|token| *token.symbol == "USDC").map(|token| (token.address.address, token.decimals))
    }

    fn router(&self) -> Option<Address> {
        self.chain.contracts.iter().find(|contract| contract.role == Role::Router).map(|contract| contract.address.address)
    }

    /// Creates a pool against USDC for every priced token, at its price.
    fn pools(&mut self) -> Result<(), ChainError> {
        let router = self.router();
        let (Some((usdc, usdc_decimals)), Some(router)) = (self.usdc(), router) else { return Ok(()) };
        let side = self.world.pool_usd.unwrap_or(POOL_USD);
        for (token, decimals, usd8) in self.priced_assets() {
            if token == usdc || token == Address::ZERO || usd8 == 0 {
                continue;
            }
            let dollars = units(side, usdc_decimals);
            let amount = U256::from(side) * U256::from(10).pow(U256::from(decimals)) * U256::from(100_000_000_u64) / U256::from(usd8);
            self.mint(token, KEEPER, amount);
            self.mint(usdc, KEEPER, dollars);
            for (asset, value) in [(token, amount), (usdc, dollars)] {
                self.send(asset, Token::approveCall { spender: router, value }.abi_encode(), U256::ZERO, "an allowance of the keeper");
            }
            self.send(self.factory, AmmFactory::createPairCall { tokenA: token, tokenB: usdc }.abi_encode(), U256::ZERO, "a pool");
            let add = AmmRouter::addLiquidityCall {
                tokenA: token,
                tokenB: usdc,
                desiredA: amount,
                desiredB: dollars,
                minA: U256::ZERO,
                minB: U256::ZERO,
                to: KEEPER,
                deadline: U256::MAX,
            };
            self.send(router, add.abi_encode(), U256::ZERO, "liquidity");
            let pair = pair_address(self.factory, token, usdc);
            let symbol = format!("{}-USDC", self.book.asset(token));
            self.book.add(
                pair,
                AddressEntry {
                    name: format!("pool {symbol}"),
                    role: None,
                    contract: Some("AmmPair"),
                    asset: Some((symbol, 18)),
                    own: false,
                },
            );
        }
        Ok(())
    }

    /// Provides new units of a token: wraps native coins or mints.
    fn mint(&mut self, token: Address, to: Address, amount: U256) {
        if token != self.weth {
            return self.send(token, Token::mintCall { to, value: amount }.abi_encode(), U256::ZERO, "new tokens");
        }
        self.send(token, Weth::depositCall {}.abi_encode(), amount, "wrapped coins");
        if to != KEEPER {
            self.send(token, Token::transferCall { to, value: amount }.abi_encode(), U256::ZERO, "wrapped coins");
        }
    }

    fn vaults(&mut self) -> Result<(), ChainError> {
        for vault in self.world.vaults.iter().filter(|vault| vault.chain == self.chain.id) {
            let (asset, decimals) = self.token(&vault.asset)?;
            let at = vault.address.address;
            // Shares have three more decimals than the asset, as the vault's protection against inflation attacks.
            self.add_contract(at, &vault.symbol, None, Some("Vault"), Some((vault.symbol.clone(), decimals + 3)));
            let call = Vault::initCall { asset_: asset, name_: vault.symbol.clone(), symbol_: vault.symbol.clone(), owner_: KEEPER };
            self.send(at, call.abi_encode(), U256::ZERO, &vault.symbol);
        }
        Ok(())
    }

    fn token(&self, symbol: &str) -> Result<(Address, u8), ChainError> {
        let token = self.chain.tokens.iter().find(|token| token.symbol.eq_ignore_ascii_case(symbol));
        token
            .map(|token| (token.address.address, token.decimals))
            .ok_or_else(|| ChainError::Unsupported(format!("{symbol} is not a token of chain {}", self.chain.name)))
    }

    /// Sets up the cage with the approvals of its policy.
    fn account(&mut self) -> Result<(), ChainError> {
        let operator = self.operator;
        // Storage of an own policy contract is not decoded, so the book names no contract for it.
        let (etched, decoded) = if self.own_policy.is_some() { ("SetupAccount", None) } else { ("PolicyCage", Some("PolicyCage")) };
        self.book.add(ACCOUNT, AddressEntry { name: "account".into(), role: None, contract: decoded, asset: None, own: true });
        self.book.add(operator, AddressEntry { name: "operator".into(), role: None, contract: None, asset: None, own: true });
        self.book.add(KEEPER, AddressEntry { name: "keeper".into(), ..AddressEntry::default() });
        self.steps.push(GenesisStep::Etch { at: ACCOUNT, contract: etched });
        self.steps.push(GenesisStep::Fund { who: operator, wei: units(1, 18) });
        if self.own_policy.is_some() {
            return Ok(());
        }
        self.send(ACCOUNT, PolicyCage::initCall { owner_: KEEPER, operator_: operator }.abi_encode(), U256::ZERO, "the account");
        // The operator may halt the account.
        self.send(ACCOUNT, PolicyCage::setGuardianCall { guardian_: operator }.abi_encode(), U256::ZERO, "the guardian");
        self.lift_limits();
        self.approvals();
        self.pool_shares();
        Ok(())
    }

    fn funds(&mut self) -> Result<(), ChainError> {
        for balance in self.world.balances.iter().filter(|balance| balance.chain == self.chain.id) {
            let native = balance.token.eq_ignore_ascii_case(&self.chain.native);
            let (token, decimals) = if native { (Address::ZERO, 18) } else { self.token(&balance.token)? };
            let amount = base_units(&balance.amount, decimals)
                .ok_or_else(|| ChainError::Unsupported(format!("{} is not an amount of {}", balance.amount, balance.token.value)))?;
            if native {
                self.steps.push(GenesisStep::Fund { who: ACCOUNT, wei: amount });
            } else {
                self.mint(token, ACCOUNT, amount);
            }
        }
        Ok(())
    }
}

fn units(whole: u64, decimals: u8) -> U256 {
    U256::from(whole) * U256::from(10).pow(U256::from(decimals))
}

/// Returns the address of a pair: CREATE2 with the sorted tokens as salt.
fn pair_address(factory: Address, a: Address, b: Address) -> Address {
    let (first, second) = if a < b { (a, b) } else { (b, a) };
    let salt = keccak256([first.into_word().as_slice(), second.into_word().as_slice()].concat());
    factory.create2_from_code(salt, &contracts::contract("AmmPair").creation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn genesis_moves_by_whole_days_after_a_node() {
        let steps = vec![GenesisStep::At { unix_s: 1_000_000 }];
        let genesis = Genesis { book: AddressBook::new(1), steps, starts_at: 1_000_000 - SETUP_LEAD_S, opens_at: 1_000_000 };
        for (latest, days) in [(0, 0), (genesis.starts_at - 1, 0), (genesis.starts_at, 1), (genesis.starts_at + 3 * DAY_S, 4)] {
            let moved = genesis.after(latest);
            assert_eq!((moved.starts_at, moved.opens_at), (genesis.starts_at + days * DAY_S, genesis.opens_at + days * DAY_S), "{latest}");
            assert!(moved.starts_at > latest);
            assert!(matches!(moved.steps[..], [GenesisStep::At { unix_s }] if unix_s == moved.opens_at));
        }
    }
}
