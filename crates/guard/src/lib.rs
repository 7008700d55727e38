//! Guard against injected text: the reference guard, contracts of fields, provenance of values, and labelled texts to measure guards on. Pure:
//! no I/O, no clock. The corpus is frozen; a test pins its hash.

mod corpus;
mod evaluation;
mod field_contract;
mod guard;
mod hidden_text;
mod labelled_text;
mod lexicon;
mod normal_form;
mod phrases;
mod provenance;
mod rules;

pub use corpus::{CORPUS_FILES, embedded_corpus};
pub use evaluation::{FamilyTally, GuardBounds, GuardEvaluation, GuardVerdictKind};
pub use field_contract::{BrokenField, FieldContract, broken_fields};
pub use guard::{FIELD_RULE, GuardFlag, GuardWork, ReferenceGuard};
pub use labelled_text::{CorpusSplit, LabelledText, TextLabel, TextLineError, parse_labelled_texts};
pub use provenance::{ProvenanceLedger, UngroundedValue, ValueKind};
pub use rules::{GuardRule, RULES, rules_of_family};
