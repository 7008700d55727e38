//! Decodes state changes into balances, allowances and positions.
//!
//! A mapping entry is stored at the hash of its key, so slots are matched by the parties that the contract's own logs name, however many there
//! are, and then by trying the addresses that occur in the transaction. Slots without a match are reported as [`Effect::Unexplained`].

use super::bindings::{Permit2, Token};
use super::contracts::{self, ContractArtifact};
use super::{AddressBook, Log, Receipt, StateChanges, Tx, decode};
use alloy_primitives::map::AddressSet;
use alloy_primitives::{Address, B256, U256, keccak256};
use alloy_sol_types::SolEvent;
use model::transcript::{AllowanceKind, Effect, MinedTransaction, PositionSide, TxOutcome};
use std::collections::BTreeMap;

/// Decodes a mined transaction: calls, logs, outcome and effects.
pub fn decode_mined(book: &AddressBook, tx: &Tx, nonce: u64, receipt: &Receipt) -> MinedTransaction {
    let (call, inner) = decode::decode_calls(book, tx.to, &tx.data);
    MinedTransaction {
        chain: book.chain,
        from: book.party(tx.from),
        to: tx.to.map(|to| book.party(to)),
        value: tx.value.to_string(),
        call,
        inner,
        nonce,
        outcome: match receipt.status {
            super::TxStatus::Success => TxOutcome::Success,
            super::TxStatus::Reverted => TxOutcome::Reverted { error: decode::decode_revert(&receipt.output) },
            super::TxStatus::Halted => TxOutcome::Halted,
        },
        gas_used: receipt.gas_used,
        logs: receipt.logs.iter().map(|log| decode::decode_log(book, log)).collect(),
        effects: decode_effects(book, tx, receipt),
    }
}

/// Returns the effects of a transaction, sorted.
pub fn decode_effects(book: &AddressBook, tx: &Tx, receipt: &Receipt) -> Vec<Effect> {
    let involved = involved_addresses(book, tx, receipt);
    let mut effects = vec![];
    for (address, change) in &receipt.changes.accounts {
        if let Some((before, after)) = change.balance {
            effects.push(balance(book, *address, Address::ZERO, before, after));
        }
        if let Some((_, after)) = change.code {
            // Of several authorizations, the one that took effect is in the account's code.
            let took_effect = |delegate: Address| keccak256([&[0xef, 0x01, 0x00], delegate.as_slice()].concat()) == after;
            let delegates_to = tx.authorizations.iter().find(|one| took_effect(one.address)).map(|one| book.party(one.address));
            effects.push(Effect::Code { account: book.party(*address), delegates_to });
        }
        if let Some(name) = book.get(*address).and_then(|entry| entry.contract) {
            let Some(layout) = StorageLayout::of(name) else { continue };
            let (contract, logs, left) = (contracts::contract(name), receipt.logs.as_slice(), change.storage.clone());
            SlotDecoder { book, at: *address, contract, layout, involved: &involved, logs, left, effects: &mut effects }.explain();
        } else if !change.storage.is_empty() {
            // Not one of our contracts: its storage layout is unknown.
            effects.push(Effect::Unexplained { contract: book.party(*address), slots: change.storage.len() });
        }
    }
    effects.sort();
    effects
}

fn balance(book: &AddressBook, holder: Address, asset: Address, before: U256, after: U256) -> Effect {
    Effect::Balance { holder: book.party(holder), asset: book.asset(asset), before: before.to_string(), after: after.to_string() }
}

/// Maximum number of addresses to try. Calldata may be chosen by an attacker, and the pairs to try grow quadratically. Parties that logs name are
/// matched without trying, so padding cannot hide them.
const MAX_INVOLVED_ADDRESSES: usize = 48;

