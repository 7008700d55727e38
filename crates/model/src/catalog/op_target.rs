//! Target of an operation (contract, market, assets, message), tools that a quote prepares, and live views of reads.

use super::legacy::{LEGACY_OP_KEY, LegacyOp};
use crate::location::Spanned;
use crate::problem::ProblemReport;
use crate::registry::Role;
use crate::yaml::{YamlFields, YamlNode, YamlShape, map, name, one_of, spanned};
use indexmap::IndexMap;

/// Contract and assets of an operation. Absent parts follow from the operation and the arguments.
#[derive(Debug, Clone, Default)]
pub struct OpTarget {
    /// Role of the called contract.
    pub role: Option<Role>,
    /// Registry name of the contract; the first one with the role if absent.
    pub contract: Option<Spanned<String>>,
    /// Market of a venue.
    pub market: Option<String>,
    /// Asset that is spent, if no parameter names it.
    pub gives: Option<Spanned<String>>,
    /// Asset that is received, if no parameter names it.
    pub takes: Option<Spanned<String>>,
    /// Primary type of the signed EIP-712 message.
    pub message: Option<String>,
}

macro_rules! views {
    ($($view:ident $word:literal),* $(,)?) => {
        /// Views of the live world that answer a read instead of a fixture.
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

/// Write tools that a quote or preview prepares actions for.
#[derive(Debug, Clone)]
pub enum PrepareTarget {
    Tool(Spanned<String>),
    /// One of several tools. The parameter `word` selects it, the parameter `args` holds its arguments.
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

/// Mapping under `via`.
#[derive(Debug, Default)]
pub(super) struct ViaFields {
    pub target: OpTarget,
    pub legacy: Option<LegacyOp>,
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
    let legacy = fields.optional(LEGACY_OP_KEY, |node, report| Some(LegacyOp { word: name(node, report)?, line: node.line }));
    fields.close();
    Some(ViaFields { target, legacy })
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
