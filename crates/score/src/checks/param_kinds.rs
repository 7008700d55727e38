//! Every parameter has a kind. Scorers compare arguments by kind.

use super::{Check, ExampleWorkspace, FindingCollector};
use indexmap::IndexMap;
use model::{AmountAsset, Location, ParamKind, ParamSpec, Workspace, did_you_mean};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) struct ParamKinds;

impl Check for ParamKinds {
    fn id(&self) -> &'static str {
        "param_kinds"
    }

    fn manual(&self) -> &'static str {
        "Every parameter of a tool or a skill has a kind, because arguments are compared and calldata is built by kind. An amount counts \
         another parameter of the same tool or a symbol that some chain of the registry knows, and an enum has at least two values."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        let symbols = workspace.chains.iter().flat_map(|chain| {
            let tokens = chain.tokens.iter().map(|token| token.symbol.to_lowercase());
            tokens.chain([chain.native.to_lowercase()])
        });
        let symbols: BTreeSet<String> = symbols.collect();
        for tool in &workspace.tools {
            check_params(&tool.name, &tool.params, &tool.at, &symbols, found);
        }
        for skill in &workspace.skills {
            check_params(&format!("skill {}", *skill.name), &skill.params, &skill.at, &symbols, found);
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("skills/send-tokens/SKILL.md", "amount(human of token)", "amount(human of tokn)")
    }
}

fn check_params(
    whose: &str,
    params: &IndexMap<String, ParamSpec>,
    owner: &Location,
    symbols: &BTreeSet<String>,
    found: &mut FindingCollector,
) {
    for (name, param) in params {
        found.record_examined();
        // Implicit parameters of writes have no location.
        let at = if param.at.line > 0 { &param.at } else { owner };
        let Some(kind) = &param.kind else {
            found.error(at, format!("parameter {name} of {whose} has no kind"), "add one: token, chain, amount(human of token), text …");
            continue;
        };
        let (kind, schema) = item(kind, &param.schema);
        if let ParamKind::Amount { of: Some(AmountAsset::Param(of) | AmountAsset::Symbol(of)), .. } = kind {
            let is_other = of != name && params.contains_key(of);
            if !is_other && !symbols.contains(&of.to_lowercase()) {
                let guess = did_you_mean(of, params.keys().filter(|other| *other != name).map(String::as_str));
                let remedy = if guess.is_empty() { "name another parameter or a token of the registry".to_owned() } else { guess };
                found.error(at, format!("{name} of {whose} is an amount of {of}, which is neither a parameter nor a token"), remedy);
            }
        }
        if matches!(kind, ParamKind::Enum) {
            let values = schema["enum"].as_array().map_or(0, Vec::len);
            if values < 2 {
                let what = format!("enum {name} of {whose} has {}", model::count(values, "value"));
                found.error(at, what, "list at least two, or remove the parameter");
            }
        }
    }
}

/// Returns the kind and schema of the innermost list items.
fn item<'p>(kind: &'p ParamKind, schema: &'p Value) -> (&'p ParamKind, &'p Value) {
    if let ParamKind::List(inner) = kind { item(inner, &schema["items"]) } else { (kind, schema) }
}
