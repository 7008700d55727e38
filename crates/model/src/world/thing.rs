//! What the ids of a world stand for: positions, markets, pools, jobs, orders.

use crate::place::Spot;
use crate::problem::Report;
use crate::registry::Role;
use crate::yaml::{Fields, Node, list, name, one_of, spot, text, whole};

#[derive(Debug, Clone)]
pub struct Thing {
    /// A number, a hash, an address: whatever tools call it by.
    pub id: Spot<String>,
    /// The kind of id, or the role of the address, by which parameters name it.
    pub is: String,
    pub chain: u64,
    /// What it is made of; the first is what an amount of it counts.
    pub assets: Vec<Spot<String>>,
    /// A position in a venue of this role. Without one and with two assets it is a share of their pool.
    pub role: Option<Role>,
    pub contract: Option<Spot<String>>,
    pub market: Option<String>,
    /// What the account has in it when the trial begins: whole units of the first asset.
    pub holds: Option<String>,
    /// What it owes there: whole units of the last asset.
    pub owes: Option<String>,
    /// What it may claim there: whole units of the first asset.
    pub claimable: Option<String>,
}

pub(super) fn read_thing(node: &Node, report: &Report) -> Option<Thing> {
    let fields = Fields::open(node, "a thing", report)?;
    let id = fields.need("id", spot(text));
    let is = fields.need("is", name);
    let chain = fields.need("chain", whole);
    let assets = fields.or_default("assets", list(spot(name)));
    let role = fields.maybe("role", one_of(Role::ALL));
    let contract = fields.maybe("contract", spot(name));
    let market = fields.maybe("market", name);
    let holds = fields.maybe("holds", text);
    let owes = fields.maybe("owes", text);
    let claimable = fields.maybe("claimable", text);
    fields.close();
    Some(Thing { id: id?, is: is?, chain: chain?, assets, role, contract, market, holds, owes, claimable })
}
