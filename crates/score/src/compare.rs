//! Whether two argument values mean the same thing, by the parameter's kind.

use model::{Kind, Param, Tool, Workspace};
use serde_json::Value;

/// Whether the call gives this argument the expected meaning. Left out, it has the tool's default.
pub(crate) fn same_argument(workspace: &Workspace, tool: &Tool, name: &str, expected: &Value, args: &Value) -> bool {
    let param = tool.params.get(name);
    let default = param.and_then(|param| param.default.as_ref());
    match args.get(name).filter(|value| !value.is_null()).or(default) {
        Some(actual) => same(workspace, param.and_then(|param| param.kind.as_ref()), expected, actual, chain_of(workspace, tool, args)),
        None => false,
    }
}

/// Like `same_argument`, for the parameters of a skill.
pub(crate) fn same_param(workspace: &Workspace, param: Option<&Param>, expected: &Value, actual: Option<&Value>) -> bool {
    let default = param.and_then(|param| param.default.as_ref());
    actual.or(default).is_some_and(|actual| same(workspace, param.and_then(|param| param.kind.as_ref()), expected, actual, None))
}

fn chain_of(workspace: &Workspace, tool: &Tool, args: &Value) -> Option<u64> {
    let (name, param) = tool.params.iter().find(|(_, param)| matches!(param.kind, Some(Kind::Chain(_))))?;
    let value = args.get(name).or(param.default.as_ref())?;
    workspace.chain(&plain(value)).map(|chain| chain.id)
}

fn same(workspace: &Workspace, kind: Option<&Kind>, expected: &Value, actual: &Value, chain: Option<u64>) -> bool {
    let Some(kind) = kind else { return expected == actual };
    match kind {
        Kind::Address(_) | Kind::Data => plain(expected).eq_ignore_ascii_case(&plain(actual)),
        Kind::Token(_) => token(workspace, expected, chain) == token(workspace, actual, chain),
        Kind::Chain(_) => chain_name(workspace, expected) == chain_name(workspace, actual),
        Kind::Amount { .. }
        | Kind::Bps
        | Kind::Percent
        | Kind::Ratio
        | Kind::Price(_)
        | Kind::Tick(_)
        | Kind::FeeTier
        | Kind::Deadline
        | Kind::Count => same_number(expected, actual),
        Kind::Text => folded(expected) == folded(actual),
        Kind::List(item) => match (expected, actual) {
            (Value::Array(expected), Value::Array(actual)) => {
                expected.len() == actual.len() && expected.iter().zip(actual).all(|(a, b)| same(workspace, Some(item), a, b, chain))
            }
            (_, _) => false,
        },
        Kind::Duration(_) | Kind::Timestamp | Kind::Id(_) | Kind::Url | Kind::Enum => plain(expected) == plain(actual),
        Kind::Flag | Kind::Object => expected == actual,
    }
}

/// A JSON string or number as text, without the quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| text.trim().to_owned())
}

fn folded(value: &Value) -> String {
    plain(value).to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn chain_name(workspace: &Workspace, value: &Value) -> String {
    let text = plain(value);
    workspace.chain(&text).map_or(text.to_lowercase(), |chain| chain.name.clone())
}

/// The symbol a token goes by. An address resolves on the call's chain, or on any when the call names none.
fn token(workspace: &Workspace, value: &Value, chain: Option<u64>) -> String {
    let text = plain(value);
    let known = workspace
        .chains
        .iter()
        .filter(|one| chain.is_none_or(|id| one.id == id))
        .flat_map(|one| &one.tokens)
        .find(|token| token.address.text.eq_ignore_ascii_case(&text));
    known.map_or(text, |token| token.symbol.value.clone()).to_lowercase()
}

/// Decimal numbers of any length, compared as written: no floating point between two amounts.
fn same_number(expected: &Value, actual: &Value) -> bool {
    match (decimal(&plain(expected)), decimal(&plain(actual))) {
        (Some(a), Some(b)) => a == b,
        (_, _) => plain(expected) == plain(actual),
    }
}

/// Sign, whole digits and fraction without superfluous zeros.
fn decimal(text: &str) -> Option<(bool, String, String)> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let clean = |part: &str| part.chars().all(|c| c.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !clean(whole) || !clean(fraction) {
        return None;
    }
    let whole = whole.trim_start_matches('0').to_owned();
    let fraction = fraction.trim_end_matches('0').to_owned();
    let zero = whole.is_empty() && fraction.is_empty();
    Some((negative && !zero, whole, fraction))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;
    use serde_json::json;

    #[test]
    fn values_are_compared_by_kind() {
        let workspace = Example::minimal().load().expect("the minimal workspace");
        let same = |kind: &str, a: Value, b: Value| super::same(&workspace, Some(&kind.parse().expect("a kind")), &a, &b, Some(8453));
        assert!(same("chain", json!("base"), json!(8453)));
        assert!(same("chain", json!("Base-Mainnet"), json!("base")));
        assert!(!same("chain", json!("base"), json!("ethereum")));
        assert!(same("token", json!("USDC"), json!("0x833589fcd6edb6e08f4c7c32d4f71b54bda02913")));
        assert!(!same("token", json!("USDC"), json!("WETH")));
        assert!(same("amount(human)", json!("250"), json!("250.00")));
        assert!(same("amount(human)", json!(0.5), json!("0.5")));
        assert!(!same("amount(human)", json!("250"), json!("250.000000000000000001")));
        assert!(!same(
            "amount(base)",
            json!("115792089237316195423570985008687907853269984665640564039457584007913129639935"),
            json!("115792089237316195423570985008687907853269984665640564039457584007913129639934")
        ));
        assert!(same("address(recipient)", json!("0xAb"), json!("0xaB")));
        assert!(same("list(token)", json!(["USDC"]), json!(["usdc"])));
        assert!(!same("list(token)", json!(["USDC"]), json!(["usdc", "WETH"])));
        assert!(same("text", json!("Cold  wallet"), json!("cold wallet")));
        assert!(!same("flag", json!(true), json!("true")));
    }

    #[test]
    fn an_argument_left_out_has_the_default() {
        let workspace = Example::minimal().load().expect("the minimal workspace");
        let tool = workspace.tool("swap_execute").expect("the tool");
        assert!(same_argument(&workspace, tool, "slippage_bps", &json!(50), &json!({})));
        assert!(!same_argument(&workspace, tool, "slippage_bps", &json!(30), &json!({})));
        assert!(!same_argument(&workspace, tool, "amount", &json!("1"), &json!({})));
    }
}
