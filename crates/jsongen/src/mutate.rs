//! Invalid samples: a valid value made invalid by one mutation.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use crate::accept::accepts;
use crate::draw::{self, ShapeSite, TracedValue};
use crate::mutation::Mutation;
use crate::random::SampleRng;
use crate::shape::ValueShape;

/// Value that a validator must reject, and the reason.
#[derive(Clone, Debug, PartialEq)]
pub struct InvalidSample {
    pub value: Value,
    pub mutation: Mutation,
    /// JSON pointer to the broken part; empty for the whole value.
    pub at: String,
}

impl fmt::Display for InvalidSample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = if self.at.is_empty() { "the arguments" } else { &self.at };
        write!(f, "{at}: {}", self.mutation.name())?;
        if let Mutation::MissingKey(key) = &self.mutation { write!(f, " {key}") } else { Ok(()) }
    }
}

/// Mutates values of a shape. Balances the kinds of mutation and the sites.
pub(crate) struct ValueMutator<'s> {
    shape: &'s ValueShape,
    attempts: usize,
    by_kind: BTreeMap<&'static str, usize>,
    by_place: BTreeMap<(String, Mutation), usize>,
}

impl<'s> ValueMutator<'s> {
    pub(crate) fn new(shape: &'s ValueShape) -> Self {
        Self { shape, attempts: 0, by_kind: BTreeMap::new(), by_place: BTreeMap::new() }
    }

    pub(crate) fn attempt(&mut self, random: &mut SampleRng) -> Option<InvalidSample> {
        let TracedValue { mut value, sites } = draw::draw_traced(self.shape, random).filter(|drawn| accepts(self.shape, &drawn.value))?;
        let (site, mutation) = self.choose(&sites, random)?;
        let place = value.pointer_mut(&site.at)?;
        *place = mutation.apply(site.shape, place, random)?;
        // Another branch of a union may accept the mutated value.
        (!accepts(self.shape, &value)).then(|| InvalidSample { value, mutation, at: site.at.clone() })
    }

    /// Returns the least used mutation, alternately by kind and by site.
    fn choose<'v>(&mut self, sites: &'v [ShapeSite<'s>], random: &mut SampleRng) -> Option<(&'v ShapeSite<'s>, Mutation)> {
        self.attempts += 1;
        let all = sites.iter().flat_map(|site| Mutation::at(site).into_iter().map(move |mutation| (site, mutation)));
        let least = all.min_by_key(|(site, mutation)| {
            let kind = self.by_kind.get(mutation.name()).copied().unwrap_or(0);
            let place = self.by_place.get(&(site.at.clone(), mutation.clone())).copied().unwrap_or(0);
            let (first, second) = if self.attempts.is_multiple_of(2) { (place, kind) } else { (kind, place) };
            (first, second, random.below(usize::MAX))
        });
        let (site, mutation) = least?;
        *self.by_kind.entry(mutation.name()).or_default() += 1;
        *self.by_place.entry((site.at.clone(), mutation.clone())).or_default() += 1;
        Some((site, mutation))
    }
}
