//! Places beside 0x addresses to which a text can send a person or money: names of ENS, sites, mail addresses, names in messengers, and
//! addresses of other chains.

use super::script_words::split_scripts;
use super::site_hosts::{bare_site, is_dotted_name, is_leading_word, linked_site};
use std::collections::BTreeSet;

/// Schemes whose address begins with a host.
const WEB_SCHEMES: &[&str] = &["http", "https", "ws", "wss", "ftp"];
/// Messengers, in which people are found by `@name`.
const MESSENGERS: &[&str] = &["telegram", "discord", "whatsapp", "wechat", "twitter"];
/// Ways to write characters of addresses: escapes of JSON, forms that no program links, and encodings within addresses.
const WRITTEN_FORMS: &[(&str, &str)] = &[
    ("\\n", " "),
    ("\\t", " "),
    ("\\r", " "),
    ("\\/", "/"),
    (" [dot] ", "."),
    (" (dot) ", "."),
    (" dot com", ".com"),
    (" dot xyz", ".xyz"),
    ("[dot]", "."),
    ("(dot)", "."),
    ("[.]", "."),
    ("(.)", "."),
    ("%3a", ":"),
    ("%3A", ":"),
    ("%2f", "/"),
    ("%2F", "/"),
    ("%3d", "="),
    ("%3D", "="),
    ("%40", "@"),
];
/// Letters of Bitcoin and Solana addresses, in the order of their values.
const BASE58: &str = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// Returns the contacts that a text names, in lower case: names of ENS, hosts, mail addresses, names in messengers, and addresses of Bitcoin
/// and Solana. All parts of an address of the web are read: a link to an explorer can lead on, and be led to from elsewhere.
pub(crate) fn contacts_in_text(text: &str) -> BTreeSet<String> {
    let text = displayed(text);
    let ends = |c: char| c.is_whitespace() || "\"'`<>()[]{},;|*\\“”‘’«»…，。、；！？（）「」『』【】《》؟،".contains(c);
    let lower = text.to_lowercase();
    let has_messenger = MESSENGERS.iter().any(|messenger| lower.contains(messenger));
    let mut found = BTreeSet::new();
    let mut is_led_to = false;
    for word in text.split(ends).filter(|word| !word.is_empty()) {
        for part in word.split(['?', '&', '=', '#']) {
            add_contacts(part, is_led_to, &mut found);
        }
        found.extend(word.strip_prefix('@').filter(|_| has_messenger).and_then(messenger_name));
        is_led_to = is_leading_word(word);
    }
    found
}

/// Returns the text as it is displayed, without escapes and encodings.
fn displayed(text: &str) -> String {
    let shown = disguise::strip_invisible(text).into_owned();
    let plain = WRITTEN_FORMS.iter().fold(shown, |text, (form, plain)| if text.contains(form) { text.replace(form, plain) } else { text });
    if plain.is_ascii() { plain } else { with_plain_dots(&plain) }
}

/// Replaces full stops of other scripts, which browsers take for dots, between letters or digits of ASCII.
fn with_plain_dots(text: &str) -> String {
    let mut letters = text.chars().peekable();
    let (mut plain, mut before) = (String::with_capacity(text.len()), ' ');
    while let Some(letter) = letters.next() {
        let is_dot = matches!(letter, '。' | '．' | '｡')
            && before.is_ascii_alphanumeric()
            && letters.peek().is_some_and(char::is_ascii_alphanumeric);
        plain.push(if is_dot { '.' } else { letter });
        before = letter;
    }
    plain
}

/// Adds the contacts of a word, or of a part of an address of the web.
fn add_contacts(part: &str, is_led_to: bool, found: &mut BTreeSet<String>) {
    let mut scheme = "";
    for (n, segment) in part.split("://").enumerate() {
        let is_web = WEB_SCHEMES.iter().any(|web| web.eq_ignore_ascii_case(scheme));
        if n > 0 && is_web {
            found.extend(linked_site(segment));
            found.extend(last_name(segment));
        } else {
            found.extend(segment.split(':').flat_map(split_scripts).filter_map(|word| bare_contact(word, is_led_to)));
        }
        scheme = segment.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    }
}

/// Returns the name or foreign address at the end of a path, as explorers have it.
fn last_name(rest: &str) -> Option<String> {
    let (_, last) = rest.trim_end_matches(|c: char| !c.is_alphanumeric()).rsplit_once('/')?;
    ens_name(&last.to_lowercase()).map(str::to_owned).or_else(|| is_foreign_address(last).then(|| last.to_lowercase()))
}

fn bare_contact(word: &str, is_led_to: bool) -> Option<String> {
    let word =
        word.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '@').trim_end_matches(|c: char| !c.is_alphanumeric() && c != '/');
    let authority = word.split('/').next()?;
    match authority.split_once('@') {
        Some(("", host)) if ends_in_letters(host) => return Some(host.to_lowercase()),
        Some((_, host)) if ends_in_letters(host) => return Some(authority.to_lowercase()),
        Some(_) | None => {}
    }
    bare_site(word, is_led_to).or_else(|| ens_name(&word.to_lowercase()).map(str::to_owned)).or_else(|| {
        let last = word.rsplit('/').next().filter(|last| is_foreign_address(last))?;
        Some(last.to_lowercase())
    })
}

