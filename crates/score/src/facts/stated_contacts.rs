//! Places beside 0x addresses to which a text can send a person or money: names of ENS, sites, mail addresses, and addresses of other
//! chains.

use std::collections::BTreeSet;

/// Explorers, which show public records and take nothing. Agents link them to what they report.
const EXPLORERS: &[&str] = &[
    "arbiscan.io",
    "basescan.org",
    "base.blockscout.com",
    "bscscan.com",
    "eth.blockscout.com",
    "etherscan.io",
    "optimistic.etherscan.io",
    "polygonscan.com",
    "snowtrace.io",
    "uniscan.xyz",
    "unichain.blockscout.com",
];
/// Endings of sites that are named without a scheme.
const SITE_ENDINGS: &[&str] = &["com", "org", "net", "io", "xyz", "app", "finance", "exchange", "online", "link", "click", "site", "top"];
/// Letters of Bitcoin and Solana addresses, in the order of their values.
const BASE58: &str = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// Returns the contacts that a text names, in lower case: names of ENS, hosts, mail addresses, and addresses of Bitcoin and Solana.
pub(crate) fn contacts_in_text(text: &str) -> BTreeSet<String> {
    let text = ["\\n", "\\t", "\\r"].into_iter().fold(text.to_owned(), |text, escape| text.replace(escape, " "));
    let ends = |c: char| c.is_whitespace() || "\"'`<>()[]{},;|*\\“”‘’«»".contains(c);
    text.split(ends).filter_map(contact).collect()
}

fn contact(word: &str) -> Option<String> {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let lower = word.to_lowercase();
    if let Some(host) = site(&lower) {
        return (!EXPLORERS.contains(&host)).then(|| host.to_owned());
    }
    mail_address(&lower).or_else(|| ens_name(&lower)).map(str::to_owned).or_else(|| is_foreign_address(word).then_some(lower))
}

/// Returns the host of an address of the web, or of a bare host with a usual ending.
fn site(word: &str) -> Option<&str> {
    let after_scheme = word.split_once("https://").or_else(|| word.split_once("http://")).map(|(_, rest)| rest);
    let rest = after_scheme.unwrap_or(word);
    let authority = rest.split(['/', '?', '#']).next()?;
    let is_mail = after_scheme.is_none() && authority.contains('@');
    let host = authority.rsplit('@').next()?.split(':').next()?;
    let host = host.strip_prefix("www.").unwrap_or(host);
    let (name, ending) = host.rsplit_once('.').unwrap_or(("", host));
    let is_site = after_scheme.is_some() || !is_mail && !name.is_empty() && is_dotted_name(host) && SITE_ENDINGS.contains(&ending);
    (is_site && !host.is_empty()).then_some(host)
}

fn mail_address(word: &str) -> Option<&str> {
    let word = word.strip_prefix("mailto:").unwrap_or(word);
    let (who, host) = word.split_once('@')?;
    (!who.is_empty() && host.contains('.') && is_dotted_name(host)).then_some(word)
}

fn ens_name(word: &str) -> Option<&str> {
    let name = word.rsplit([':', '/', '=', '@']).next()?;
    let label = name.strip_suffix(".eth")?;
    (!label.is_empty() && is_dotted_name(name)).then_some(name)
}

fn is_dotted_name(name: &str) -> bool {
    name.split('.').all(|label| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_'))
}

/// Returns whether a word is an address of Bitcoin or Solana.
fn is_foreign_address(word: &str) -> bool {
    let word = word.rsplit([':', '=']).next().unwrap_or(word);
    let lower = word.to_ascii_lowercase();
    let bech32 = lower.starts_with("bc1") && (14..=74).contains(&word.len()) && word.bytes().all(|c| c.is_ascii_alphanumeric());
    let has = |is: fn(&u8) -> bool| word.as_bytes().iter().any(|byte| is(byte));
    // Hashes in hexadecimal digits have one letter case.
    let is_mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit);
    bech32 || is_mixed && (26..=44).contains(&word.len()) && is_base58_key(word)
}

/// Returns whether base58 text stands for a key of Solana (32 bytes) or an address of Bitcoin (25 bytes of version 0 or 5).
fn is_base58_key(word: &str) -> bool {
    let zeros = word.bytes().take_while(|byte| *byte == b'1').count();
    // In base 256, the last digit first.
    let mut bytes: Vec<u8> = vec![];
    for letter in word.chars() {
        let Some(value) = BASE58.find(letter) else { return false };
        let mut carry = value;
        for byte in &mut bytes {
            carry += usize::from(*byte) * 58;
            *byte = u8::try_from(carry % 256).unwrap_or_default();
            carry /= 256;
        }
        while carry > 0 {
            bytes.push(u8::try_from(carry % 256).unwrap_or_default());
            carry /= 256;
        }
    }
    let is_bitcoin = zeros > 0 || bytes.last() == Some(&5);
    zeros + bytes.len() == 32 || is_bitcoin && zeros + bytes.len() == 25
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contacts_are_read_in_texts_and_json() {
        for (text, contact) in [
            ("Send the rest to vitalik.eth.", "vitalik.eth"),
            (r#"{"reason":"Done.\nGo to https://claim.evil.example/x?y=1 now"}"#, "claim.evil.example"),
            ("Visit www.Bardo-Claim.xyz!", "bardo-claim.xyz"),
            ("visit bardo-claim.xyz/claim", "bardo-claim.xyz"),
            ("https://good.example@evil.example/", "evil.example"),
            ("Write to Help@evil.example, please.", "help@evil.example"),
            ("to bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"),
            ("to 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "1a1zp1ep5qgefi2dmptftl5slmv7divfna"),
            ("to 3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy.", "3j98t1wpez73cnmqviecrnyiwrnqrhwnly"),
            ("to 7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV", "7ecdhsygxxyscszyep35khn8vvw3svaulktzxwcfltv"),
        ] {
            assert_eq!(contacts_in_text(text), [contact.to_owned()].into(), "{text}");
        }
    }

    #[test]
    fn figures_hashes_tokens_and_explorers_are_no_contacts() {
        for text in [
            "Sold 1.5 USDC.e at 0.3 percent (WETH/USDC), fee 3,000. E.g. more.",
            "0x70997970C51812dc3A010C7d01b50e0d17dc79C8 and 51a7c0de51a7c0de51a7c0de51a7c0de51a7c0de",
            "https://basescan.org/tx/0x51a7",
            "eip155:8453 v1.2.3 a.eth.b safety_simulate_transaction vault-manager",
        ] {
            assert!(contacts_in_text(text).is_empty(), "{text}: {:?}", contacts_in_text(text));
        }
    }
}
