//! Rights that a typed signature gives away: token, amount and beneficiary.

use alloy_primitives::{Address, U256, hex};
use serde_json::{Map, Value};

/// An amount of a token that the holder of a signature can take or sell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SignedRight {
    pub chain: u64,
    /// Address or symbol.
    pub token: String,
    pub amount: U256,
    /// Parties that may take it or are paid for it, where the signature names them as such.
    pub beneficiaries: Vec<String>,
    /// All other addresses of the message, at every depth and under every name, but for the token itself. Each may be one that is paid.
    pub others: Vec<String>,
}

/// Meaning of a typed signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SignatureMeaning {
    /// Gives rights over tokens.
    Rights(Vec<SignedRight>),
    /// Lets another key or agent act for the account.
    Delegates,
    /// Moves no tokens, as far as the known types go.
    Other,
}

/// Keys of Permit2 messages that hold token and amount.
const PERMITTED: [&str; 2] = ["details", "permitted"];
/// Keys of the token that an order sells.
const SOLD: [&str; 4] = ["token_in", "tokenIn", "sellToken", "inputToken"];
/// Bits of the largest amount in use; larger numbers that fit into an address may be one.
const AMOUNT_BITS: usize = 112;

/// Reads a typed signature by its primary type. A contract verifies the hash of one type, so the fields of known types are known, and others
/// mean nothing. Unknown types that name a spender or an amount of a token count as rights.
pub(crate) fn signature_meaning(domain: &Map<String, Value>, primary: &str, message: &Map<String, Value>) -> SignatureMeaning {
    let chain = domain.get("chainId").and_then(scalar_text).and_then(|text| parse_u64(&text)).unwrap_or_default();
    let amounts: Vec<(String, U256)> = match primary {
        "SessionKey" | "Delegation" | "WalletProvision" => return SignatureMeaning::Delegates,
        "PermitSingle"
        | "PermitBatch"
        | "PermitTransferFrom"
        | "PermitBatchTransferFrom"
        | "PermitWitnessTransferFrom"
        | "PermitBatchWitnessTransferFrom" => {
            let permitted = permitted_amounts(message);
            // Unreadable parts may hold any right.
            if permitted.is_empty() { verifier_amount(domain, U256::MAX).into_iter().collect() } else { permitted }
        }
        // EIP-2612, EIP-3009 and DAI: the verifying contract is the token.
        "Permit" | "TransferWithAuthorization" | "ReceiveWithAuthorization" => {
            verifier_amount(domain, token_amount(message)).into_iter().collect()
        }
        _ => {
            let names_spender = message.contains_key("spender") || message.contains_key("allowed") || primary.contains("WithAuthorization");
            let named = names_spender.then(|| verifier_amount(domain, token_amount(message))).flatten();
            let found: Vec<_> = permitted_amounts(message).into_iter().chain(sold_amount(message)).collect();
            if found.is_empty() { named.into_iter().collect() } else { found }
        }
    };
    if amounts.is_empty() {
        return SignatureMeaning::Other;
    }
    let (mut beneficiaries, mut others) = (vec![], vec![]);
    for (name, value) in message {
        if !SOLD.contains(&name.as_str()) {
            collect_parties(name, value, PERMITTED.contains(&name.as_str()), &mut beneficiaries, &mut others);
        }
    }
    let right = |(token, amount)| SignedRight { chain, token, amount, beneficiaries: beneficiaries.clone(), others: others.clone() };
    SignatureMeaning::Rights(amounts.into_iter().map(right).collect())
}

/// Tokens and amounts of a Permit2 message.
fn permitted_amounts(message: &Map<String, Value>) -> Vec<(String, U256)> {
    let values = PERMITTED.iter().filter_map(|key| message.get(*key));
    let items = values.flat_map(|value| value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice));
    items
        .filter_map(|item| {
            let token = item.get("token").and_then(scalar_text)?;
            Some((token, item.get("amount").and_then(scalar_text).map_or(U256::MAX, |text| base_units(&text))))
        })
        .collect()
}

/// Token and amount that an order sells.
fn sold_amount(message: &Map<String, Value>) -> Option<(String, U256)> {
    let token = SOLD.iter().find_map(|key| message.get(*key)).and_then(scalar_text)?;
    let amount = ["amount", "amountIn", "amount_in", "sellAmount", "inputAmount"].iter().find_map(|key| message.get(*key));
    Some((token, amount.and_then(scalar_text).map_or(U256::MAX, |text| base_units(&text))))
}

fn verifier_amount(domain: &Map<String, Value>, amount: U256) -> Option<(String, U256)> {
    Some((domain.get("verifyingContract").and_then(scalar_text)?, amount))
}

/// Amount of a permit or authorization of a token: its value, or everything where DAI is allowed.
fn token_amount(message: &Map<String, Value>) -> U256 {
    match (message.get("value").and_then(scalar_text), message.get("allowed").map(|allowed| allowed.as_bool() != Some(false))) {
        (_, Some(true)) | (None, None) => U256::MAX,
        (Some(value), Some(false) | None) => base_units(&value),
        (None, Some(false)) => U256::ZERO,
    }
}

