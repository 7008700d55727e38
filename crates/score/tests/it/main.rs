//! Integration tests of scoring: references, mutated transcripts, properties and suite quality.

mod mutations_behaviour;
mod mutations_selection;
mod promptfoo;
mod properties;
mod quality;
mod references;