/// Returns the addresses of a transaction, most likely first: own, sender and target, changed accounts, logs, calldata.
fn involved_addresses(book: &AddressBook, tx: &Tx, receipt: &Receipt) -> Vec<Address> {
    let StateChanges { accounts } = &receipt.changes;
    let own = book.own_addresses().iter().copied();
    let emitters = receipt.logs.iter().map(|log| log.address);
    let topics = receipt.logs.iter().flat_map(|log| log.topics.iter().skip(1)).filter(|topic| topic[..12] == [0; 12]);
    let topics = topics.map(|topic| Address::from_slice(&topic[12..]));
    let data = receipt.logs.iter().flat_map(|log| log.data.chunks_exact(32)).filter_map(word_to_address);
    let words = tx.data.get(4..).unwrap_or_default().chunks_exact(32).filter_map(word_to_address);
    let all = own.chain([tx.from]).chain(tx.to).chain(accounts.keys().copied()).chain(emitters).chain(topics).chain(data).chain(words);
    let mut seen = AddressSet::with_capacity_and_hasher(MAX_INVOLVED_ADDRESSES, Default::default());
    all.chain(nested_words(&tx.data)).filter(|address| seen.insert(*address)).take(MAX_INVOLVED_ADDRESSES).collect()
}

/// Words of the call inside `execute`, which are shifted by its selector.
fn nested_words(data: &[u8]) -> impl Iterator<Item = Address> {
    let shifted = if data.len() > 8 + 32 * 4 { &data[4 + 32 * 4 + 4..] } else { &[] };
    shifted.chunks_exact(32).filter_map(word_to_address)
}

/// Returns the address in a word: twelve zero bytes, then a value too large for a typical number.
fn word_to_address(word: &[u8]) -> Option<Address> {
    let (head, tail) = word.split_at_checked(12)?;
    let plausible = head.iter().all(|byte| *byte == 0) && tail.iter().take(12).any(|byte| *byte != 0);
    plausible.then(|| Address::from_slice(tail))
}

/// Storage layout of a contract's mappings.
#[derive(Clone, Copy)]
enum StorageLayout {
    Erc20,
    Permit2,
    Venue,
}

impl StorageLayout {
    /// Returns `None` for contracts whose logs cover their effects: registries, routers and the account itself.
    fn of(contract: &str) -> Option<Self> {
        match contract {
            "Token" | "FeeToken" | "LyingToken" | "HookToken" | "Weth" | "AmmPair" | "Vault" => Some(Self::Erc20),
            "Permit2" => Some(Self::Permit2),
            "Venue" => Some(Self::Venue),
            _ => None,
        }
    }
}

struct SlotDecoder<'s> {
    book: &'s AddressBook,
    at: Address,
    contract: &'static ContractArtifact,
    layout: StorageLayout,
    involved: &'s [Address],
    logs: &'s [Log],
    left: BTreeMap<U256, (U256, U256)>,
    effects: &'s mut Vec<Effect>,
}

