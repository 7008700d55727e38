//! How a tool acts: the deed it does, on which contract, with which assets; what a quote prepares; which live view a read shows.

use crate::place::Spot;
use crate::problem::Report;
use crate::registry::Role;
use crate::yaml::{Fields, Node, Shape, map, name, one_of, spot};
use indexmap::IndexMap;

/// Refines `acts`. What is left out follows from the primitive and the arguments.
#[derive(Debug, Clone, Default)]
pub struct Via {
    pub deed: Option<Deed>,
    /// The kind of contract that is called.
    pub role: Option<Role>,
    /// Which one of that role, by its name in the registry; the first where it is left out.
    pub contract: Option<Spot<String>>,
    /// The market of a venue.
    pub market: Option<String>,
    /// Assets where no parameter names them.
    pub gives: Option<Spot<String>>,
    pub takes: Option<Spot<String>>,
    /// The primary type of what is signed.
    pub message: Option<String>,
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($variant:ident $word:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $($variant),* }

        impl $name {
            pub const ALL: &'static [(&'static str, $name)] = &[$(($word, $name::$variant)),*];

            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word),* }
            }
        }
    };
}

words! {
    /// What is done, in one word.
    Deed {
        Send "send", Receive "receive", Sweep "sweep", Approve "approve", Revoke "revoke", Sign "sign", Swap "swap", Add "add",
        Increase "increase", Reposition "reposition", Remove "remove", Deposit "deposit", Redeem "redeem", Enter "enter", Exit "exit",
        Borrow "borrow", Repay "repay", Claim "claim", Convert "convert", Flash "flash", Burn "burn", Leverage "leverage",
        Deleverage "deleverage", Bridge "bridge", Register "register", Feedback "feedback", Metadata "metadata", Validate "validate",
        Configure "configure", Halt "halt", Commit "commit", Batch "batch", Remember "remember",
    }
}

words! {
    /// Reads that are answered from the live world instead of a fixture.
    View {
        Price "price", Token "token", Balances "balances", Portfolio "portfolio", Allowance "allowance", Allowances "allowances",
        Pool "pool", Position "position", Positions "positions", Vault "vault", VaultPosition "vault_position", Health "health",
        Gas "gas", Chains "chains", Transaction "transaction", Orders "orders", Agent "agent", Limits "limits", Memory "memory",
        Files "files",
    }
}

/// What a quote or a preview freezes.
#[derive(Debug, Clone)]
pub enum Prepares {
    Tool(Spot<String>),
    /// One of several, by the word in a parameter; the arguments stand in another parameter.
    ByWord {
        word: String,
        args: String,
        tools: IndexMap<String, Spot<String>>,
    },
}

impl Prepares {
    pub fn tools(&self) -> Vec<&Spot<String>> {
        match self {
            Prepares::Tool(tool) => vec![tool],
            Prepares::ByWord { tools, .. } => tools.values().collect(),
        }
    }
}

pub(super) fn read_via(node: &Node, report: &Report) -> Option<Via> {
    let fields = Fields::open(node, "via", report)?;
    let via = Via {
        deed: fields.maybe("deed", one_of(Deed::ALL)),
        role: fields.maybe("role", one_of(Role::ALL)),
        contract: fields.maybe("contract", spot(name)),
        market: fields.maybe("market", name),
        gives: fields.maybe("gives", spot(name)),
        takes: fields.maybe("takes", spot(name)),
        message: fields.maybe("message", name),
    };
    fields.close();
    Some(via)
}

pub(super) fn read_prepares(node: &Node, report: &Report) -> Option<Prepares> {
    if !matches!(node.shape, Shape::Map(_)) {
        return spot(name)(node, report).map(Prepares::Tool);
    }
    let fields = Fields::open(node, "prepares", report)?;
    let word = fields.need("word", name);
    let args = fields.need("args", name);
    let tools = fields.need("tools", map(spot(name)));
    fields.close();
    Some(Prepares::ByWord { word: word?, args: args?, tools: tools? })
}
