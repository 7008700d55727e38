//! Chain backend of a run, as given on the command line and stored with the run.

use model::UserError;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use world::ChainKind;
use world::chain::AnvilConfig;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ChainChoice {
    #[default]
    Embedded,
    /// One node per chain and trial, started by the run.
    Anvil,
    /// A running node.
    AnvilAt(String),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown chain backend \"{0}\"")]
pub struct UnknownChain(String);

impl UnknownChain {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl From<UnknownChain> for UserError {
    fn from(error: UnknownChain) -> Self {
        UserError::new(error.to_string(), "expected embedded, anvil or anvil:URL")
    }
}

impl ChainChoice {
    /// Returns the backend. `anvil` is the program in the search path; if `None`, `.tools/` is searched.
    pub fn kind(&self, anvil: Option<PathBuf>) -> ChainKind {
        match self {
            ChainChoice::Embedded => ChainKind::Embedded,
            ChainChoice::Anvil => {
                let tools = Some(PathBuf::from(".tools"));
                ChainKind::Anvil(Box::new(AnvilConfig { program: anvil, tools, ..AnvilConfig::new(0, 0) }))
            }
            ChainChoice::AnvilAt(url) => ChainKind::AnvilAt(url.clone()),
        }
    }
}

impl FromStr for ChainChoice {
    type Err = UnknownChain;

    fn from_str(text: &str) -> Result<Self, UnknownChain> {
        match text.split_once(':') {
            None if text == "embedded" => Ok(ChainChoice::Embedded),
            None if text == "anvil" => Ok(ChainChoice::Anvil),
            Some(("anvil", url)) => Ok(ChainChoice::AnvilAt(url.to_owned())),
            None | Some(_) => Err(UnknownChain(text.to_owned())),
        }
    }
}

impl fmt::Display for ChainChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChainChoice::Embedded => f.write_str("embedded"),
            ChainChoice::Anvil => f.write_str("anvil"),
            ChainChoice::AnvilAt(url) => write!(f, "anvil:{url}"),
        }
    }
}

impl TryFrom<String> for ChainChoice {
    type Error = UnknownChain;

    fn try_from(text: String) -> Result<Self, UnknownChain> {
        text.parse()
    }
}

impl From<ChainChoice> for String {
    fn from(chain: ChainChoice) -> Self {
        chain.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chain_choice_round_trips_and_rejects_unknown() {
        for text in ["embedded", "anvil", "anvil:http://127.0.0.1:8545"] {
            assert_eq!(text.parse::<ChainChoice>().map(|chain| chain.to_string()).as_deref(), Ok(text));
        }
        for text in ["", "hardhat", "embedded:1"] {
            assert!(text.parse::<ChainChoice>().is_err(), "{text}");
        }
    }
}
