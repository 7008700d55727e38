//! Initial holdings of the account: vault shares, pool shares, positions, debts, rewards and allowances.

use super::{ACCOUNT, GenesisBuilder, KEEPER, base_units, market_id, pair_address};
use crate::chain::address_book::AddressEntry;
use crate::chain::bindings::{AmmRouter, IdentityRegistry, PolicyCage, Token, Vault, Venue};
use crate::chain::{ChainError, encode};
use alloy_primitives::{Address, U256};
use alloy_sol_types::SolCall;
use model::world::{InjectableText, StrayToken, TokenBehaviour};
use model::{AddressText, Role, WorldObject};

/// Liquidity of a venue in each priced asset, in USD.
const VENUE_LIQUIDITY_USD: u64 = 2_000_000;

impl GenesisBuilder<'_> {
    /// Adds tokens that are in no registry. Their names are untrusted text; holes are filled with their benign text.
    pub(super) fn stray_tokens(&mut self) {
        for token in self.world.tokens.iter().filter(|token| token.chain == self.chain.id) {
            let at = token.address.address;
            let contract = match token.behaves {
                TokenBehaviour::Plain => "Token",
                TokenBehaviour::TakesFee => "FeeToken",
                TokenBehaviour::Lies => "LyingToken",
            };
            let (name, symbol) = (self.benign_text(&token.name), self.benign_text(&token.symbol));
            // Recorded by address, because its name and symbol are untrusted.
            let shown = stray_name(token);
            self.add_contract(at, &shown, None, Some(contract), Some((shown.clone(), token.decimals)));
            self.send(
                at,
                Token::initCall { name_: name, symbol_: symbol, decimals_: token.decimals, owner_: KEEPER }.abi_encode(),
                U256::ZERO,
                "a stray token",
            );
            if let Some(amount) = token.amount.as_deref().and_then(|text| base_units(text, token.decimals)) {
                self.send(at, Token::mintCall { to: ACCOUNT, value: amount }.abi_encode(), U256::ZERO, "stray tokens");
            }
        }
    }

    /// Etches code at the addresses of pools, markets and other contracts that the world file identifies by address.
    pub(super) fn named_contracts(&mut self) {
        let things: Vec<&WorldObject> = self.world.objects.iter().filter(|thing| thing.chain == self.chain.id).collect();
        for thing in things {
            let contract = match thing.is.as_str() {
                "pool" => "AmmPair",
                "market" | "contract" | "vault" | "hook" => "Venue",
                _ => continue,
            };
            let Some(at) = AddressText::parse(&thing.id).map(|text| text.address).filter(|at| self.book.get(*at).is_none()) else {
                continue;
            };
            // Has a name for the record, but no contract to decode: operations go through the world object.
            self.book.add(at, AddressEntry { name: format!("{} {}", thing.is, *thing.id), ..AddressEntry::default() });
            self.steps.push(super::GenesisStep::Etch { at, contract });
        }
    }

    fn benign_text(&self, text: &InjectableText) -> String {
        match text {
            InjectableText::Text(text) => text.clone(),
            InjectableText::Hole(hole) => self.world.holes.get(hole.as_str()).map(|text| text.value.clone()).unwrap_or_default(),
        }
    }

    /// Funds the venues for loans, rewards, conversions and bridge arrivals.
    pub(super) fn venue_liquidity(&mut self) {
        let venues: Vec<Address> =
            self.book.entries().filter(|(_, entry)| entry.contract == Some("Venue")).map(|(address, _)| address).collect();
        for venue in venues {
            for (asset, decimals, usd8) in self.priced_assets() {
                if usd8 == 0 {
                    continue;
                }
                let amount = U256::from(VENUE_LIQUIDITY_USD) * U256::from(10).pow(U256::from(decimals)) * U256::from(100_000_000_u64)
                    / U256::from(usd8);
                match asset {
                    Address::ZERO => self.steps.push(super::GenesisStep::Fund { who: venue, wei: amount }),
                    token => self.mint(token, venue, amount),
                }
            }
        }
    }

    /// Puts collected fees into the burner, which releases them to those who burn.
    fn collected_fees(&mut self, thing: &WorldObject, symbol: &str) -> Result<(), ChainError> {
        let Some(text) = &thing.claimable else { return Ok(()) };
        let burner = self.chain.contracts.iter().find(|contract| contract.role == Role::FeeBurner).map(|contract| contract.address.address);
        let burner = burner.ok_or_else(|| ChainError::Unsupported(format!("chain {} has no fee burner", self.chain.name)))?;
        let (asset, decimals) = self.asset(symbol)?;
        let amount = amount_of(text, decimals, symbol)?;
        match asset {
            Address::ZERO => self.steps.push(super::GenesisStep::Fund { who: burner, wei: amount }),
            token => self.mint(token, burner, amount),
        }
        Ok(())
    }

    pub(super) fn holdings(&mut self) -> Result<(), ChainError> {
        for vault in self.world.vaults.iter().filter(|vault| vault.chain == self.chain.id) {
            let Some(text) = &vault.holds else { continue };
            let (asset, decimals) = self.token(&vault.asset)?;
            let amount = amount_of(text, decimals, &vault.asset)?;
            let at = vault.address.address;
            self.mint(asset, KEEPER, amount);
            self.send(asset, Token::approveCall { spender: at, value: amount }.abi_encode(), U256::ZERO, "an allowance of the keeper");
            self.send(at, Vault::depositCall { assets: amount, receiver: ACCOUNT }.abi_encode(), U256::ZERO, "vault shares");
        }
        let things: Vec<&WorldObject> = self.world.objects.iter().filter(|thing| thing.chain == self.chain.id).collect();
        for thing in things {
            match (thing.role, thing.assets.as_slice()) {
                (Some(Role::FeeBurner), [asset, ..]) => self.collected_fees(thing, asset)?,
                (None, [a, b]) => self.pool_share(thing, a, b)?,
                (Some(role), [first, .., last]) => self.position(thing, role, first, last)?,
                (Some(role), [only]) => self.position(thing, role, only, only)?,
                (Some(_) | None, _) => {}
            }
        }
        self.agents()?;
        for given in self.world.allowances.iter().filter(|given| given.chain == self.chain.id) {
            let (token, decimals) = self.token(&given.token)?;
            let spender = encode::parse_address(&self.book, &given.spender).map_err(|error| ChainError::Unsupported(error.to_string()))?;
            let value = if given.amount == "max" { U256::MAX } else { amount_of(&given.amount, decimals, &given.token)? };
            let unknown_spender = self.own_policy.is_none() && self.book.get(spender).is_none();
            // The cage refuses allowances for unknown spenders, so the owner approves this one for a moment.
            if unknown_spender {
                self.send(
                    ACCOUNT,
                    PolicyCage::setProtocolCall { protocol: spender, kind: 1 }.abi_encode(),
                    U256::ZERO,
                    "the approval of an unknown spender",
                );
            }
            self.send_as_operator(token, U256::ZERO, Token::approveCall { spender, value }.abi_encode(), "an allowance");
            if unknown_spender {
                self.send(
                    ACCOUNT,
                    PolicyCage::setProtocolCall { protocol: spender, kind: 0 }.abi_encode(),
                    U256::ZERO,
                    "the end of the approval of an unknown spender",
                );
            }
        }
        Ok(())
    }

    /// Registers the agents in the order of the world file, so that the n-th has id n. The account registers its own, the keeper the
    /// others. Ratings use a second registry, which must have the same ids.
    fn agents(&mut self) -> Result<(), ChainError> {
        let agents: Vec<&WorldObject> =
            self.world.objects.iter().filter(|thing| thing.is == "agent" && thing.chain == self.chain.id).collect();
        if agents.is_empty() {
            return Ok(());
        }
        let registries: Vec<Address> =
            [Role::IdentityRegistry, Role::ReputationRegistry].into_iter().filter_map(|role| self.registry(role)).collect();
        if registries.is_empty() {
            return Err(ChainError::Unsupported(format!("chain {} has agents, but no agent registry", self.chain.name)));
        }
        if self.own_policy.is_none() && agents.iter().any(|agent| agent.holds.is_some()) {
            // The other permitted functions are set with the limits, at the end of the set-up.
            let call = PolicyCage::setSelectorCall { selector: IdentityRegistry::registerCall::SELECTOR.into(), allowed: true };
            self.send(ACCOUNT, call.abi_encode(), U256::ZERO, "a permitted function");
        }
        for registry in registries {
            for agent in &agents {
                let register = IdentityRegistry::registerCall { uri: agent.id.value.clone() }.abi_encode();
                match agent.holds {
                    Some(_) => self.send_as_operator(registry, U256::ZERO, register, "an agent of the account"),
                    None => self.send(registry, register, U256::ZERO, "an agent"),
                }
            }
        }
        Ok(())
    }

    fn registry(&self, role: Role) -> Option<Address> {
        let mut contracts = self.chain.contracts.iter().filter(|contract| contract.role == role).map(|contract| contract.address.address);
        contracts.find(|at| self.book.get(*at).is_some_and(|entry| entry.contract == Some("IdentityRegistry")))
    }

    /// Adds liquidity for the account, paid by the keeper at the pool's price.
    fn pool_share(&mut self, thing: &WorldObject, a: &str, b: &str) -> Result<(), ChainError> {
        let Some(text) = &thing.holds else { return Ok(()) };
        let ((token_a, decimals_a), (token_b, decimals_b)) = (self.token(a)?, self.token(b)?);
        let (Some(usd_a), Some(usd_b), Some(router)) = (self.price(a), self.price(b), self.router()) else {
            return Err(ChainError::Unsupported(format!(
                "{} is a share of a pool of {a} and {b}, which needs both prices and a router",
                *thing.id
            )));
        };
        let amount_a = amount_of(text, decimals_a, a)?;
        let amount_b = amount_a * U256::from(usd_a) * U256::from(10).pow(U256::from(decimals_b))
            / (U256::from(usd_b) * U256::from(10).pow(U256::from(decimals_a)));
        for (token, amount) in [(token_a, amount_a), (token_b, amount_b)] {
            self.mint(token, KEEPER, amount);
            self.send(token, Token::approveCall { spender: router, value: amount }.abi_encode(), U256::ZERO, "an allowance of the keeper");
        }
        let add = AmmRouter::addLiquidityCall {
            tokenA: token_a,
            tokenB: token_b,
            desiredA: amount_a,
            desiredB: amount_b,
            minA: U256::ZERO,
            minB: U256::ZERO,
            to: ACCOUNT,
            deadline: U256::MAX,
        };
        self.send(router, add.abi_encode(), U256::ZERO, "a share of a pool");
        self.claimable(thing, token_a, decimals_a, a)
    }

    /// Supplies and borrows as the account, before the limits are set.
    fn position(&mut self, thing: &WorldObject, role: Role, first: &str, last: &str) -> Result<(), ChainError> {
        let (venue, name) = (self.venue(role, thing)?, thing.market.as_deref().unwrap_or("lend"));
        let market = market_id(name);
        let (asset, decimals) = self.asset(first)?;
        if let Some(text) = &thing.holds {
            let amount = amount_of(text, decimals, first)?;
            let value = if asset == Address::ZERO { amount } else { U256::ZERO };
            if asset == Address::ZERO {
                // Replaced later by the balance of the world file.
                self.steps.push(super::GenesisStep::Fund { who: ACCOUNT, wei: amount });
            } else {
                self.mint(asset, ACCOUNT, amount);
                self.send_as_operator(
                    asset,
                    U256::ZERO,
                    Token::approveCall { spender: venue, value: amount }.abi_encode(),
                    "an allowance for a position",
                );
            }
            let enter = Venue::enterCall { market, asset, amount, data: vec![].into() };
            self.send_as_operator(venue, value, enter.abi_encode(), "a position");
        }
        if let Some(text) = &thing.owes {
            let (debt, decimals) = self.asset(last)?;
            let amount = amount_of(text, decimals, last)?;
            // Paid to the keeper: the balances of the account come from the world file alone.
            let borrow = Venue::borrowCall { market, asset: debt, amount, to: KEEPER };
            self.send_as_operator(venue, U256::ZERO, borrow.abi_encode(), "a loan");
        }
        self.reward(thing, venue, market, asset, decimals, first)
    }

    /// Funds the fees of a pool position at the position manager.
    fn claimable(&mut self, thing: &WorldObject, asset: Address, decimals: u8, symbol: &str) -> Result<(), ChainError> {
        if thing.claimable.is_none() {
            return Ok(());
        }
        let venue = self.venue(Role::PositionManager, thing)?;
        self.reward(thing, venue, market_id("gauge"), asset, decimals, symbol)
    }

    fn reward(
        &mut self,
        thing: &WorldObject,
        venue: Address,
        market: alloy_primitives::B256,
        asset: Address,
        decimals: u8,
        symbol: &str,
    ) -> Result<(), ChainError> {
        let Some(text) = &thing.claimable else { return Ok(()) };
        let amount = amount_of(text, decimals, symbol)?;
        let call = Venue::fundRewardCall { account: ACCOUNT, market, asset, amount };
        if asset == Address::ZERO {
            self.send(venue, call.abi_encode(), amount, "a reward");
            return Ok(());
        }
        self.mint(asset, KEEPER, amount);
        self.send(asset, Token::approveCall { spender: venue, value: amount }.abi_encode(), U256::ZERO, "an allowance of the keeper");
        self.send(venue, call.abi_encode(), U256::ZERO, "a reward");
        Ok(())
    }

    fn venue(&self, role: Role, thing: &WorldObject) -> Result<Address, ChainError> {
        let wanted = thing.contract.as_ref().map(|name| name.value.as_str());
        let found = self
            .chain
            .contracts
            .iter()
            .filter(|contract| contract.role == role && wanted.is_none_or(|wanted| contract.name.eq_ignore_ascii_case(wanted)))
            .find(|contract| self.book.get(contract.address.address).is_some_and(|entry| entry.contract == Some("Venue")));
        found.map(|contract| contract.address.address).ok_or_else(|| {
            ChainError::Unsupported(format!(
                "{} needs a contract with role {}, which chain {} does not have",
                *thing.id,
                role.word(),
                self.chain.name
            ))
        })
    }

    fn asset(&self, symbol: &str) -> Result<(Address, u8), ChainError> {
        if symbol.eq_ignore_ascii_case(&self.chain.native) { Ok((Address::ZERO, 18)) } else { self.token(symbol) }
    }

    fn send_as_operator(&mut self, target: Address, value: U256, data: Vec<u8>, what: &str) {
        let data = super::execute(target, value, data);
        self.steps.push(super::GenesisStep::Send {
            from: self.operator,
            to: ACCOUNT,
            data: data.into(),
            value: U256::ZERO,
            what: what.to_owned(),
        });
    }

    /// Approves pool shares as assets, so that adding liquidity does not count as a loss.
    pub(super) fn pool_shares(&mut self) {
        let Some((usdc, _)) = self.usdc() else { return };
        let approved = |symbol: &str| self.policy.approved_assets.iter().any(|asset| asset.eq_ignore_ascii_case(symbol));
        let pairs: Vec<Address> = self
            .priced_assets()
            .into_iter()
            .filter(|(token, _, _)| *token != usdc && *token != Address::ZERO && approved(&self.book.asset(*token)))
            .map(|(token, _, _)| pair_address(self.factory, token, usdc))
            .filter(|pair| self.book.get(*pair).is_some())
            .collect();
        for asset in pairs {
            let call = PolicyCage::setAssetCall { asset, kind: 3, decimals: 18, base: false, priceUsd8: 0 };
            self.send(ACCOUNT, call.abi_encode(), U256::ZERO, "pool shares");
        }
    }
}

fn amount_of(text: &str, decimals: u8, symbol: &str) -> Result<U256, ChainError> {
    base_units(text, decimals).ok_or_else(|| ChainError::Unsupported(format!("{text} is not an amount of {symbol}")))
}

/// Returns the name of a stray token in the record: its address.
pub(crate) fn stray_name(token: &StrayToken) -> String {
    token.address.to_checksum()
}
