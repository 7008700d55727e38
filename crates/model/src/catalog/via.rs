//! Target of an operation (contract, market, assets, message), the action a quote prepares, and the live view of a read.

use super::legacy::LegacyDeed;
use crate::place::Spot;
use crate::problem::Report;
use crate::registry::Role;
use crate::yaml::{Fields, Node, Shape, map, name, one_of, spot};
use indexmap::IndexMap;

/// Contract and assets an operation works on. Absent parts follow from the operation and the arguments.
#[derive(Debug, Clone, Default)]
pub struct OpTarget {
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

macro_rules! views {
    ($($view:ident $word:literal),* $(,)?) => {
        /// Reads that are answered from the live world instead of a fixture.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum View { $($view),* }

        impl View {
            pub const ALL: &'static [(&'static str, View)] = &[$(($word, View::$view)),*];

            pub fn word(self) -> &'static str {
                match self { $(View::$view => $word),* }
            }
        }
    };
}

views! {
    Price "price", Token "token", Balances "balances", Portfolio "portfolio", Allowance "allowance", Allowances "allowances",
    Pool "pool", Position "position", Positions "positions", Vault "vault", VaultPosition "vault_position", Health "health",
    Gas "gas", Chains "chains", Transaction "transaction", Orders "orders", Agent "agent", Limits "limits", Memory "memory",
    Files "files",
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

/// The mapping under `via`.
#[derive(Debug, Default)]
pub(super) struct ViaFields {
    pub target: OpTarget,
    pub deed: Option<LegacyDeed>,
}

pub(super) fn read_via(node: &Node, report: &Report) -> Option<ViaFields> {
    let fields = Fields::open(node, "via", report)?;
    let target = OpTarget {
        role: fields.maybe("role", one_of(Role::ALL)),
        contract: fields.maybe("contract", spot(name)),
        market: fields.maybe("market", name),
        gives: fields.maybe("gives", spot(name)),
        takes: fields.maybe("takes", spot(name)),
        message: fields.maybe("message", name),
    };
    let deed = fields.maybe("deed", |node, report| Some(LegacyDeed { word: name(node, report)?, line: node.line }));
    fields.close();
    Some(ViaFields { target, deed })
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
