//! What runs a chain: the embedded EVM, an Anvil of our own, or somebody's node.

use crate::args::DefenceArg;
use crate::env;
use campaign::{ChainChoice, UnknownChain};
use std::path::PathBuf;
use world::chain::genesis::Genesis;
use world::chain::{Anvil, AnvilConfig, Chain, Embedded};
use world::{ChainKind, Defence};

/// The same for the chains of a whole world.
pub(crate) fn of_world(kind: &str) -> Result<ChainKind, String> {
    let chain: ChainChoice = kind.parse().map_err(|unknown: UnknownChain| unknown.to_string())?;
    Ok(chain.kind(env::find_program("anvil")))
}

pub(crate) fn defence(arg: DefenceArg) -> Defence {
    match arg {
        DefenceArg::Observe => Defence::Observe,
        DefenceArg::Enforce => Defence::Enforce,
    }
}

/// A chain with the world's set-up done.
pub(super) async fn open(kind: &str, genesis: &Genesis) -> Result<Box<dyn Chain>, String> {
    let id = genesis.book.chain;
    let mut chain: Box<dyn Chain> = match kind.split_once(':') {
        None if kind == "embedded" => Box::new(Embedded::new(id, genesis.starts_at)),
        None if kind == "anvil" => {
            let tools = Some(PathBuf::from(".tools"));
            let config = AnvilConfig { program: env::find_program("anvil"), tools, ..AnvilConfig::new(id, genesis.starts_at) };
            Box::new(Anvil::start(&config).await.map_err(|error| error.to_string())?)
        }
        Some(("anvil", url)) => Box::new(Anvil::connect(url, id, AnvilConfig::TIME).await.map_err(|error| error.to_string())?),
        None | Some(_) => return Err(format!("\"{kind}\" is not a kind of chain  write embedded, anvil or anvil:URL")),
    };
    genesis.play(chain.as_mut()).await.map_err(|error| error.to_string())?;
    Ok(chain)
}
