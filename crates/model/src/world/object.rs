//! Objects of a world that have an id: positions, markets, pools, jobs and orders.

use crate::location::Spanned;
use crate::problem::ProblemReport;
use crate::registry::Role;
use crate::yaml::{YamlFields, YamlNode, list, name, one_of, spanned, text, unsigned};

#[derive(Debug, Clone)]
pub struct WorldObject {
    /// Id used by tools: a number, a hash or an address.
    pub id: Spanned<String>,
    /// Id kind or address role of the parameters that refer to it.
    pub is: String,
    pub chain: u64,
    /// Assets it consists of. Amounts are counted in the first.
    pub assets: Vec<Spanned<String>>,
    /// Role of its venue. Without a role, an object with two assets is a position in their pool.
    pub role: Option<Role>,
    pub contract: Option<Spanned<String>>,
    pub market: Option<String>,
    /// Initial holding of the account, in whole units of the first asset.
    pub holds: Option<String>,
    /// Initial debt of the account, in whole units of the last asset.
    pub owes: Option<String>,
    /// Claimable amount, in whole units of the first asset.
    pub claimable: Option<String>,
}

pub(super) fn read_object(node: &YamlNode, report: &ProblemReport) -> Option<WorldObject> {
    let fields = YamlFields::open(node, "a thing", report)?;
    let id = fields.required("id", spanned(text));
    let is = fields.required("is", name);
    let chain = fields.required("chain", unsigned);
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
