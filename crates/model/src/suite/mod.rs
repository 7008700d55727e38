//! Suites and their cases. The parts of a case are separate types, so that whoever may see one part cannot reach the others.

mod brief;
mod case;
mod expect;
mod intent;
mod persona;
mod post;
mod reference;
mod wanted;

pub use brief::{Brief, Peers, Surface, Talk};
pub(crate) use case::read_suite;
pub use case::{Case, Suite, SuiteKind};
pub use expect::{Carry, Expect, ExpectedCall, ExpectedCalls, Since};
pub use intent::{Intent, Spend};
pub use persona::{Correction, Fact, Persona, Stop, Temper};
pub use post::{Change, Comparison, Holding, Post};
pub use reference::{ArgValue, Lure, RefDoes, RefStep};
pub use wanted::Wanted;

#[cfg(test)]
mod tests;