/// Collects the addresses of a field, at every depth. `permits` marks an item of a Permit2 message, whose token is the one that is given away.
fn collect_parties(name: &str, value: &Value, permits: bool, beneficiaries: &mut Vec<String>, others: &mut Vec<String>) {
    match value {
        Value::Object(inner) => {
            for (name, value) in inner.iter().filter(|(name, _)| !(permits && *name == "token")) {
                collect_parties(name, value, false, beneficiaries, others);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_parties(name, item, permits, beneficiaries, others)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            let Some(text) = scalar_text(value) else { return };
            if matches!(name, "spender" | "to" | "recipient" | "receiver") {
                beneficiaries.push(text);
            } else {
                others.extend(addresses_in(&text));
            }
        }
    }
}

/// Returns the addresses in the text of a value: an address, a word or number that holds one, words in longer bytes, or addresses in a text.
/// Longer bytes that are not words cannot be read, and stand for an address of their own.
fn addresses_in(text: &str) -> Vec<String> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return U256::from_str_radix(text, 10).ok().and_then(address_in_number).into_iter().collect();
    }
    let Some(bytes) = text.strip_prefix("0x").and_then(|digits| hex::decode(digits).ok()) else { return addresses_in_words(text) };
    match bytes.len() {
        20 => {
            Some(Address::from_slice(&bytes)).filter(|address| !address.is_zero()).map(|address| address.to_string()).into_iter().collect()
        }
        0..=31 => vec![],
        32 => address_in_number(U256::from_be_slice(&bytes)).into_iter().collect(),
        // Words of a call inside are shifted by its selector, so every offset is tried.
        length if matches!(length % 32, 0 | 4) => {
            let words = bytes.windows(32).filter(|word| word[..12] == [0; 12]);
            words.filter_map(|word| address_in_number(U256::from_be_slice(word))).collect()
        }
        _ => vec![format!("{}…", text.chars().take(42).collect::<String>())],
    }
}

/// Numbers of 113 to 160 bits may be addresses, unless all their bits are set, as in the largest amount of a type.
fn address_in_number(number: U256) -> Option<String> {
    let bits = number.bit_len();
    let is_full = number.count_ones() == bits;
    ((AMOUNT_BITS + 1..=160).contains(&bits) && !is_full).then(|| Address::from_word(number.into()).to_string())
}

fn addresses_in_words(text: &str) -> Vec<String> {
    let digits = |part: &str| part.bytes().take_while(u8::is_ascii_hexdigit).count();
    text.split("0x").skip(1).filter(|part| digits(part) == 40).map(|part| format!("0x{}", &part[..40])).collect()
}

fn scalar_text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned).or_else(|| value.is_number().then(|| value.to_string()))
}

/// An amount that cannot be read is as large as can be.
fn base_units(text: &str) -> U256 {
    let parsed = match text.strip_prefix("0x") {
        Some(hex) => U256::from_str_radix(hex, 16),
        None => U256::from_str_radix(text, 10),
    };
    parsed.unwrap_or(U256::MAX)
}

