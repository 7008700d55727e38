//! Transaction builder and contract reader for one chain: resolves names, ids and symbols to addresses.

use super::args::{ToolArgs, scalar_text};
use super::tool_error::{ToolError, quote_value};
use crate::chain::bindings::Token;
use crate::chain::genesis::{ACCOUNT, base_units};
use crate::chain::{AddressBook, ChainBackend, ChainError, Tx, TxStatus};
use alloy_primitives::{Address, U256};
use alloy_sol_types::SolCall;
use model::transcript::ToolErrorCode;
use model::{AddressText, AmountAsset, AmountUnit, OpTarget, ParamKind, Policy, Role, Workspace, WorldFile, WorldObject};
use serde_json::Value;

pub(crate) use model::format_units as human;

pub(crate) struct TxBuilder<'d> {
    pub workspace: &'d Workspace,
    pub policy: &'d Policy,
    /// Address of the agent's key.
    pub operator: Address,
    pub world: &'d WorldFile,
    pub book: &'d AddressBook,
    pub chain: &'d mut dyn ChainBackend,
    pub id: u64,
    pub unix_s: u64,
    /// Seconds by which the chain's time is ahead of the world file's.
    pub clock_shift_s: u64,
    /// Objects of the world file, then those created in this trial.
    pub things: &'d [WorldObject],
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AssetInfo {
    pub at: Address,
    pub symbol: String,
    pub decimals: u8,
}

impl AssetInfo {
    pub(crate) fn is_native(&self) -> bool {
        self.at == Address::ZERO
    }
}

/// Conventional placeholder address of the native coin.
const NATIVE_ALIAS: &str = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";

