//! Suites and their cases. The parts of a case are separate types, so that whoever may see one part cannot reach the others.

mod brief;
mod case;
mod expect;
mod intent;
mod post;
mod reference;
mod wanted;

pub use brief::{Brief, Peers, Persona, Surface, Talk};
pub(crate) use case::read_suite;
pub use case::{Case, Suite, SuiteKind};
pub use expect::{Carry, Expect, ExpectedCall, ExpectedCalls};
pub use intent::{Intent, Spend};
pub use post::{Change, Comparison, Holding, Post};
pub use reference::{ArgValue, RefDoes, RefStep};
pub use wanted::Wanted;
