//! Tool catalogue: names, parameters with their kinds, and operations of tools.

mod kind;
mod kind_error;
mod kind_schema;
mod legacy;
mod op_class;
mod op_pattern;
mod op_target;
mod operation;
mod param;
mod profile;
mod roles;
mod schema;
mod tool;

pub use kind::{AmountAsset, AmountUnit, ParamKind};
pub use kind_error::KindError;
pub use op_class::OpClass;
pub use op_pattern::OpPattern;
pub use op_target::{LiveView, OpTarget, PrepareTarget};
pub use operation::ToolOp;
pub use param::ParamSpec;
pub(crate) use param::read_param;
pub(crate) use profile::read_profile;
pub use profile::{ProfileTools, ToolProfile};
pub use roles::{AddressRole, ChainRole, DurationUnit, IdKind, RangeBound, TokenRole};
pub use schema::{JsonSchema, SchemaViolation};
pub(crate) use tool::read_tools;
pub use tool::{RiskLayer, Tool, ToolCapability};

#[cfg(test)]
mod tests;
