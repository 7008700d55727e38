//! Contracts, markets, assets and prepared tools of every operation exist. Tier 1, catalogue.

use super::words::{exact_tool as named_tool, suggest_name};
use super::{Check, ExampleWorkspace, FindingCollector};
use model::world::MARKETS;
use model::{OpClass, Spanned, Tool, Workspace};

pub(super) struct OperationsResolve;

impl Check for OperationsResolve {
    fn id(&self) -> &'static str {
        "operations_resolve"
    }

    fn manual(&self) -> &'static str {
        "via names a role that some chain of the registry has, a contract of that role, a supported market and existing tokens. Quotes, \
         and only quotes, name the write they prepare. Only reads have a view. A tool with a missing contract would fail in every trial, \
         and the failure would count against the agent."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for tool in &workspace.tools {
            found.record_examined();
            check_contract(workspace, tool, found);
            check_assets(workspace, tool, found);
            check_prepared(workspace, tool, found);
            if tool.view.is_some() && tool.acts.class() != OpClass::Read {
                let what = format!("{} has a view, but its acts is {}", *tool.name, tool.acts.word());
                found.error(&tool.at, what, "remove view: only reads have one");
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("tools/wallet.yaml", "prepares: swap_execute", "prepares: swap_exectue")
    }
}

fn check_contract(workspace: &Workspace, tool: &Tool, found: &mut FindingCollector) {
    let contracts = || workspace.chains.iter().flat_map(|chain| &chain.contracts);
    let of_role = || contracts().filter(|contract| tool.via.role.is_none_or(|role| contract.role == role));
    if let Some(role) = tool.via.role.filter(|_| of_role().next().is_none()) {
        let what = format!("{} acts through a {}, which no chain has", *tool.name, role.word());
        found.error(&tool.at, what, "add one to a registry or name another role");
    }
    if let Some(name) = tool.via.contract.as_ref().filter(|name| !of_role().any(|contract| contract.name.eq_ignore_ascii_case(name))) {
        let known = of_role().map(|contract| contract.name.as_str());
        let what = format!("{} acts through {}, which is not a contract of that role", *tool.name, **name);
        found.error(&name.at, what, suggest_name(name, known, "name a contract of the registry"));
    }
    if let Some(market) = tool.via.market.as_ref().filter(|market| !MARKETS.contains(&market.as_str())) {
        let what = format!("{} uses the market {market}, which does not exist", *tool.name);
        found.error(&tool.at, what, suggest_name(market, MARKETS.iter().copied(), format!("one of: {}", MARKETS.join(", "))));
    }
}

fn check_assets(workspace: &Workspace, tool: &Tool, found: &mut FindingCollector) {
    let symbols =
        || workspace.chains.iter().flat_map(|chain| chain.tokens.iter().map(|token| token.symbol.as_str()).chain([chain.native.as_str()]));
    let unknown = |symbol: &&Spanned<String>| !symbols().any(|known| known.eq_ignore_ascii_case(symbol));
    for symbol in [&tool.via.gives, &tool.via.takes].into_iter().flatten().filter(unknown) {
        let what = format!("{} moves {}, which no chain has", *tool.name, **symbol);
        found.error(&symbol.at, what, suggest_name(symbol, symbols(), "name a token of the registry"));
    }
}

fn check_prepared(workspace: &Workspace, tool: &Tool, found: &mut FindingCollector) {
    let quotes = tool.acts.class() == OpClass::Quote;
    match &tool.prepares {
        None if quotes => found.error(&tool.at, format!("{} is a quote without prepares", *tool.name), "add prepares: <write tool>"),
        Some(_) if !quotes => found.error(&tool.at, format!("{} has prepares but is not a quote", *tool.name), "write acts: quote"),
        None | Some(_) => {}
    }
    for name in tool.prepares.iter().flat_map(model::PrepareTarget::tools) {
        match named_tool(workspace, name) {
            Err(no) => found.error(&name.at, format!("{} prepares a write, but {}", *tool.name, no.what), no.remedy),
            Ok(target) if !target.writes() => {
                found.error(&name.at, format!("{} prepares {}, which is not a write", *tool.name, **name), "name a write");
            }
            Ok(_) => {}
        }
    }
}
