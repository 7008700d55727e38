//! Values of a shape, drawn with dice.

use serde_json::{Map, Value};

use super::accept::{accepts, same};
use super::dice::{self, Dice, Mood};
use super::number::{integer, real};
use super::shape::{Extra, List, Object, Shape};
use super::step::Step;
use super::text::written;

/// A longer list is cheap to describe and dear to make; bounds beyond this are not filled up.
pub(super) const FULL_LIST: usize = 128;

/// A value that has the shape, or nothing where chance did not find one.
/// `towards` names a place the value must contain, so that there is something to break there.
pub(super) fn value(shape: &Shape, towards: &[Step], dice: &mut Dice<'_>) -> Option<Value> {
    match shape {
        Shape::Any => Some(anything(dice)),
        Shape::Null => Some(Value::Null),
        Shape::Boolean => Some(Value::Bool(dice.one_in(2))),
        Shape::Integer(range) => Some(range.draw(dice)),
        Shape::Number(range) => Some(range.draw(dice)),
        Shape::Text(text) => text.draw(dice).map(Value::String),
        Shape::List(list) => list.draw(towards, dice),
        Shape::Object(object) => object.draw(towards, dice),
        Shape::Choice(choices) => Some(dice.pick(choices).clone()),
        Shape::AnyOf(branches) => {
            let (branch, rest) = chosen(branches, towards, dice);
            value(branch, rest, dice)
        }
        // Branches may overlap, and only what a single one accepts is valid.
        Shape::OneOf(branches) => (0..24).find_map(|_| {
            let (branch, rest) = chosen(branches, towards, dice);
            value(branch, rest, dice).filter(|value| accepts(shape, value))
        }),
    }
}

fn chosen<'s, 't>(branches: &'s [Shape], towards: &'t [Step], dice: &mut Dice<'_>) -> (&'s Shape, &'t [Step]) {
    match towards {
        [Step::Branch(i), rest @ ..] => (&branches[*i], rest),
        _ => (dice.pick(branches), &[]),
    }
}

/// Is there such a value at all? Asked once while parsing, with a fixed seed, so the answer never changes.
pub(super) fn witness(shape: &Shape) -> bool {
    let mut rng = dice::rng(0);
    (0..8).any(|round| value(shape, &[], &mut Dice::new(&mut rng, Mood::of(round))).is_some_and(|v| accepts(shape, &v)))
}

pub(super) fn anything(dice: &mut Dice<'_>) -> Value {
    match dice.below(7) {
        0 => Value::Null,
        1 => Value::Bool(dice.one_in(2)),
        2 => integer(dice.between(-1000, 1000)),
        3 => real(dice.between(-1000, 1000) as f64 + 0.5),
        4 => Value::Array(vec![integer(dice.between(0, 9))]),
        5 => Value::Object(Map::from_iter([(String::from("value"), integer(dice.between(0, 9)))])),
        _ => Value::String(written(dice.length(0, 8), dice)),
    }
}

impl List {
    fn draw(&self, towards: &[Step], dice: &mut Dice<'_>) -> Option<Value> {
        let most = self.max.unwrap_or(usize::MAX);
        let length = match dice.mood {
            Mood::Smallest => self.min,
            Mood::Largest if most <= FULL_LIST => most,
            Mood::Long | Mood::Largest => most.min(self.min + 12),
            Mood::Foreign | Mood::Mixed => dice.length(self.min, most.min(self.min + 4)),
        };
        let (inside, length) = match towards {
            [Step::Item, rest @ ..] => (Some(rest), length.max(1)),
            _ => (None, length),
        };
        let mut items = Vec::with_capacity(length);
        // Small sets of items run out; what is missing at the minimum is noticed by the check of the whole value.
        let mut tries = length * 8 + 16;
        while items.len() < length && tries > 0 {
            tries -= 1;
            let towards = inside.filter(|_| items.is_empty()).unwrap_or(&[]);
            let item = value(&self.item, towards, dice)?;
            if !self.unique || items.iter().all(|other| !same(other, &item)) {
                items.push(item);
            } else if dice.mood != Mood::Mixed && tries == length * 4 {
                dice.mood = Mood::Mixed;
            }
        }
        Some(Value::Array(items))
    }
}

impl Object {
    fn draw(&self, towards: &[Step], dice: &mut Dice<'_>) -> Option<Value> {
        let mut map = Map::with_capacity(self.fields.len());
        // Some samples lean to few optional keys, some to many; an even coin per key would hardly ever show either.
        let odds = 1 + dice.below(4);
        for field in &self.fields {
            let inside = Step::into_key(towards, &field.name);
            let wanted = match dice.mood {
                Mood::Smallest => false,
                Mood::Largest => true,
                Mood::Long | Mood::Foreign | Mood::Mixed => dice.below(4) < odds,
            };
            if field.required || inside.is_some() || wanted {
                map.insert(field.name.clone(), value(&field.shape, inside.unwrap_or(&[]), dice)?);
            }
        }
        self.draw_extra(towards, &mut map, dice)?;
        Some(Value::Object(map))
    }

    fn draw_extra(&self, towards: &[Step], map: &mut Map<String, Value>, dice: &mut Dice<'_>) -> Option<()> {
        let name = self.free_name();
        let inside = Step::into_key(towards, &name);
        match &self.extra {
            Extra::Forbidden => {}
            Extra::Free if dice.mood == Mood::Mixed && dice.one_in(8) => drop(map.insert(name, anything(dice))),
            Extra::Free => {}
            Extra::Shaped(shape) => {
                if inside.is_some() || (dice.mood != Mood::Smallest && dice.one_in(2)) {
                    map.insert(name, value(shape, inside.unwrap_or(&[]), dice)?);
                }
            }
        }
        Some(())
    }

    /// A key that is none of the named ones.
    pub(super) fn free_name(&self) -> String {
        let mut name = String::from("extra");
        while self.fields.iter().any(|field| field.name == name) {
            name.push('_');
        }
        name
    }
}
