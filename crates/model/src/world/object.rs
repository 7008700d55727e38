//! What the ids of a world stand for: positions, markets, pools, jobs, orders.

use crate::location::Spanned;
use crate::problem::ProblemReport;
use crate::registry::Role;
use crate::yaml::{YamlFields, YamlNode, list, name, one_of, spanned, text, whole};

#[derive(Debug, Clone)]
pub struct WorldObject {
    /// A number, a hash, an address: whatever tools call it by.
    pub id: Spanned<String>,
    /// The kind of id, or the role of the address, by which parameters name it.
    pub is: String,
    pub chain: u64,
    /// What it is made of; the first is what an amount of it counts.
    pub assets: Vec<Spanned<String>>,
    /// A position in a venue of this role. Without one and with two assets it is a share of their pool.
    pub role: Option<Role>,
    pub contract: Option<Spanned<String>>,
    pub market: Option<String>,
    /// What the account has in it when the trial begins: whole units of the first asset.
    pub holds: Option<String>,
    /// What it owes there: whole units of the last asset.
    pub owes: Option<String>,
    /// What it may claim there: whole units of the first asset.
    pub claimable: Option<String>,
}

pub(super) fn read_object(node: &YamlNode, report: &ProblemReport) -> Option<WorldObject> {
    let fields = YamlFields::open(node, "a thing", report)?;
    let id = fields.required("id", spanned(text));
    let is = fields.required("is", name);
    let chain = fields.required("chain", whole);
    let assets = fields.or_default("assets", list(spanned(name)));
    let role = fields.optional("role", one_of(Role::ALL));
    let contract = fields.optional("contract", spanned(name));
    let market = fields.optional("market", name);
    let holds = fields.optional("holds", text);
    let owes = fields.optional("owes", text);
    let claimable = fields.optional("claimable", text);
    fields.close();
    Some(WorldObject { id: id?, is: is?, chain: chain?, assets, role, contract, market, holds, owes, claimable })
}
