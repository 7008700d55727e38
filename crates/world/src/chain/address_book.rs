//! Address book of one chain: names, roles, contracts and assets by address.

use alloy_primitives::Address;
use alloy_primitives::map::AddressMap;
use model::transcript::AddressInfo;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default)]
pub struct AddressBook {
    pub chain: u64,
    entries: BTreeMap<Address, AddressEntry>,
    /// Prepared when an entry is added, because a checksum costs a hash.
    parties: AddressMap<AddressInfo>,
    own: Vec<Address>,
}

#[derive(Debug, Clone, Default)]
pub struct AddressEntry {
    pub name: String,
    pub role: Option<String>,
    /// Name of our contract at this address.
    pub contract: Option<&'static str>,
    /// Symbol and decimals if this is an asset.
    pub asset: Option<(String, u8)>,
    pub own: bool,
}

impl AddressBook {
    pub fn new(chain: u64) -> Self {
        Self { chain, ..Self::default() }
    }

    pub fn add(&mut self, address: Address, entry: AddressEntry) {
        let party =
            AddressInfo { address: address.to_checksum(None), name: Some(entry.name.clone()), role: entry.role.clone(), own: entry.own };
        self.parties.insert(address, party);
        if entry.own && !self.own.contains(&address) {
            self.own.push(address);
            self.own.sort_unstable();
        }
        self.entries.insert(address, entry);
    }

    pub fn get(&self, address: Address) -> Option<&AddressEntry> {
        self.entries.get(&address)
    }

    pub fn entries(&self) -> impl Iterator<Item = (Address, &AddressEntry)> {
        self.entries.iter().map(|(address, entry)| (*address, entry))
    }

    /// Returns the first address with this name or symbol.
    pub fn find(&self, name: &str) -> Option<Address> {
        let named = |entry: &AddressEntry| {
            entry.name.eq_ignore_ascii_case(name) || entry.asset.as_ref().is_some_and(|(symbol, _)| symbol.eq_ignore_ascii_case(name))
        };
        self.entries.iter().find(|(_, entry)| named(entry)).map(|(address, _)| *address)
    }

    /// Returns the agent's own addresses, sorted.
    pub fn own_addresses(&self) -> &[Address] {
        &self.own
    }

    /// Returns an address with its checksum.
    pub fn checksummed(&self, address: Address) -> String {
        self.parties.get(&address).map_or_else(|| address.to_checksum(None), |party| party.address.clone())
    }

    pub fn party(&self, address: Address) -> AddressInfo {
        let unknown = || AddressInfo { address: address.to_checksum(None), name: None, role: None, own: false };
        self.parties.get(&address).cloned().unwrap_or_else(unknown)
    }

    /// Returns the symbol of an asset, or its address if it is unknown. The zero address is the native coin.
    pub fn asset(&self, address: Address) -> String {
        match self.get(address).and_then(|entry| entry.asset.as_ref()) {
            Some((symbol, _)) => symbol.clone(),
            None => address.to_checksum(None),
        }
    }
}
