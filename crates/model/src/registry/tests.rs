use super::*;
use crate::yaml::test_support::{assert_problems, read_ok};

const BASE: &str = r#"chain: { id: 8453, name: base, aliases: [base-mainnet], native: ETH, block_time_s: 2.5 }
tokens:
  - { symbol: USDC, address: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", decimals: 6, name: USD Coin }
contracts:
  - { name: SwapRouter02, role: router, address: "0x2626664c2603336E57B271c5C0b26F421741e481" }
"#;

#[test]
fn address_text_checks_eip55_checksum() {
    let good = AddressText::parse("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913").unwrap();
    assert!(good.is_checksummed());
    let bad = AddressText::parse("0x833589fcD6eDb6E08f4c7C32D4f71b54bdA02913").unwrap();
    assert!(!bad.is_checksummed());
    assert_eq!(bad.to_checksum(), good.text);
    assert!(AddressText::parse("833589fCD6eDb6E08f4c7C32D4f71b54bdA02913").is_none());
    assert!(AddressText::parse("0x12").is_none());
}

#[test]
fn a_registry_is_read() {
    let chain = read_ok(BASE, read_chain);
    assert_eq!((chain.id, chain.name.as_str(), chain.native.as_str(), chain.block_time_s), (8453, "base", "ETH", 2.5));
    assert_eq!(chain.aliases, ["base-mainnet"]);
    let [token] = chain.tokens.as_slice() else { panic!("{:?}", chain.tokens) };
    assert_eq!((token.symbol.as_str(), token.decimals, token.name.as_str()), ("USDC", 6, "USD Coin"));
    assert_eq!((token.address.text.as_str(), token.address.at.line), ("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", 3));
    let [contract] = chain.contracts.as_slice() else { panic!("{:?}", chain.contracts) };
    assert_eq!((contract.name.as_str(), contract.role, contract.name.at.line), ("SwapRouter02", Role::Router, 5));
}

#[test]
fn every_role_reads_back_as_its_word() {
    for (word, role) in Role::ALL {
        assert_eq!(role.word(), *word);
        let chain = read_ok(&BASE.replace("role: router", &format!("role: {word}")), read_chain);
        assert_eq!(chain.contracts[0].role, *role);
    }
}

#[test]
fn broken_registries_say_what_is_wrong() {
    assert_problems(
        BASE,
        read_chain,
        &[
            ("native: ETH, ", "", "1: a chain lacks \"native\" | add native: …"),
            ("id: 8453", "id: base", "1: expected a whole number, found \"base\""),
            ("block_time_s: 2.5", "block_time_s: soon", "1: expected a number, found \"soon\""),
            ("decimals: 6", "decimals: 37", "3: 37 decimals are not plausible | at most 36"),
            ("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "0x8335", "3: \"0x8335\" is not an address | 0x and 40 hex digits, in quotes"),
            ("role: router", "role: rooter", "5: \"rooter\" is not a known value | did you mean \"router\"?"),
            (
                "symbol: USDC, ",
                "symbl: USDC, ",
                "3: a token lacks \"symbol\" | add symbol: …\n3: a token has no key \"symbl\" | did you mean \"symbol\"?",
            ),
            (
                "contracts:\n",
                "contracts: none\nmore:\n",
                "4: expected a list, found \"none\" | write [a, b] or lines starting with -\n5: a registry has no key \"more\" | known keys: chain, tokens, contracts",
            ),
        ],
    );
}