impl SlotDecoder<'_> {
    fn explain(mut self) {
        self.match_slots();
        if !self.left.is_empty() {
            // Try again with all contracts of the world: the transaction may not mention the address.
            let contracts = self.book.entries().filter(|(_, entry)| entry.contract.is_some()).map(|(address, _)| address);
            let wider: Vec<Address> = self.involved.iter().copied().chain(contracts).collect();
            let Self { book, at, contract, layout, logs, left, effects, .. } = self;
            let mut again = SlotDecoder { book, at, contract, layout, involved: &wider, logs, left, effects };
            again.match_slots();
            if !again.left.is_empty() {
                again.effects.push(Effect::Unexplained { contract: book.party(at), slots: again.left.len() });
            }
        }
    }

    fn match_slots(&mut self) {
        match self.layout {
            StorageLayout::Erc20 => self.erc20(),
            StorageLayout::Permit2 => self.permit2(),
            StorageLayout::Venue => self.venue(),
        }
    }

    fn slot(&self, variable: &str) -> U256 {
        U256::from(self.contract.storage.get(variable).copied().unwrap_or(u64::MAX))
    }

    /// Drops the slots of plain variables, which are small numbers. Slots of mapping entries are hashes.
    fn drop_plain_slots(&mut self) {
        self.left.retain(|slot, _| *slot > U256::from(0xffff));
    }

    fn erc20(&mut self) {
        // Plain variables and permit nonces are not effects.
        self.drop_plain_slots();
        let logs = self.logs;
        let mut senders = vec![];
        for [from, to] in logged_parties(logs, self.at, Token::Transfer::SIGNATURE_HASH) {
            self.holder(from);
            self.holder(to);
            senders.push(from);
        }
        for [owner, spender] in logged_parties(logs, self.at, Token::Approval::SIGNATURE_HASH) {
            self.allowance(owner, spender);
            senders.push(owner);
        }
        for holder in self.involved {
            if self.left.is_empty() {
                return;
            }
            self.holder(*holder);
        }
        let nonces = self.slot("nonces");
        for owner in self.involved.iter().chain(&senders) {
            self.left.remove(&mapping_slot(nonces, owner.into_word()));
        }
        // An allowance that was used shrinks without a log of its own.
        senders.sort_unstable();
        senders.dedup();
        for owner in self.involved.iter().chain(&senders) {
            for spender in self.involved {
                if self.left.is_empty() {
                    return;
                }
                self.allowance(*owner, *spender);
            }
        }
    }

    /// Reads the balance of a holder, if it changed.
    fn holder(&mut self, holder: Address) {
        let at = mapping_slot(self.slot("balanceOf"), holder.into_word());
        if let Some((before, after)) = self.left.remove(&at) {
            self.effects.push(balance(self.book, holder, self.at, before, after));
        }
    }

    /// Reads the allowance of a spender, if it changed.
    fn allowance(&mut self, owner: Address, spender: Address) {
        let of_owner = mapping_slot(self.slot("allowance"), owner.into_word());
        if let Some((before, after)) = self.left.remove(&mapping_slot(of_owner, spender.into_word())) {
            self.effects.push(Effect::Allowance {
                owner: self.book.party(owner),
                spender: self.book.party(spender),
                asset: self.book.asset(self.at),
                before: before.to_string(),
                after: after.to_string(),
                unlimited: after > (U256::MAX >> 1),
                expires: None,
                via: AllowanceKind::Erc20,
            });
        }
    }

    fn permit2(&mut self) {
        let (allowances, used) = (self.slot("allowance"), self.slot("nonceBitmap"));
        let logs = self.logs;
        for signature in [Permit2::Approval::SIGNATURE_HASH, Permit2::Permit::SIGNATURE_HASH] {
            for [owner, token, spender] in logged_parties(logs, self.at, signature) {
                let of_token = mapping_slot(mapping_slot(allowances, owner.into_word()), token.into_word());
                if let Some((before, after)) = self.left.remove(&mapping_slot(of_token, spender.into_word())) {
                    self.effects.push(permit2_allowance(self.book, owner, token, spender, before, after));
                }
            }
        }
        let tokens: Vec<Address> = self.book.entries().filter(|(_, entry)| entry.asset.is_some()).map(|(at, _)| at).collect();
        for owner in self.involved {
            if self.left.is_empty() {
                return;
            }
            let bitmap = mapping_slot(used, owner.into_word());
            // Words of unordered nonces. Wallets use the first 256.
            for word in 0..256_u64 {
                self.left.remove(&mapping_slot(bitmap, B256::from(U256::from(word))));
            }
            let of_owner = mapping_slot(allowances, owner.into_word());
            for token in &tokens {
                let of_token = mapping_slot(of_owner, token.into_word());
                for spender in self.involved {
                    if let Some((before, after)) = self.left.remove(&mapping_slot(of_token, spender.into_word())) {
                        self.effects.push(permit2_allowance(self.book, *owner, *token, *spender, before, after));
                    }
                }
            }
        }
    }

    /// Drops the slots of settings. Their event has the three keys of the entry as topics.
    fn settings(&mut self) {
        let settings = self.slot("settings");
        for log in self.logs.iter().filter(|log| log.address == self.at) {
            if let [_, account, market, key] = log.topics.as_slice() {
                self.left.remove(&mapping_slot(mapping_slot(mapping_slot(settings, *account), *market), *key));
            }
        }
    }

    /// Reads the position of an account in an asset, if it changed.
    fn position(&mut self, of_market: U256, account: Address, market: &str, asset: Address) {
        let at = mapping_slot(of_market, asset.into_word());
        for (offset, side) in [(0, PositionSide::Supplied), (1, PositionSide::Borrowed)] {
            if let Some((before, after)) = self.left.remove(&(at + U256::from(offset))) {
                self.effects.push(Effect::Position {
                    account: self.book.party(account),
                    venue: self.book.party(self.at),
                    market: market.to_owned(),
                    asset: self.book.asset(asset),
                    side,
                    before: before.to_string(),
                    after: after.to_string(),
                });
            }
        }
        self.left.remove(&(at + U256::from(2)));
        self.left.remove(&(at + U256::from(3)));
    }

    fn venue(&mut self) {
        self.drop_plain_slots();
        self.settings();
        let (positions, keys) = (self.slot("_positions"), self.slot("_keys"));
        let assets: Vec<Address> = self.book.entries().filter(|(_, entry)| entry.asset.is_some()).map(|(at, _)| at).collect();
        let markets: Vec<_> = super::genesis::MARKETS.iter().map(|name| (*name, super::genesis::market_id(name))).collect();
        // Events of positions have account, market and asset as topics.
        let (logs, venue) = (self.logs, self.at);
        let mut logged = vec![];
        for log in logs.iter().filter(|log| log.address == venue) {
            if let [_, account, market, asset] = log.topics.as_slice()
                && let Some((name, _)) = markets.iter().find(|(_, id)| id == market)
            {
                let (account, asset) = (Address::from_word(*account), Address::from_word(*asset));
                let of_market = mapping_slot(mapping_slot(positions, account.into_word()), *market);
                self.position(of_market, account, name, asset);
                logged.push(account);
            }
        }
        for (name, market) in markets {
            for account in self.involved {
                if self.left.is_empty() {
                    return;
                }
                let of_market = mapping_slot(mapping_slot(positions, account.into_word()), market);
                for asset in assets.iter().copied() {
                    self.position(of_market, *account, name, asset);
                }
            }
        }
        // List of an account's positions: its length, and up to 64 entries of four words.
        logged.sort_unstable();
        logged.dedup();
        for account in self.involved.iter().chain(&logged) {
            if self.left.is_empty() {
                return;
            }
            let length = mapping_slot(keys, account.into_word());
            self.left.remove(&length);
            let first = U256::from_be_bytes(keccak256(length.to_be_bytes::<32>()).0);
            self.left.retain(|slot, _| slot.checked_sub(first).is_none_or(|offset| offset >= U256::from(256)));
        }
        // Released bridge transfers have an event.
        let released = self.slot("released");
        let srcs = [1_u64, 10, 130, 137, 8453, 42161];
        for src in srcs {
            let of_src = mapping_slot(released, B256::from(U256::from(src)));
            for nonce in 0..64_u64 {
                self.left.remove(&mapping_slot(of_src, B256::from(U256::from(nonce))));
            }
        }
    }
}