impl TxBuilder<'_> {
    pub(crate) fn registry(&self) -> Option<&model::ChainRegistry> {
        self.workspace.chains.iter().find(|chain| chain.id == self.id)
    }

    /// Resolves a token by symbol or address, or the native coin.
    pub(crate) fn asset(&self, text: &str) -> Result<AssetInfo, ToolError> {
        let native = self.registry().map(|chain| chain.native.clone()).unwrap_or_default();
        if text.eq_ignore_ascii_case(&native) || text.eq_ignore_ascii_case(NATIVE_ALIAS) {
            return Ok(AssetInfo { at: Address::ZERO, symbol: native, decimals: 18 });
        }
        let at = if text.starts_with("0x") {
            AddressText::parse(text).map(|address| address.address).ok_or_else(|| {
                ToolError::new(
                    ToolErrorCode::InvalidAddress,
                    format!("{} is not a valid address (expected 0x and 40 hex digits)", quote_value(text)),
                )
            })?
        } else {
            // Pool shares have symbols too, but are not traded as tokens.
            let named = self.book.entries().find(|(_, entry)| {
                entry.contract != Some("AmmPair") && entry.asset.as_ref().is_some_and(|(symbol, _)| symbol.eq_ignore_ascii_case(text))
            });
            named.map(|(at, _)| at).ok_or_else(|| self.unknown_token(text))?
        };
        let known = self.book.get(at).and_then(|entry| entry.asset.clone());
        known.map(|(symbol, decimals)| AssetInfo { at, symbol, decimals }).ok_or_else(|| self.unknown_token(text))
    }

    fn unknown_token(&self, text: &str) -> ToolError {
        ToolError::new(ToolErrorCode::UnknownToken, format!("{} is not a known token on chain {}", quote_value(text), self.id))
    }

    /// Returns the pool, vault, market or position with this id or address on this chain.
    pub(crate) fn thing(&self, text: &str) -> Option<&WorldObject> {
        self.things.iter().find(|thing| thing.chain == self.id && thing.id.eq_ignore_ascii_case(text))
    }

    /// Returns the assets behind the token, vault, pool, position or market that a parameter names.
    pub(crate) fn underlying_assets(&self, text: &str) -> Result<Vec<AssetInfo>, ToolError> {
        if let Some(thing) = self.thing(text) {
            return thing.assets.iter().map(|symbol| self.asset(symbol)).collect();
        }
        if let Some(address) = AddressText::parse(text).map(|address| address.address) {
            if let Some(vault) = self.world.vaults.iter().find(|vault| vault.chain == self.id && vault.address.address == address) {
                return Ok(vec![self.asset(&vault.asset)?]);
            }
            if let Some((a, b)) = self.pair_tokens(address) {
                return Ok(vec![a, b]);
            }
        }
        self.asset(text).map(|asset| vec![asset]).map_err(|_| {
            ToolError::new(
                ToolErrorCode::NotFound,
                format!("{} is not a known token, pool, vault, market or position on chain {}", quote_value(text), self.id),
            )
        })
    }

    fn pair_tokens(&self, pair: Address) -> Option<(AssetInfo, AssetInfo)> {
        let entry = self.book.get(pair).filter(|entry| entry.contract == Some("AmmPair"))?;
        let (symbol, _) = entry.asset.as_ref()?;
        let (a, b) = symbol.rsplit_once('-')?;
        Some((self.asset(a).ok()?, self.asset(b).ok()?))
    }

    /// Returns the pool of two assets, in either order.
    pub(crate) fn pair(&self, a: &AssetInfo, b: &AssetInfo) -> Result<Address, ToolError> {
        let wrapped = |asset: &AssetInfo| if asset.is_native() { format!("W{}", asset.symbol) } else { asset.symbol.clone() };
        let (a, b) = (wrapped(a), wrapped(b));
        let found = self.book.entries().find(|(_, entry)| {
            entry.contract == Some("AmmPair")
                && entry.asset.as_ref().is_some_and(|(symbol, _)| *symbol == format!("{a}-{b}") || *symbol == format!("{b}-{a}"))
        });
        found.map(|(at, _)| at).ok_or_else(|| ToolError::new(ToolErrorCode::NoRoute, format!("no {a}/{b} pool on chain {}", self.id)))
    }

    /// Resolves the registry contract of an operation; it must be one of `kinds`.
    pub(crate) fn contract(&self, via: &OpTarget, kinds: &[&str]) -> Result<Address, ToolError> {
        let wanted = via.contract.as_ref().map(|name| name.value.as_str());
        let fits = |contract: &&model::RegistryContract| {
            via.role.is_none_or(|role| contract.role == role)
                && wanted.is_none_or(|wanted| contract.name.eq_ignore_ascii_case(wanted))
                && self.book.get(contract.address.address).and_then(|entry| entry.contract).is_some_and(|kind| kinds.contains(&kind))
        };
        let found = self.registry().and_then(|chain| chain.contracts.iter().find(fits));
        found.map(|contract| contract.address.address).ok_or_else(|| {
            let what = wanted.or(via.role.map(Role::word)).unwrap_or("such contract");
            ToolError::new(ToolErrorCode::ChainNotSupported, format!("chain {} has no {what}", self.id))
        })
    }

    pub(crate) fn router(&self) -> Result<Address, ToolError> {
        self.contract(&OpTarget { role: Some(Role::Router), ..OpTarget::default() }, &["AmmRouter"])
    }

    pub(crate) fn quoter(&self) -> Result<Address, ToolError> {
        self.contract(&OpTarget { role: Some(Role::Quoter), ..OpTarget::default() }, &["AmmQuoter"])
    }

    /// Returns an amount argument in base units of its asset. `all` and `max` return `U256::MAX`.
    pub(crate) fn amount(
        &self,
        args: &ToolArgs<'_>,
        name: &str,
        kind: &ParamKind,
        value: &Value,
        asset: &AssetInfo,
    ) -> Result<U256, ToolError> {
        let text = scalar_text(value);
        if matches!(text.as_str(), "all" | "max") {
            return Ok(U256::MAX);
        }
        let decimals = match kind.amount() {
            Some((AmountUnit::Base, _)) => 0,
            Some((AmountUnit::Usd, _)) => 8,
            Some((AmountUnit::Shares, of)) => self.share_decimals(args, of).unwrap_or(18),
            Some((AmountUnit::Human, _)) | None => asset.decimals,
        };
        super::args::parse_amount(name, &text, decimals)
    }

    fn share_decimals(&self, args: &ToolArgs<'_>, of: Option<&AmountAsset>) -> Option<u8> {
        let Some(AmountAsset::Param(param)) = of else { return None };
        let vault = AddressText::parse(&args.text(param)?)?;
        self.book.get(vault.address).and_then(|entry| entry.asset.as_ref()).map(|(_, decimals)| *decimals)
    }

    pub(crate) async fn read<C: SolCall>(&mut self, to: Address, call: &C) -> Result<C::Return, ToolError> {
        let outcome = self.chain.call(&Tx::call(ACCOUNT, to, call.abi_encode())).await?;
        if outcome.status != TxStatus::Success {
            let error = crate::chain::revert_name(&outcome.output);
            return Err(ToolError::new(ToolErrorCode::CallReverted, format!("{} reverted with {error}", C::SIGNATURE)));
        }
        C::abi_decode_returns(&outcome.output)
            .map_err(|error| ChainError::Node(format!("{} returned invalid data: {error}", C::SIGNATURE)).into())
    }

    pub(crate) async fn own_balance(&mut self, asset: Address) -> Result<U256, ToolError> {
        match asset {
            Address::ZERO => Ok(self.chain.balance(ACCOUNT).await?),
            token => self.read(token, &Token::balanceOfCall(ACCOUNT)).await,
        }
    }

    pub(crate) async fn allowance(&mut self, token: Address, spender: Address) -> Result<U256, ToolError> {
        self.read(token, &Token::allowanceCall { owner: ACCOUNT, spender }).await
    }

    /// Returns the USD price of one whole unit, with 8 decimals.
    pub(crate) fn price(&self, symbol: &str) -> Option<U256> {
        price(self.world, symbol)
    }

    pub(crate) fn usd8(&self, asset: &AssetInfo, amount: U256) -> Option<U256> {
        Some(amount.checked_mul(self.price(&asset.symbol)?)? / U256::from(10).pow(U256::from(asset.decimals)))
    }
}

pub(crate) fn price(world: &WorldFile, symbol: &str) -> Option<U256> {
    let text = world.prices.iter().find(|(name, _)| name.eq_ignore_ascii_case(symbol)).map(|(_, price)| price.as_str())?;
    base_units(text, 8)
}
