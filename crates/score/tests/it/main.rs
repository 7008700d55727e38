//! Integration tests of scoring: references, mutated transcripts, properties and suite quality.

mod case_memory;
mod fair_cases;
mod mutations_behaviour;
mod mutations_oracles;
mod mutations_selection;
mod oracle_properties;
mod promptfoo;
mod properties;
mod quality;
mod references;
