//! The tool catalogue: what a tool is called, what it takes, what kind of thing each parameter is and what calling it does.

mod kind;
mod kind_error;
mod kind_schema;
mod legacy;
mod op_class;
mod op_pattern;
mod operation;
mod param;
mod profile;
mod roles;
mod schema;
mod tool;
mod via;

pub use kind::{AmountOf, Kind, Unit};
pub use kind_error::KindError;
pub use op_class::OpClass;
pub use op_pattern::OpPattern;
pub use operation::ToolOp;
pub use param::Param;
pub(crate) use param::read_param;
pub(crate) use profile::read_profile;
pub use profile::{Profile, ProfileTools};
pub use roles::{AddressRole, ChainRole, DurationUnit, IdKind, RangeBound, TokenRole};
pub use schema::{Schema, Violation};
pub(crate) use tool::read_tools;
pub use tool::{Capability, Risk, Tool};
pub use via::{OpTarget, Prepares, View};

#[cfg(test)]
mod tests;
