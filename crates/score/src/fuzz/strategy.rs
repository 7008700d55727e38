//! The proptest side: strategies over a shape, and the tree that shrinks what they drew.

use std::sync::Arc;

use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::Value;

use super::Sample;
use super::accept::accepts;
use super::breaks::{self, Edit};
use super::dice::Dice;
use super::draw;
use super::shape::Shape;
use super::shrink::simpler;
use super::site::Site;

#[derive(Clone, Debug)]
pub(super) struct Valid(pub(super) Arc<Shape>);

#[derive(Clone, Debug)]
pub(super) struct Invalid {
    pub(super) shape: Arc<Shape>,
    pub(super) sites: Arc<Vec<Site>>,
}

/// Chance may miss a narrow shape a few times; a shape missed this often is a bug or has no values.
const PATIENCE: usize = 64;

pub(super) fn valid_value(shape: &Shape, dice: &mut Dice<'_>) -> Option<Value> {
    (0..PATIENCE).find_map(|_| draw::value(shape, &[], dice).filter(|value| accepts(shape, value)))
}

/// A valid value that contains the site, the edit that breaks it, and what comes out.
pub(super) fn invalid_value(shape: &Shape, site: &Site, dice: &mut Dice<'_>) -> Option<(Value, Edit, Value)> {
    (0..4).find_map(|_| {
        let mut valid = draw::value(shape, &site.way, dice).filter(|value| accepts(shape, value))?;
        let edit = breaks::edit(shape, site, &mut valid, dice)?;
        let broken = edit.apply(shape, &valid)?;
        Some((valid, edit, broken))
    })
}

impl Strategy for Valid {
    type Tree = Shrinking<Value>;
    type Value = Value;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let value = valid_value(&self.0, &mut Dice::with_any_mood(runner.rng())).ok_or("found no valid value")?;
        Ok(Shrinking { shape: Arc::clone(&self.0), edit: None, best: value.clone(), now: value.clone(), rest: None, shown: value })
    }
}

impl Strategy for Invalid {
    type Tree = Shrinking<Sample>;
    type Value = Sample;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let mut dice = Dice::with_any_mood(runner.rng());
        let drawn = (0..PATIENCE).find_map(|_| {
            let site = self.sites.get(dice.below(self.sites.len()))?;
            invalid_value(&self.shape, site, &mut dice)
        });
        let (valid, edit, value) = drawn.ok_or("found no way to break a value")?;
        let shown = Sample { value, why: edit.why.clone() };
        Ok(Shrinking { shape: Arc::clone(&self.shape), edit: Some(edit), best: valid.clone(), now: valid, rest: None, shown })
    }
}

/// `best` still fails, `now` is on trial, `rest` are its untried siblings; `shown` is `now` as the test sees it.
#[derive(Debug)]
pub(super) struct Shrinking<T> {
    shape: Arc<Shape>,
    edit: Option<Edit>,
    best: Value,
    now: Value,
    rest: Option<std::vec::IntoIter<Value>>,
    shown: T,
}

/// What a tree shows for a valid value underneath; `None` when the edit no longer applies to it.
pub(super) trait Shown: Clone + std::fmt::Debug {
    fn show(shape: &Shape, edit: Option<&Edit>, valid: &Value) -> Option<Self>;
}

impl Shown for Value {
    fn show(_: &Shape, _: Option<&Edit>, valid: &Value) -> Option<Self> {
        Some(valid.clone())
    }
}

impl Shown for Sample {
    fn show(shape: &Shape, edit: Option<&Edit>, valid: &Value) -> Option<Self> {
        let edit = edit?;
        Some(Self { value: edit.apply(shape, valid)?, why: edit.why.clone() })
    }
}

impl<T: Shown> Shrinking<T> {
    fn next(&mut self) -> bool {
        let Self { shape, edit, best, rest, .. } = self;
        let rest = rest.get_or_insert_with(|| simpler(shape, best).into_iter());
        let found = rest.find_map(|now| T::show(shape, edit.as_ref(), &now).map(|shown| (now, shown)));
        let Some((now, shown)) = found else { return false };
        (self.now, self.shown) = (now, shown);
        true
    }
}

impl<T: Shown> ValueTree for Shrinking<T> {
    type Value = T;

    fn current(&self) -> T {
        self.shown.clone()
    }

    /// The value on trial failed too: go on from it.
    fn simplify(&mut self) -> bool {
        self.best = self.now.clone();
        self.rest = None;
        self.next()
    }

    /// The value on trial passed: try its sibling, or stay with the best.
    fn complicate(&mut self) -> bool {
        if self.next() {
            return true;
        }
        self.now = self.best.clone();
        if let Some(shown) = T::show(&self.shape, self.edit.as_ref(), &self.best) {
            self.shown = shown;
        }
        false
    }
}
