//! Who is who on one chain of a world: addresses with their names, roles and the contract that stands there.

use alloy_primitives::Address;
use model::transcript::Party;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default)]
pub struct Book {
    pub chain: u64,
    entries: BTreeMap<Address, Entry>,
}

#[derive(Debug, Clone, Default)]
pub struct Entry {
    pub name: String,
    pub role: Option<String>,
    /// Which of our contracts stands there.
    pub contract: Option<&'static str>,
    /// Symbol and decimals where it is an asset.
    pub asset: Option<(String, u8)>,
    pub own: bool,
}

impl Book {
    pub fn new(chain: u64) -> Self {
        Self { chain, entries: BTreeMap::new() }
    }

    pub fn add(&mut self, address: Address, entry: Entry) {
        self.entries.insert(address, entry);
    }

    pub fn get(&self, address: Address) -> Option<&Entry> {
        self.entries.get(&address)
    }

    pub fn entries(&self) -> impl Iterator<Item = (Address, &Entry)> {
        self.entries.iter().map(|(address, entry)| (*address, entry))
    }

    /// The first address that goes by this name or symbol.
    pub fn find(&self, name: &str) -> Option<Address> {
        let named = |entry: &Entry| {
            entry.name.eq_ignore_ascii_case(name) || entry.asset.as_ref().is_some_and(|(symbol, _)| symbol.eq_ignore_ascii_case(name))
        };
        self.entries.iter().find(|(_, entry)| named(entry)).map(|(address, _)| *address)
    }

    pub fn party(&self, address: Address) -> Party {
        let entry = self.get(address);
        Party {
            address: address.to_checksum(None),
            name: entry.map(|entry| entry.name.clone()),
            role: entry.and_then(|entry| entry.role.clone()),
            own: entry.is_some_and(|entry| entry.own),
        }
    }

    /// The symbol of an asset, or its address where nobody knows it. The zero address is the native coin.
    pub fn asset(&self, address: Address) -> String {
        match self.get(address).and_then(|entry| entry.asset.as_ref()) {
            Some((symbol, _)) => symbol.clone(),
            None => address.to_checksum(None),
        }
    }
}
