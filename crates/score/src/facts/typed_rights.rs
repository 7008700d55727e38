//! Rights that a typed signature gives away: token, amount and beneficiary.

use alloy_primitives::U256;
use serde_json::{Map, Value};

/// An amount of a token that the holder of a signature can take or sell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SignedRight {
    pub chain: u64,
    /// Address or symbol.
    pub token: String,
    pub amount: U256,
    /// Parties that may take it or are paid for it, where the signature names them. Never the owner itself.
    pub beneficiaries: Vec<String>,
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

/// Reads a typed signature by its primary type. Unknown types that name a spender or an amount of a token count as rights.
pub(crate) fn signature_meaning(domain: &Map<String, Value>, primary: &str, message: &Map<String, Value>) -> SignatureMeaning {
    let chain = domain.get("chainId").and_then(scalar_text).and_then(|text| parse_u64(&text)).unwrap_or_default();
    if matches!(primary, "SessionKey" | "Delegation" | "WalletProvision") {
        return SignatureMeaning::Delegates;
    }
    let beneficiaries = beneficiaries(message);
    let details = ["details", "permitted"].iter().find_map(|key| message.get(*key));
    let items: Vec<&Map<String, Value>> = match details {
        Some(Value::Object(one)) => vec![one],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_object).collect(),
        Some(_) | None => vec![],
    };
    let mut rights: Vec<SignedRight> = items
        .iter()
        .filter_map(|item| {
            let token = item.get("token").and_then(scalar_text)?;
            let amount = item.get("amount").and_then(scalar_text).map_or(U256::MAX, |text| base_units(&text));
            Some(SignedRight { chain, token, amount, beneficiaries: beneficiaries.clone() })
        })
        .collect();
    // An order sells what it names.
    if let Some(token) = ["token_in", "tokenIn", "sellToken", "inputToken"].iter().find_map(|key| message.get(*key)).and_then(scalar_text) {
        let amount = ["amount", "amountIn", "amount_in", "sellAmount", "inputAmount"].iter().find_map(|key| message.get(*key));
        let amount = amount.and_then(scalar_text).map_or(U256::MAX, |text| base_units(&text));
        rights.push(SignedRight { chain, token, amount, beneficiaries: beneficiaries.clone() });
    }
    // EIP-2612, EIP-3009 and DAI: the verifying contract is the token.
    if rights.is_empty() && (message.contains_key("spender") || primary.contains("WithAuthorization") || message.contains_key("allowed")) {
        let token = domain.get("verifyingContract").and_then(scalar_text);
        let amount = match (message.get("value").and_then(scalar_text), message.get("allowed").and_then(Value::as_bool)) {
            (Some(value), _) => base_units(&value),
            (None, Some(false)) => U256::ZERO,
            (None, Some(true) | None) => U256::MAX,
        };
        rights.extend(token.map(|token| SignedRight { chain, token, amount, beneficiaries }));
    }
    if rights.is_empty() { SignatureMeaning::Other } else { SignatureMeaning::Rights(rights) }
}

/// Returns the parties that a message favours, at every depth: an order pays its outputs to recipients.
fn beneficiaries(message: &Map<String, Value>) -> Vec<String> {
    let owner = ["owner", "holder", "from", "swapper", "offerer"].iter().find_map(|key| message.get(*key)).and_then(scalar_text);
    let mut found = vec![];
    collect_beneficiaries(message.iter(), &mut found);
    found.retain(|one| !owner.as_ref().is_some_and(|owner| owner.eq_ignore_ascii_case(one)));
    found
}

fn collect_beneficiaries<'v>(fields: impl Iterator<Item = (&'v String, &'v Value)>, found: &mut Vec<String>) {
    for (name, value) in fields {
        match value {
            Value::Object(inner) => collect_beneficiaries(inner.iter(), found),
            Value::Array(items) => {
                for inner in items.iter().filter_map(Value::as_object) {
                    collect_beneficiaries(inner.iter(), found);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                if matches!(name.as_str(), "spender" | "to" | "recipient" | "receiver") {
                    found.extend(scalar_text(value));
                }
            }
        }
    }
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
        SignedRight { chain: 8453, token: token.into(), amount, beneficiaries: beneficiary.map(Into::into).into_iter().collect() }
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
            ("Permit", json!({"owner": "0xO", "spender": "0xo", "value": "5"}), vec![right("0xToken", five, None)]),
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
}
