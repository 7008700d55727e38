//! Text of effects, parties and decoded calls.

use model::transcript::{AddressInfo, DecodedItem, Effect};

pub(super) fn effect_row(effect: &Effect) -> Vec<String> {
    match effect {
        Effect::Balance { holder, asset, before, after } => {
            vec!["balance".into(), party_name(holder), asset.clone(), before.clone(), after.clone()]
        }
        Effect::Allowance { owner, spender, asset, before, after, unlimited, .. } => {
            let what = format!("{asset} for {}{}", party_name(spender), if *unlimited { ", unlimited" } else { "" });
            vec!["allowance".into(), party_name(owner), what, before.clone(), after.clone()]
        }
        Effect::Position { account, venue, market, asset, side, before, after } => {
            let what = format!("{asset} in {} {market} ({})", party_name(venue), format!("{side:?}").to_lowercase());
            vec!["position".into(), party_name(account), what, before.clone(), after.clone()]
        }
        Effect::Code { account, delegates_to } => {
            vec![
                "code".into(),
                party_name(account),
                delegates_to.as_ref().map(party_name).unwrap_or_default(),
                String::new(),
                String::new(),
            ]
        }
        Effect::Unexplained { contract, slots } => {
            vec!["unexplained".into(), party_name(contract), model::count(*slots, "slot"), String::new(), String::new()]
        }
    }
}

pub(super) fn party_name(party: &AddressInfo) -> String {
    party.name.clone().unwrap_or_else(|| party.address.clone())
}

pub(super) fn decoded_text(decoded: &DecodedItem) -> String {
    let args: Vec<String> = decoded
        .args
        .iter()
        .map(|(key, value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            format!("{key} {}", model::shortened(&value, 80))
        })
        .collect();
    format!("{}({})", decoded.name, args.join(", "))
}
