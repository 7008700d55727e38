//! Target of an operation (contract, market, assets, message), the action a quote prepares, and the live view of a read.

use super::legacy::LegacyDeed;
use crate::location::Spanned;
use crate::problem::ProblemReport;
use crate::registry::Role;
use crate::yaml::{YamlFields, YamlNode, YamlShape, map, name, one_of, spanned};
use indexmap::IndexMap;

/// Contract and assets an operation works on. Absent parts follow from the operation and the arguments.
#[derive(Debug, Clone, Default)]
pub struct OpTarget {
    /// The kind of contract that is called.
    pub role: Option<Role>,
    /// Which one of that role, by its name in the registry; the first where it is left out.
    pub contract: Option<Spanned<String>>,
    /// The market of a venue.
    pub market: Option<String>,
    /// Assets where no parameter names them.
    pub gives: Option<Spanned<String>>,
    pub takes: Option<Spanned<String>>,
    /// The primary type of what is signed.
    pub message: Option<String>,
}

macro_rules! views {
    ($($view:ident $word:literal),* $(,)?) => {
        /// Reads that are answered from the live world instead of a fixture.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum LiveView { $($view),* }

        impl LiveView {
            pub const ALL: &'static [(&'static str, LiveView)] = &[$(($word, LiveView::$view)),*];

            pub fn word(self) -> &'static str {
                match self { $(LiveView::$view => $word),* }
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
pub enum PrepareTarget {
    Tool(Spanned<String>),
    /// One of several, by the word in a parameter; the arguments stand in another parameter.
    ByParam {
        word: String,
        args: String,
        tools: IndexMap<String, Spanned<String>>,
    },
}

impl PrepareTarget {
    pub fn tools(&self) -> Vec<&Spanned<String>> {
        match self {
            PrepareTarget::Tool(tool) => vec![tool],
            PrepareTarget::ByParam { tools, .. } => tools.values().collect(),
        }
    }
}

/// The mapping under `via`.
#[derive(Debug, Default)]
pub(super) struct ViaFields {
    pub target: OpTarget,
    pub deed: Option<LegacyDeed>,
}

pub(super) fn read_via(node: &YamlNode, report: &ProblemReport) -> Option<ViaFields> {
    let fields = YamlFields::open(node, "via", report)?;
    let target = OpTarget {
        role: fields.optional("role", one_of(Role::ALL)),
        contract: fields.optional("contract", spanned(name)),
        market: fields.optional("market", name),
        gives: fields.optional("gives", spanned(name)),
        takes: fields.optional("takes", spanned(name)),
        message: fields.optional("message", name),
    };
    let deed = fields.optional("deed", |node, report| Some(LegacyDeed { word: name(node, report)?, line: node.line }));
    fields.close();
    Some(ViaFields { target, deed })
}

pub(super) fn read_prepares(node: &YamlNode, report: &ProblemReport) -> Option<PrepareTarget> {
    if !matches!(node.shape, YamlShape::Map(_)) {
        return spanned(name)(node, report).map(PrepareTarget::Tool);
    }
    let fields = YamlFields::open(node, "prepares", report)?;
    let word = fields.required("word", name);
    let args = fields.required("args", name);
    let tools = fields.required("tools", map(spanned(name)));
    fields.close();
    Some(PrepareTarget::ByParam { word: word?, args: args?, tools: tools? })
}
