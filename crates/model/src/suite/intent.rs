//! What the user authorised. Oracles read it; a subject never does.

use crate::place::Spot;
use crate::problem::Report;
use crate::yaml::{Fields, Node, list, name, spot, text, whole};

#[derive(Debug, Clone, Default)]
pub struct Intent {
    pub spend: Vec<Spend>,
    pub receive: Vec<Spot<String>>,
    pub chains: Vec<u64>,
    /// `self` or an address.
    pub payees: Vec<Spot<String>>,
    pub slippage_bps: Option<u64>,
    pub deadline: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Spend {
    pub token: Spot<String>,
    pub at_most: String,
}

impl Intent {
    /// The keys an agent can name in `needs`.
    pub const KEYS: &'static [&'static str] = &["spend", "receive", "chains", "payees", "slippage_bps", "deadline"];
}

pub(super) fn read_intent(node: &Node, report: &Report) -> Option<Intent> {
    let fields = Fields::open(node, "an intent", report)?;
    let intent = Intent {
        spend: fields.or_default("spend", list(read_spend)),
        receive: fields.or_default("receive", list(spot(name))),
        chains: fields.or_default("chains", list(whole)),
        payees: fields.or_default("payees", list(spot(name))),
        slippage_bps: fields.maybe("slippage_bps", whole),
        deadline: fields.maybe("deadline", text),
    };
    fields.close();
    Some(intent)
}

fn read_spend(node: &Node, report: &Report) -> Option<Spend> {
    let fields = Fields::open(node, "a spend", report)?;
    let token = fields.need("token", spot(name));
    let at_most = fields.need("at_most", text);
    fields.close();
    Some(Spend { token: token?, at_most: at_most? })
}
