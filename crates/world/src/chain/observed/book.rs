//! Address book of a real chain: the registry of the workspace, and the wallets of the agents.

use crate::chain::{AddressBook, AddressEntry};
use alloy_primitives::Address;
use model::{AddressText, Workspace};

/// Returns the known addresses of a chain; absent if the workspace has no registry of it.
pub fn registry_book(workspace: &Workspace, chain: u64, wallets: &[AddressText]) -> Option<AddressBook> {
    let registry = workspace.chains.iter().find(|one| one.id == chain)?;
    let mut book = AddressBook::new(chain);
    let entry = |name: &str| AddressEntry { name: name.to_owned(), ..AddressEntry::default() };
    book.add(Address::ZERO, AddressEntry { asset: Some((registry.native.clone(), 18)), ..entry(&registry.native) });
    for contract in &registry.contracts {
        let role = Some(contract.role.word().to_owned());
        book.add(contract.address.address, AddressEntry { role, ..entry(&contract.name) });
    }
    for token in &registry.tokens {
        let at = token.address.address;
        // The wrapped coin is a token and a contract with a role.
        let role = book.get(at).and_then(|known| known.role.clone());
        book.add(at, AddressEntry { role, asset: Some((token.symbol.value.clone(), token.decimals)), ..entry(&token.symbol) });
    }
    for wallet in wallets {
        book.add(wallet.address, AddressEntry { own: true, ..entry("wallet") });
    }
    Some(book)
}