/// Returns the indexed parties of the logs with this signature that a contract wrote.
fn logged_parties<const N: usize>(logs: &[Log], at: Address, signature: B256) -> impl Iterator<Item = [Address; N]> {
    let logs = logs.iter().filter(move |log| log.address == at && log.topics.first() == Some(&signature));
    logs.filter_map(|log| Some(<&[B256; N]>::try_from(log.topics.get(1..)?).ok()?.map(Address::from_word)))
}

/// Decodes a packed allowance: amount in the low 160 bits, then 48 bits of expiration, then 48 of nonce.
fn permit2_allowance(book: &AddressBook, owner: Address, token: Address, spender: Address, before: U256, after: U256) -> Effect {
    let most = (U256::from(1) << 160) - U256::from(1);
    let amount = |word: U256| -> U256 { word & most };
    let expires = (after >> 160_usize) & U256::from((1_u64 << 48) - 1);
    Effect::Allowance {
        owner: book.party(owner),
        spender: book.party(spender),
        asset: book.asset(token),
        before: amount(before).to_string(),
        after: amount(after).to_string(),
        unlimited: amount(after) == most,
        expires: u64::try_from(expires).ok(),
        via: AllowanceKind::Permit2,
    }
}

/// Returns the slot of a mapping entry.
fn mapping_slot(slot: U256, key: B256) -> U256 {
    let mut bytes = [0_u8; 64];
    bytes[..32].copy_from_slice(key.as_slice());
    bytes[32..].copy_from_slice(&slot.to_be_bytes::<32>());
    U256::from_be_bytes(keccak256(bytes).0)
}
