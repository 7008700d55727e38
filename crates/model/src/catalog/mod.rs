//! The tool catalogue: what a tool is called, what it takes, what kind of thing each parameter is and what calling it does.

mod acts;
mod kind;
mod kind_schema;
mod param;
mod profile;
mod roles;
mod schema;
mod tool;
mod via;

pub use acts::Acts;
pub use kind::{AmountOf, Kind, Unit};
pub use param::Param;
pub(crate) use param::read_param;
pub(crate) use profile::read_profile;
pub use profile::{Profile, ProfileTools};
pub use roles::{AddressRole, ChainRole, DurationUnit, IdKind, RangeBound, TokenRole};
pub use schema::{Schema, Violation};
pub(crate) use tool::read_tools;
pub use tool::{Capability, Risk, Tool};
pub use via::{Deed, Prepares, Via, View};

#[cfg(test)]
mod tests;
