//! The primitives a tool can be made of: what calling it does to the world.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Acts {
    Read,
    Quote,
    Simulate,
    Transfer,
    Approve,
    Permit,
    Swap,
    AddPosition,
    RemovePosition,
    VaultIn,
    VaultOut,
    VenueIn,
    VenueOut,
    Bridge,
    Register,
    Configure,
    Remember,
    PassThrough,
}

impl Acts {
    pub const ALL: &'static [(&'static str, Acts)] = &[
        ("read", Acts::Read),
        ("quote", Acts::Quote),
        ("simulate", Acts::Simulate),
        ("transfer", Acts::Transfer),
        ("approve", Acts::Approve),
        ("permit", Acts::Permit),
        ("swap", Acts::Swap),
        ("add_position", Acts::AddPosition),
        ("remove_position", Acts::RemovePosition),
        ("vault_in", Acts::VaultIn),
        ("vault_out", Acts::VaultOut),
        ("venue_in", Acts::VenueIn),
        ("venue_out", Acts::VenueOut),
        ("bridge", Acts::Bridge),
        ("register", Acts::Register),
        ("configure", Acts::Configure),
        ("remember", Acts::Remember),
        ("pass_through", Acts::PassThrough),
    ];

    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, acts)| *acts == self).map_or("", |(word, _)| word)
    }

    /// Whether the world is different afterwards.
    pub fn changes_something(self) -> bool {
        match self {
            Acts::Read | Acts::Quote | Acts::Simulate => false,
            Acts::Transfer
            | Acts::Approve
            | Acts::Permit
            | Acts::Swap
            | Acts::AddPosition
            | Acts::RemovePosition
            | Acts::VaultIn
            | Acts::VaultOut
            | Acts::VenueIn
            | Acts::VenueOut
            | Acts::Bridge
            | Acts::Register
            | Acts::Configure
            | Acts::Remember
            | Acts::PassThrough => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_primitive_has_one_word() {
        for (word, acts) in Acts::ALL {
            assert_eq!(acts.word(), *word);
            assert_eq!(serde_json::to_value(acts).unwrap(), *word);
        }
    }
}
