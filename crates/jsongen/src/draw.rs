//! Draws a value of a shape, and notes the places where the value could be broken.

use serde_json::{Map, Value};

use crate::accept::{accepts, same};
use crate::number::{integer, real};
use crate::random::{Random, Style};
use crate::shape::{ListShape, ObjectShape, Shape};
use crate::text::written;

/// Lists are filled up to their maximum only if it is at most this.
const FULL_LIST: usize = 128;

/// A place inside a drawn value and the shape it was drawn from.
#[derive(Clone, Debug)]
pub(crate) struct Site<'s> {
    /// JSON pointer into the value.
    pub(crate) at: String,
    pub(crate) shape: &'s Shape,
    /// One branch of a union: a wrong type is the union's business.
    pub(crate) is_branch: bool,
}

/// A drawn value and its sites. Of a list only the first item has sites: breaking one is as good as breaking any.
#[derive(Debug)]
pub(crate) struct Traced<'s> {
    pub(crate) value: Value,
    pub(crate) sites: Vec<Site<'s>>,
}

/// Returns a value that has the shape, or `None` where chance did not find one.
pub(crate) fn value(shape: &Shape, random: &mut Random) -> Option<Value> {
    Drawing { random, at: String::new(), sites: Vec::new(), untraced: 1 }.value(shape)
}

pub(crate) fn traced<'s>(shape: &'s Shape, random: &mut Random) -> Option<Traced<'s>> {
    let mut drawing = Drawing { random, at: String::new(), sites: Vec::new(), untraced: 0 };
    let value = drawing.value(shape)?;
    Some(Traced { value, sites: drawing.sites })
}

/// Returns whether there is such a value at all. Seeded, so the answer never changes.
pub(crate) fn has_values(shape: &Shape) -> bool {
    let mut random = Random::new(0);
    (0..8).any(|round| value(shape, random.styled(Style::of(round))).is_some_and(|value| accepts(shape, &value)))
}

/// Returns a value of any type.
pub(crate) fn anything(random: &mut Random) -> Value {
    match random.below(7) {
        _ if random.style == Style::Typical => Value::Null,
        0 => Value::Null,
        1 => Value::Bool(random.one_in(2)),
        2 => integer(random.between(-1000, 1000)),
        3 => real(random.between(-1000, 1000) as f64 + 0.5),
        4 => Value::Array(vec![integer(random.between(0, 9))]),
        5 => Value::Object(Map::from_iter([(String::from("value"), integer(random.between(0, 9)))])),
        _ => Value::String(written(random.length(0, 8), random)),
    }
}

struct Drawing<'s, 'r> {
    random: &'r mut Random,
    at: String,
    sites: Vec<Site<'s>>,
    /// No sites are noted while this is above 0.
    untraced: usize,
}

