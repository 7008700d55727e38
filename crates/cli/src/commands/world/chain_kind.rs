//! Chain backends: the embedded EVM, an Anvil process, or a running node.

use crate::args::DefenceArg;
use crate::env;
use campaign::{ChainChoice, UnknownChain};
use model::UserError;
use std::path::PathBuf;
use world::chain::genesis::Genesis;
use world::chain::{Anvil, AnvilConfig, ChainBackend, EmbeddedChain};
use world::{ChainKind, DefenceMode};

/// Parses the name of a chain backend, used for all chains of a world.
pub(crate) fn parse_chain_kind(kind: &str) -> Result<ChainKind, UserError> {
    let chain: ChainChoice = kind.parse()?;
    Ok(chain.kind(env::find_program("anvil")))
}

pub(crate) fn defence_mode(arg: DefenceArg) -> DefenceMode {
    match arg {
        DefenceArg::Observe => DefenceMode::Observe,
        DefenceArg::Enforce => DefenceMode::Enforce,
    }
}

/// Opens a chain on `embedded`, `anvil` or `anvil:URL`, and applies the genesis of the world.
pub(super) async fn open_chain(kind: &str, genesis: &Genesis) -> Result<Box<dyn ChainBackend>, UserError> {
    let id = genesis.book.chain;
    let mut chain: Box<dyn ChainBackend> = match kind.split_once(':') {
        None if kind == "embedded" => Box::new(EmbeddedChain::new(id, genesis.starts_at)),
        None if kind == "anvil" => {
            let tools = Some(PathBuf::from(".tools"));
            let config = AnvilConfig { program: env::find_program("anvil"), tools, ..AnvilConfig::new(id, genesis.starts_at) };
            Box::new(Anvil::start(&config).await?)
        }
        Some(("anvil", url)) => Box::new(Anvil::claim(url, id, AnvilConfig::DEFAULT_TIMEOUT).await?),
        None | Some(_) => return Err(UnknownChain::new(kind).into()),
    };
    genesis.apply_after_latest(chain.as_mut()).await?;
    Ok(chain)
}
