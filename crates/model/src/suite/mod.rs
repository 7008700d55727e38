//! Suites and their cases. The parts of a case are separate types, so that code with access to one part cannot read the others.

mod arg_matcher;
mod assertion;
pub mod attack;
mod attack_file;
mod brief;
mod call_pattern;
mod case;
mod case_fixture;
mod ecma_pattern;
mod expect;
mod expected_report;
mod intent;
mod json_path;
mod named_args;
mod persona;
mod rare_fields;
mod reference;
mod rubric;
mod shared_args;
mod state_predicate;
mod step_expectation;
mod subject_script;

pub use arg_matcher::ArgMatcher;
pub use assertion::{AssertedText, AssertionSubject, AssertionType, AssertionValue, CaseAssertion, PathTest};
pub use attack::AttackScript;
pub use brief::{Brief, CaseSurface, PeerMode, UserScript};
pub use call_pattern::CallPattern;
pub(crate) use case::read_suite;
pub use case::{Case, Suite, SuiteKind};
pub(crate) use case_fixture::read_case_fixtures;
pub use case_fixture::{CaseFixture, RecordedAnswer};
pub use ecma_pattern::EcmaPattern;
pub(crate) use expect::read_expect;
pub use expect::{CarriedValue, CaseExpectations, ExpectedCall, ExpectedCalls, FurtherExpectations, ValueOrigin};
pub use expected_report::ExpectedReport;
pub(crate) use intent::read_intent;
pub use intent::{SpendLimit, UserIntent};
pub use json_path::JsonPath;
pub use named_args::NamedArgs;
pub use persona::{Persona, PersonaCorrection, PersonaFact, PersonaTemper, StopRule};
pub use rare_fields::{RareFields, RareValue};
pub(crate) use reference::read_reference;
pub use reference::{ArgValue, ReferenceAction, ReferenceStep};
pub use rubric::{CaseRubric, RubricFact};
pub use state_predicate::{AmountComparison, ExpectedChange, StatePredicate, StateQuantity};
pub use step_expectation::{CountRange, STEP_KINDS, SkillExpectation, SpanExpectation, StepExpectation, StepPattern, ValueReading};
pub use subject_script::{LastMove, ScriptAttitude, SubjectScript};

#[cfg(test)]
mod tests;
