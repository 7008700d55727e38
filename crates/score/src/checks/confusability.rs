//! Pairs of similar tools within a profile.

use super::{Check, ExampleWorkspace, FindingCollector};
use crate::confusability::{ConfusablePair, ToolDoc, WARN_SIMILARITY, rank_confusable};
use model::{ToolProfile, Workspace};

pub(super) struct ConfusabilityCheck;

impl Check for ConfusabilityCheck {
    fn id(&self) -> &'static str {
        "confusability"
    }

    fn manual(&self) -> &'static str {
        "Within each profile the tools are compared by the words of their names, descriptions and parameters, rare words counting more. \
         Pairs with a similarity over 0.40 are a warning that lists the shared words: a model may confuse them. `bardo-eval tools \
         confusable` prints the whole ranking. This is never an error; some pairs are meant to be hard."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for profile in &workspace.profiles {
            found.record_examined();
            let over: Vec<ConfusablePair> =
                confusable_pairs(workspace, profile).into_iter().filter(|pair| pair.similarity > WARN_SIMILARITY).collect();
            if let Some(worst) = over.first() {
                let what = format!(
                    "{}: {} of similar tools, most similar {} and {} ({:.2})",
                    profile.name.value,
                    model::count(over.len(), "pair"),
                    worst.a,
                    worst.b,
                    worst.similarity
                );
                let remedy =
                    format!("they share: {}; `bardo-eval tools confusable --profile {}`", worst.words.join(", "), profile.name.value);
                found.warning(&profile.at, what, remedy);
            }
        }
    }

    fn accepts(&self) -> ExampleWorkspace {
        // swap_get_quote and swap_execute are similar, so the good example omits one.
        ExampleWorkspace::minimal().edit("profiles/trader.yaml", "swap_get_quote, ", "")
    }

    fn rejects(&self) -> ExampleWorkspace {
        let wallet = "  - name: wallet_get_balance\n";
        let twin = "  - name: wallet_read_balance\n    description: Balance of one token held by the agent's own wallet on one chain, in whole tokens.\n    \
                    capability: read\n    risk: layer1\n    acts: read\n";
        ExampleWorkspace::minimal().edit("tools/wallet.yaml", wallet, &format!("{twin}{wallet}")).edit(
            "profiles/trader.yaml",
            "[wallet_get_balance",
            "[wallet_get_balance, wallet_read_balance",
        )
    }
}

/// Returns the ranked pairs of one profile.
pub fn confusable_pairs(workspace: &Workspace, profile: &ToolProfile) -> Vec<ConfusablePair> {
    let tools = profile.select(&workspace.tools);
    let docs: Vec<ToolDoc<'_>> = tools
        .iter()
        .map(|tool| ToolDoc {
            name: &tool.name,
            description: &tool.description,
            params: tool.params.keys().map(String::as_str).filter(|name| !matches!(*name, "dry_run" | "action_id")).collect(),
        })
        .collect();
    rank_confusable(&docs)
}