impl<'s> Drawing<'s, '_> {
    fn value(&mut self, shape: &'s Shape) -> Option<Value> {
        self.note(shape, false);
        self.inside(shape)
    }

    fn note(&mut self, shape: &'s Shape, is_branch: bool) {
        if self.untraced == 0 {
            self.sites.push(Site { at: self.at.clone(), shape, is_branch });
        }
    }

    fn inside(&mut self, shape: &'s Shape) -> Option<Value> {
        self.random.pay(0)?;
        match shape {
            Shape::Any => Some(anything(self.random)),
            Shape::Never => None,
            Shape::Null => Some(Value::Null),
            Shape::Boolean => Some(Value::Bool(self.random.one_in(2))),
            Shape::Integer(range) => range.draw(self.random),
            Shape::Number(bounds) => Some(bounds.draw(self.random)),
            Shape::Text(text) => {
                let text = text.draw(self.random)?;
                self.random.pay(text.len())?;
                Some(Value::String(text))
            }
            Shape::List(list) => self.list(list),
            Shape::Object(object) => self.object(object),
            Shape::Choice(choices) => Some(self.random.pick(choices).clone()),
            // Branches of `oneOf` may overlap, and a branch may have no values.
            Shape::AnyOf(branches) | Shape::OneOf(branches) => (0..24).find_map(|_| self.branch(shape, branches)),
        }
    }

    fn branch(&mut self, union: &'s Shape, branches: &'s [Shape]) -> Option<Value> {
        let mark = self.sites.len();
        let branch = self.random.pick(branches);
        self.note(branch, true);
        let drawn = self.inside(branch).filter(|value| !matches!(union, Shape::OneOf(_)) || accepts(union, value));
        if drawn.is_none() {
            self.sites.truncate(mark);
        }
        drawn
    }

    fn list(&mut self, list: &'s ListShape) -> Option<Value> {
        let most = list.max.unwrap_or(usize::MAX);
        let length = match self.random.style {
            Style::Smallest => list.min,
            Style::Largest if most <= FULL_LIST => most,
            Style::Long | Style::Largest => most.min(list.min + 12),
            Style::NonAscii | Style::Mixed => self.random.length(list.min, most.min(list.min + 4)),
            Style::Typical => self.random.length(list.min.max(1.min(most)), most.min(list.min.max(3))),
        };
        let length = length.max(list.prefix.len().min(most));
        let mut items: Vec<Value> = Vec::new();
        // Small sets of unique items run out; a list that stays too short fails the check of the whole value.
        let mut tries = length * 8 + 16;
        while items.len() < length && tries > 0 {
            tries -= 1;
            let (mark, is_first) = (self.sites.len(), items.is_empty() || items.len() < list.prefix.len());
            let Some(item) = self.item(list, items.len(), is_first) else { break };
            if !list.unique || items.iter().all(|other| !same(other, &item)) {
                items.push(item);
                continue;
            }
            self.sites.truncate(mark);
            if tries == length * 4 && self.random.style != Style::Typical {
                self.random.style = Style::Mixed;
            }
        }
        (items.len() >= list.min).then_some(Value::Array(items))
    }

    fn item(&mut self, list: &'s ListShape, index: usize, is_first: bool) -> Option<Value> {
        let length = self.at.len();
        self.at.push_str(&format!("/{index}"));
        self.untraced += usize::from(!is_first);
        let item = self.value(list.item_at(index));
        self.untraced -= usize::from(!is_first);
        self.at.truncate(length);
        item
    }

    fn object(&mut self, object: &'s ObjectShape) -> Option<Value> {
        let mut map = Map::new();
        // Some samples lean to few optional keys, some to many; an even coin per key would hardly ever show either.
        let odds = 1 + self.random.below(4);
        for field in &object.fields {
            let wanted = match self.random.style {
                Style::Smallest => false,
                Style::Largest | Style::Typical => true,
                Style::Long | Style::NonAscii | Style::Mixed => self.random.below(4) < odds,
            };
            if field.required || wanted {
                match self.key(&field.name, &field.shape) {
                    Some(value) => drop(map.insert(field.name.clone(), value)),
                    None if field.required => return None,
                    None => {}
                }
            }
        }
        let odds = match (&*object.extra, self.random.style) {
            (Shape::Never, _) | (_, Style::Smallest | Style::Typical) => 0,
            (Shape::Any, Style::Mixed) => 1,
            (Shape::Any, Style::Largest | Style::Long | Style::NonAscii) => 0,
            _ => 4,
        };
        if self.random.below(8) < odds {
            let name = object.free_name();
            map.extend(self.key(&name, &object.extra).map(|value| (name, value)));
        }
        Some(Value::Object(map))
    }

    fn key(&mut self, key: &str, shape: &'s Shape) -> Option<Value> {
        let (length, mark) = (self.at.len(), self.sites.len());
        self.at.push_str(&pointer_step(key));
        let value = self.value(shape);
        self.at.truncate(length);
        if value.is_none() {
            self.sites.truncate(mark);
        }
        value
    }
}

/// Returns a key as a step of a JSON pointer.
pub(crate) fn pointer_step(key: &str) -> String {
    format!("/{}", key.replace('~', "~0").replace('/', "~1"))
}