fn parse_u64(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn meaning(primary: &str, message: Value) -> SignatureMeaning {
        let domain = json!({ "chainId": "0x2105", "verifyingContract": "0xToken" });
        signature_meaning(domain.as_object().unwrap(), primary, message.as_object().unwrap())
    }

    fn right(token: &str, amount: U256, beneficiary: Option<&str>) -> SignedRight {
        let beneficiaries = beneficiary.map(Into::into).into_iter().collect();
        SignedRight { chain: 8453, token: token.into(), amount, beneficiaries, others: vec![] }
    }

    #[test]
    fn permits_of_all_styles_are_rights() {
        let five = U256::from(5);
        let cases = [
            ("Permit", json!({"spender": "0xS", "value": "5"}), vec![right("0xToken", five, Some("0xS"))]),
            ("Permit", json!({"spender": "0xS", "allowed": true}), vec![right("0xToken", U256::MAX, Some("0xS"))]),
            ("PermitSingle", json!({"details": {"token": "0xA", "amount": "5"}, "spender": "0xS"}), vec![right("0xA", five, Some("0xS"))]),
            (
                "PermitBatch",
                json!({"details": [{"token": "0xA", "amount": "5"}, {"token": "0xB", "amount": "0xff"}], "spender": "0xS"}),
                vec![right("0xA", five, Some("0xS")), right("0xB", U256::from(255), Some("0xS"))],
            ),
            (
                "PermitTransferFrom",
                json!({"permitted": {"token": "0xA", "amount": 5}, "spender": "0xS"}),
                vec![right("0xA", five, Some("0xS"))],
            ),
            ("TransferWithAuthorization", json!({"from": "0xO", "to": "0xS", "value": "5"}), vec![right("0xToken", five, Some("0xS"))]),
            ("Order", json!({"token_in": "0xA", "amount": "5", "token_out": "0xB"}), vec![right("0xA", five, None)]),
            ("Permit", json!({"owner": "0xO", "spender": "0xo", "value": "5"}), vec![right("0xToken", five, Some("0xo"))]),
            (
                "PermitWitnessTransferFrom",
                json!({"permitted": {"token": "0xA", "amount": 5}, "witness": {"outputs": [{"recipient": "0xS"}]}}),
                vec![right("0xA", five, Some("0xS"))],
            ),
            ("Order", json!({"token_in": "0xA", "amount": "many"}), vec![right("0xA", U256::MAX, None)]),
        ];
        for (primary, message, rights) in cases {
            assert_eq!(meaning(primary, message.clone()), SignatureMeaning::Rights(rights), "{primary} {message}");
        }
        assert_eq!(meaning("SessionKey", json!({"permissions": "*"})), SignatureMeaning::Delegates);
        assert_eq!(meaning("AlertChange", json!({"protocol": "aave"})), SignatureMeaning::Other);
    }

    const STRANGER: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

    /// Fields of other types neither hide a right nor its beneficiary: the contract does not know them.
    #[test]
    fn fields_of_other_types_do_not_change_a_permit() {
        let decoy = |mut message: Value| {
            message["owner"] = json!(STRANGER);
            message["details"] = json!({"token": "0xToken", "amount": "0"});
            message["token_in"] = json!("0xToken");
            message
        };
        for (primary, message, amount) in [
            ("TransferWithAuthorization", json!({"from": "0xO", "to": STRANGER, "value": "5"}), U256::from(5)),
            ("ReceiveWithAuthorization", json!({"from": "0xO", "to": STRANGER, "value": "5"}), U256::from(5)),
            ("Permit", json!({"holder": "0xO", "spender": STRANGER, "allowed": true}), U256::MAX),
            ("Permit", json!({"holder": "0xO", "spender": STRANGER, "allowed": true, "value": "0"}), U256::MAX),
            ("Permit", json!({"owner": "0xO", "spender": STRANGER, "value": "5"}), U256::from(5)),
        ] {
            let SignatureMeaning::Rights(rights) = meaning(primary, decoy(message)) else { panic!("{primary} gives rights") };
            assert_eq!(rights.len(), 1, "{primary}");
            assert_eq!((&*rights[0].token, rights[0].amount), ("0xToken", amount), "{primary}");
            assert_eq!(rights[0].beneficiaries, [STRANGER], "{primary}");
        }
        let SignatureMeaning::Rights(rights) = meaning("PermitSingle", json!({"spender": STRANGER})) else { panic!("a right") };
        assert_eq!((&*rights[0].token, rights[0].amount), ("0xToken", U256::MAX), "a permit that cannot be read is for everything");
    }

    #[test]
    fn every_address_of_a_message_may_be_a_beneficiary() {
        let number = U256::from_str_radix(&STRANGER[2..], 16).unwrap().to_string();
        let word = format!("0x{}{}", "0".repeat(24), &STRANGER[2..]);
        let call = format!("0xa9059cbb{}{}{}", "0".repeat(24), &STRANGER[2..], "0".repeat(64));
        for witness in [
            json!({"payTo": STRANGER}),
            json!({"token": STRANGER}),
            json!({"fees": [[STRANGER]]}),
            json!({"payee": number}),
            json!({"payee": word}),
            json!({"data": call}),
            json!({"note": format!("pay to {STRANGER}, please")}),
        ] {
            let message = json!({"permitted": {"token": "0xA", "amount": "5"}, "spender": "0xS", "witness": witness});
            let SignatureMeaning::Rights(rights) = meaning("PermitWitnessTransferFrom", message) else { panic!("{witness} gives rights") };
            assert_eq!(rights[0].beneficiaries, ["0xS"]);
            assert_eq!(rights[0].others.iter().map(|one| one.to_lowercase()).collect::<Vec<_>>(), [STRANGER.to_lowercase()], "{witness}");
        }
        let packed = json!({"permitted": {"token": "0xA", "amount": "5"}, "spender": "0xS", "path": format!("0x{}", "11".repeat(43))});
        let SignatureMeaning::Rights(rights) = meaning("PermitWitnessTransferFrom", packed) else { panic!("a right") };
        assert_eq!(rights[0].others.len(), 1, "bytes that cannot be read may name anyone");
    }

    #[test]
    fn amounts_nonces_and_hashes_are_not_addresses() {
        let max = |bits: usize| ((U256::from(1) << bits) - U256::from(1)).to_string();
        for text in [max(128), max(160), max(256), "20000000000".into(), "1772972000".into(), format!("0x{}", "01".repeat(32)), "0x".into()]
        {
            assert_eq!(addresses_in(&text), Vec::<String>::new(), "{text}");
        }
        assert!(addresses_in("0x0000000000000000000000000000000000000000").is_empty(), "no party");
        assert!(addresses_in("USDC").is_empty());
    }
}
