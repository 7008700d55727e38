//! Overview of an account on one chain: balances, allowances, positions and spending limits.

use super::genesis::ACCOUNT;
use super::{AddressBook, ChainBackend, ChainError, Tx, TxStatus};
use crate::chain::bindings::{PolicyCage, Token, Venue};
use alloy_primitives::{Address, U256};
use alloy_sol_types::SolCall;
use model::transcript::AddressInfo;

#[derive(Debug, Clone)]
pub struct AccountOverview {
    pub chain: u64,
    pub accounts: Vec<AddressInfo>,
    pub balances: Vec<AssetHolding>,
    pub allowances: Vec<TokenAllowance>,
    pub positions: Vec<VenuePosition>,
    /// Absent with an own policy contract, whose limits cannot be read.
    pub limits: Option<SpendingStatus>,
}

#[derive(Debug, Clone)]
pub struct AssetHolding {
    pub holder: AddressInfo,
    pub asset: String,
    pub decimals: u8,
    pub amount: U256,
}

#[derive(Debug, Clone)]
pub struct TokenAllowance {
    pub owner: AddressInfo,
    pub spender: AddressInfo,
    pub asset: String,
    pub amount: U256,
}

#[derive(Debug, Clone)]
pub struct VenuePosition {
    pub venue: AddressInfo,
    pub market: &'static str,
    pub asset: String,
    pub supplied: U256,
    pub borrowed: U256,
}

/// Limits and spending of the account, in USD with 8 decimals.
#[derive(Debug, Clone)]
pub struct SpendingStatus {
    pub per_transaction: u128,
    pub per_session: u128,
    pub per_day: u128,
    pub spent_session: U256,
    pub spent_day: U256,
    pub nav: U256,
    pub writes_per_hour: u32,
    pub halted: bool,
}

/// Reads the overview of the account of this world on one chain.
pub async fn account_overview(chain: &mut dyn ChainBackend, book: &AddressBook) -> Result<AccountOverview, ChainError> {
    let own: Vec<Address> = book.entries().filter(|(_, entry)| entry.own).map(|(address, _)| address).collect();
    let assets: Vec<(Address, String, u8)> =
        book.entries().filter_map(|(at, entry)| entry.asset.clone().map(|(symbol, decimals)| (at, symbol, decimals))).collect();
    let spenders: Vec<Address> = book
        .entries()
        .filter(|(_, entry)| matches!(entry.contract, Some("AmmRouter" | "Vault" | "Venue" | "Permit2" | "FeeBurner")))
        .map(|(at, _)| at)
        .collect();
    let mut balances = vec![];
    let mut allowances = vec![];
    for holder in &own {
        for (asset, symbol, decimals) in &assets {
            let amount = holding(chain, *asset, *holder).await?;
            if amount > U256::ZERO {
                balances.push(AssetHolding { holder: book.party(*holder), asset: symbol.clone(), decimals: *decimals, amount });
            }
            for spender in spenders.iter().filter(|_| *asset != Address::ZERO) {
                let amount = read(chain, *asset, &Token::allowanceCall { owner: *holder, spender: *spender }).await?;
                if amount > U256::ZERO {
                    allowances.push(TokenAllowance {
                        owner: book.party(*holder),
                        spender: book.party(*spender),
                        asset: symbol.clone(),
                        amount,
                    });
                }
            }
        }
    }
    Ok(AccountOverview {
        chain: book.chain,
        accounts: own.iter().map(|account| book.party(*account)).collect(),
        balances,
        allowances,
        positions: positions(chain, book, &assets).await?,
        limits: match book.get(ACCOUNT).and_then(|entry| entry.contract) {
            Some(_) => Some(spending(chain).await?),
            None => None,
        },
    })
}

async fn holding(chain: &mut dyn ChainBackend, asset: Address, holder: Address) -> Result<U256, ChainError> {
    if asset == Address::ZERO { chain.balance(holder).await } else { read(chain, asset, &Token::balanceOfCall(holder)).await }
}

async fn positions(
    chain: &mut dyn ChainBackend,
    book: &AddressBook,
    assets: &[(Address, String, u8)],
) -> Result<Vec<VenuePosition>, ChainError> {
    let mut found = vec![];
    let venues: Vec<Address> = book.entries().filter(|(_, entry)| entry.contract == Some("Venue")).map(|(at, _)| at).collect();
    for venue in venues {
        for name in super::genesis::MARKETS {
            for (asset, symbol, _) in assets {
                let (account, market, asset) = (ACCOUNT, super::genesis::market_id(name), *asset);
                let supplied = read(chain, venue, &Venue::suppliedCall { account, market, asset }).await?;
                let borrowed = read(chain, venue, &Venue::borrowedCall { account, market, asset }).await?;
                if supplied > U256::ZERO || borrowed > U256::ZERO {
                    found.push(VenuePosition { venue: book.party(venue), market: name, asset: symbol.clone(), supplied, borrowed });
                }
            }
        }
    }
    Ok(found)
}

async fn spending(chain: &mut dyn ChainBackend) -> Result<SpendingStatus, ChainError> {
    let limits = read(chain, ACCOUNT, &PolicyCage::limitsCall {}).await?;
    Ok(SpendingStatus {
        per_transaction: limits.perTxUsd8,
        per_session: limits.perSessionUsd8,
        per_day: limits.perDayUsd8,
        spent_session: read(chain, ACCOUNT, &PolicyCage::spentSessionCall {}).await?,
        spent_day: read(chain, ACCOUNT, &PolicyCage::spentDayCall {}).await?,
        nav: read(chain, ACCOUNT, &PolicyCage::navCall {}).await?,
        writes_per_hour: limits.maxWritesPerHour,
        halted: read(chain, ACCOUNT, &PolicyCage::haltedCall {}).await?,
    })
}

/// Calls a view function. A revert or invalid output is an error, never zero.
async fn read<C: SolCall>(chain: &mut dyn ChainBackend, to: Address, call: &C) -> Result<C::Return, ChainError> {
    let outcome = chain.call(&Tx::call(Address::ZERO, to, call.abi_encode())).await?;
    let unreadable = |why: String| ChainError::Node(format!("{} of {} cannot be read: {why}", C::SIGNATURE, to.to_checksum(None)));
    if outcome.status != TxStatus::Success {
        return Err(unreadable("it reverts".into()));
    }
    C::abi_decode_returns(&outcome.output).map_err(|error| unreadable(error.to_string()))
}
