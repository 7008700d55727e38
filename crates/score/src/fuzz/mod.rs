//! Arguments made from a tool's JSON Schema: valid ones, and ones that a single known mutation made invalid.
//!
//! A schema is parsed into a `Shape` once; values are drawn from it with seeded dice and checked against it, so that a valid
//! sample is valid and an invalid one is invalid by construction and by inspection. The same draws back two proptest strategies
//! that shrink. Bounds above 65,536 characters or items are respected, but no sample goes beyond them.

mod accept;
mod bounds;
mod breaks;
mod dice;
mod draw;
mod merge;
mod number;
mod parse;
mod pattern;
mod shape;
mod shrink;
mod site;
mod step;
mod strategy;
mod text;
mod typed;
mod unsupported;
mod why;

#[cfg(test)]
mod schemas;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use proptest::strategy::{BoxedStrategy, Strategy};
use serde_json::Value;

pub use shape::Kind;
pub use unsupported::Unsupported;
pub use why::Why;

use dice::{Dice, Mood};
use shape::Shape;

/// A value that must be refused, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    pub value: Value,
    pub why: Why,
}

/// As many valid as invalid arguments of one tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    pub valid: Vec<Value>,
    pub invalid: Vec<Sample>,
}

/// `each` valid and `each` invalid values, the same for the same seed. The first few cover every boundary and every kind of mutation.
pub fn samples(schema: &Value, seed: u64, each: usize) -> Result<Samples, Unsupported> {
    let shape = parse::tool(schema)?;
    let mut rng = dice::rng(seed);
    let valid = (0..each).map(|round| {
        let drawn = strategy::valid_value(&shape, &mut Dice::new(&mut rng, Mood::of(round)));
        drawn.ok_or_else(|| Unsupported::new("schema", "", "found no value that satisfies all of it"))
    });
    let valid = valid.collect::<Result<_, _>>()?;
    let invalid = broken(&shape, &mut rng, each)?;
    Ok(Samples { valid, invalid })
}

/// Goes round all sites; those that turn out unbreakable (a pattern matching everything) drop out.
fn broken(shape: &Shape, rng: &mut proptest::test_runner::TestRng, each: usize) -> Result<Vec<Sample>, Unsupported> {
    let mut sites = site::round(shape, &mut Dice::new(rng, Mood::Mixed));
    let mut found = Vec::with_capacity(each);
    let mut turn = 0;
    while found.len() < each {
        if sites.is_empty() {
            return Err(Unsupported::new("schema", "", "found no way to break a value"));
        }
        turn %= sites.len();
        match strategy::invalid_value(shape, &sites[turn], &mut Dice::with_any_mood(rng)) {
            Some((_, edit, value)) => {
                found.push(Sample { value, why: edit.why });
                turn += 1;
            }
            None => {
                let unbreakable = sites[turn].clone();
                sites.retain(|site| *site != unbreakable);
            }
        }
    }
    Ok(found)
}

/// Valid arguments as a strategy that shrinks to the smallest valid failing ones.
pub fn valid(schema: &Value) -> Result<BoxedStrategy<Value>, Unsupported> {
    Ok(strategy::Valid(Arc::new(parse::tool(schema)?)).boxed())
}

/// Invalid arguments as a strategy; shrinking keeps the mutation and simplifies the rest.
pub fn invalid(schema: &Value) -> Result<BoxedStrategy<Sample>, Unsupported> {
    let shape = parse::tool(schema)?;
    let sites = site::round(&shape, &mut Dice::new(&mut dice::rng(0), Mood::Mixed));
    Ok(strategy::Invalid { shape: Arc::new(shape), sites: Arc::new(sites) }.boxed())
}
