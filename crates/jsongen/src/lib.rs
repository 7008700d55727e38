//! Generates JSON values from a JSON Schema: valid arguments, arguments that one known mutation made invalid, and plausible answers.
//!
//! A schema is parsed into a shape once; values are drawn from it with a seeded generator, so the same seed gives the same values.
//! No validator is used: samples are valid or invalid according to this crate's reading of the schema, so they can test a validator.

mod accept;
mod bounds;
mod draw;
mod flatten;
mod merge;
mod mutate;
mod mutation;
mod number;
mod parse;
mod pattern;
mod random;
mod shape;
mod text;
mod unsupported;

use serde_json::Value;

use mutate::ValueMutator;
use parse::{SchemaParser, SchemaStrictness};
use random::{SampleRng, SampleStyle};

pub use mutate::InvalidSample;
pub use mutation::Mutation;
pub use shape::JsonType;
pub use unsupported::UnsupportedSchema;

/// Maximum draws per sample.
const ATTEMPTS: usize = 64;

/// Equally many valid and invalid arguments of one tool.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleSet {
    pub valid: Vec<Value>,
    pub invalid: Vec<InvalidSample>,
}

/// Returns `each` valid and `each` invalid values of the object that `schema` describes. The first few visit every boundary and
/// every kind of mutation.
///
/// # Errors
/// Names the keyword if the schema does not describe an object, uses an unsupported keyword, or has no values.
pub fn samples(schema: &Value, seed: u64, each: usize) -> Result<SampleSet, UnsupportedSchema> {
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err(UnsupportedSchema::new("type", "", "the arguments of a tool must be an object"));
    }
    let shape = SchemaParser::new(schema, SchemaStrictness::Exact).parse()?;
    let mut random = SampleRng::new(seed);
    let valid = |round| {
        let mut draw =
            || draw::draw_value(&shape, random.with_style(SampleStyle::for_round(round))).filter(|value| accept::accepts(&shape, value));
        (0..ATTEMPTS).find_map(|_| draw()).ok_or_else(no_value)
    };
    let valid = (0..each).map(valid).collect::<Result<_, _>>()?;
    let mut mutator = ValueMutator::new(&shape);
    let invalid = (0..each).map(|_| {
        let broken = (0..ATTEMPTS).find_map(|_| mutator.attempt(random.with_random_style()));
        broken.ok_or_else(|| UnsupportedSchema::new("schema", "", "found no way to break a value"))
    });
    let invalid = invalid.collect::<Result<_, _>>()?;
    Ok(SampleSet { valid, invalid })
}

/// Returns one value with every described property and ordinary contents. Unsupported keywords are ignored, so the caller must
/// validate the value.
///
/// # Errors
/// Names the keyword if no value can be made.
pub fn plausible(schema: &Value, seed: u64) -> Result<Value, UnsupportedSchema> {
    let shape = SchemaParser::new(schema, SchemaStrictness::BestEffort).parse()?;
    draw::draw_value(&shape, SampleRng::new(seed).with_style(SampleStyle::Typical)).ok_or_else(no_value)
}

fn no_value() -> UnsupportedSchema {
    UnsupportedSchema::new("schema", "", "found no value that satisfies all of it")
}
