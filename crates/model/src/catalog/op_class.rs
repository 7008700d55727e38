//! Classes of operations, matched by rules and scorers.

/// Group of operations with the same kind of effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OpClass {
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

impl OpClass {
    /// Every class with its word in rules.
    pub const ALL: &'static [(&'static str, OpClass)] = &[
        ("read", OpClass::Read),
        ("quote", OpClass::Quote),
        ("simulate", OpClass::Simulate),
        ("transfer", OpClass::Transfer),
        ("approve", OpClass::Approve),
        ("permit", OpClass::Permit),
        ("swap", OpClass::Swap),
        ("add_position", OpClass::AddPosition),
        ("remove_position", OpClass::RemovePosition),
        ("vault_in", OpClass::VaultIn),
        ("vault_out", OpClass::VaultOut),
        ("venue_in", OpClass::VenueIn),
        ("venue_out", OpClass::VenueOut),
        ("bridge", OpClass::Bridge),
        ("register", OpClass::Register),
        ("configure", OpClass::Configure),
        ("remember", OpClass::Remember),
        ("pass_through", OpClass::PassThrough),
    ];

    /// Returns the word for this class in rules.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, class)| *class == self).map_or("", |(word, _)| word)
    }

    /// Returns the class with this word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == word).map(|(_, class)| *class)
    }

    /// Returns whether a call of this class changes the world.
    pub fn changes_state(self) -> bool {
        match self {
            OpClass::Read | OpClass::Quote | OpClass::Simulate => false,
            OpClass::Transfer
            | OpClass::Approve
            | OpClass::Permit
            | OpClass::Swap
            | OpClass::AddPosition
            | OpClass::RemovePosition
            | OpClass::VaultIn
            | OpClass::VaultOut
            | OpClass::VenueIn
            | OpClass::VenueOut
            | OpClass::Bridge
            | OpClass::Register
            | OpClass::Configure
            | OpClass::Remember
            | OpClass::PassThrough => true,
        }
    }
}