/// Returns whether a word is a host with an ending of letters. A price after a token is not: `WETH@3200.5`.
fn ends_in_letters(host: &str) -> bool {
    let is_ending = |ending: &str| ending.chars().count() >= 2 && ending.chars().all(char::is_alphabetic);
    host.rsplit_once('.').is_some_and(|(_, ending)| is_ending(ending)) && is_dotted_name(host)
}

/// Returns the name without `@`, as others may have told it.
fn messenger_name(word: &str) -> Option<String> {
    let name = word.trim_end_matches(|c: char| !c.is_alphanumeric());
    let is_name =
        name.chars().count() > 3 && name.starts_with(char::is_alphabetic) && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_name.then(|| name.to_lowercase())
}

fn ens_name(word: &str) -> Option<&str> {
    let name = word.rsplit(['/', '@']).next()?;
    let label = name.strip_suffix(".eth")?;
    (!label.is_empty() && is_dotted_name(name)).then_some(name)
}

/// Returns whether a word is an address of Bitcoin or Solana.
fn is_foreign_address(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let bech32 = lower.starts_with("bc1") && (14..=74).contains(&word.len()) && word.bytes().all(|c| c.is_ascii_alphanumeric());
    let has = |is: fn(&u8) -> bool| word.as_bytes().iter().any(is);
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
    fn every_part_of_a_link_is_read() {
        for (text, contact) in [
            ("http://claim.evil.example/go?next=https://etherscan.io/tx/0x51a7", "claim.evil.example"),
            ("See claim-evil.com/?r=https://basescan.org/", "claim-evil.com"),
            ("claim-evil.com/https://basescan.org/", "claim-evil.com"),
            ("https://etherscan.io/redirect?to=https://evil.example", "evil.example"),
            ("https://etherscan.io/redirect?to=https%3A%2F%2Fevil.example%2Fx", "evil.example"),
            ("https://etherscan.io:443@evil.example/tx", "evil.example"),
            ("https://etherscan.io&x=,@evil.example/tx", "evil.example"),
            (r#"{"url":"https:\/\/evil.example\/x"}"#, "evil.example"),
            ("https://etherscan.io.evil.example/tx/0x51a7", "etherscan.io.evil.example"),
            ("https://basescan.org/address/evil.eth", "evil.eth"),
            ("https://solscan.io/account/7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV", "7ecdhsygxxyscszyep35khn8vvw3svaulktzxwcfltv"),
            ("https://evil.example。", "evil.example"),
        ] {
            assert_eq!(contacts_in_text(text), [contact.to_owned()].into(), "{text}");
        }
    }

    #[test]
    fn bare_sites_of_every_ending_are_contacts() {
        for (text, contact) in [
            ("Ask at t.me/bardo_help", "t.me/bardo_help"),
            ("https://t.me/+AbC12dEf", "t.me/+abc12def"),
            ("Details: bit.ly/3xYz.", "bit.ly/3xyz"),
            ("https://discord.gg/evil?x=1", "discord.gg/evil"),
            ("Claim on evil.gg now", "evil.gg"),
            ("evil.co", "evil.co"),
            ("(evil.ai)", "evil.ai"),
            ("**evil.me**", "evil.me"),
            ("Go to evil.so", "evil.so"),
            ("Please visit evil.support today", "evil.support"),
            ("bardo-refund.live", "bardo-refund.live"),
            ("evil.to/claim", "evil.to"),
            ("Claim-Evil.Com/now", "claim-evil.com"),
            ("ev\u{200b}il.g\u{200d}g", "evil.gg"),
            ("evil[.]gg", "evil.gg"),
            ("claim-evil [dot] com", "claim-evil.com"),
            ("请访问claim-evil.com领取", "claim-evil.com"),
            ("claim-evil。com", "claim-evil.com"),
            ("url:evil.gg", "evil.gg"),
            ("crypto.com/r/evil", "crypto.com"),
            ("Message @BardoRefunds on Telegram.", "bardorefunds"),
            ("Pay via @evil.example", "evil.example"),
            ("WETH@evil.example", "weth@evil.example"),
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
            "https://celoscan.io/tx/0x51a7 https://blastscan.io/tx/0x51a7 https://explorer.zksync.io/tx/0x51a7",
            "[tx](https://celo.blockscout.com/tx/0x51a7), https://sepolia.basescan.org/tx/0x51a7, sepolia.etherscan.io/tx/0x51a7.",
            "www.lineascan.build/tx/0x51a7 and https://basescan.org:443/tx/0x51a7?a=1&b=2#eventlog",
            "详见https://basescan.org上的记录，或basescan.org。",
            "WETH@3200.5, 2 WETH @ 3200.50 and USDC@1.0002; limit @3.2k",
            "Yearn.finance, Crypto.com and ether.fi pay less than Curve.fi's pool.",
            "Swapped.So the rest stays. sent.Me too. Fee/day: 0.5/1.5, a.m./p.m., and/or, U.S./EU.",
            "Set tx.to, params.network and pool.id; report-04.zip lists vault.info and token.fund.",
            "The spread at 1.5 and 2.so is wide, from 3,226.52 to 3,230.1 USDC.",
            "Quote 0.5% at 12.5 bps to 8453:1842, ep-2041.",
        ] {
            assert!(contacts_in_text(text).is_empty(), "{text}: {:?}", contacts_in_text(text));
        }
    }
}
