//! Draws a value of a shape and records the sites at which a mutation can break it.

use serde_json::{Map, Value};

use crate::accept::{accepts, json_equal};
use crate::number::{json_float, json_integer};
use crate::random::{SampleRng, SampleStyle};
use crate::shape::{ListShape, ObjectShape, ValueShape};
use crate::text::random_text;

/// Lists are filled up to their maximum only if it is at most this.
const MAX_FULL_LIST: usize = 128;

/// Location inside a drawn value and the shape it was drawn from.
#[derive(Clone, Debug)]
pub(crate) struct ShapeSite<'s> {
    /// JSON pointer into the value.
    pub(crate) at: String,
    pub(crate) shape: &'s ValueShape,
    /// The shape is one branch of a union. The union checks the type, so a wrong type is not a mutation of the branch.
    pub(crate) is_branch: bool,
}

/// Drawn value and its sites. Only the first item of a list (and each prefix item) has sites: breaking another item tests the same.
#[derive(Debug)]
pub(crate) struct TracedValue<'s> {
    pub(crate) value: Value,
    pub(crate) sites: Vec<ShapeSite<'s>>,
}

/// Returns a random value of the shape, or `None` if none was found.
pub(crate) fn draw_value(shape: &ValueShape, random: &mut SampleRng) -> Option<Value> {
    ShapeSampler { random, at: String::new(), sites: Vec::new(), untraced: 1 }.draw_recorded(shape)
}

/// Like [`draw_value`], with the sites of the value.
pub(crate) fn draw_traced<'s>(shape: &'s ValueShape, random: &mut SampleRng) -> Option<TracedValue<'s>> {
    let mut sampler = ShapeSampler { random, at: String::new(), sites: Vec::new(), untraced: 0 };
    let value = sampler.draw_recorded(shape)?;
    Some(TracedValue { value, sites: sampler.sites })
}

/// Reports whether a search finds a value of the shape. Uses a fixed seed, so the result is deterministic.
pub(crate) fn has_values(shape: &ValueShape) -> bool {
    let mut random = SampleRng::new(0);
    (0..8).any(|round| draw_value(shape, random.with_style(SampleStyle::for_round(round))).is_some_and(|value| accepts(shape, &value)))
}

/// Returns a value of any type.
pub(crate) fn any_value(random: &mut SampleRng) -> Value {
    match random.below(7) {
        _ if random.style == SampleStyle::Typical => Value::Null,
        0 => Value::Null,
        1 => Value::Bool(random.one_in(2)),
        2 => json_integer(random.between(-1000, 1000)),
        3 => json_float(random.between(-1000, 1000) as f64 + 0.5),
        4 => Value::Array(vec![json_integer(random.between(0, 9))]),
        5 => Value::Object(Map::from_iter([(String::from("value"), json_integer(random.between(0, 9)))])),
        _ => Value::String(random_text(random.length(0, 8), random)),
    }
}

struct ShapeSampler<'s, 'r> {
    random: &'r mut SampleRng,
    /// JSON pointer to the value that is being drawn.
    at: String,
    sites: Vec<ShapeSite<'s>>,
    /// No sites are recorded while this is above 0.
    untraced: usize,
}

impl<'s> ShapeSampler<'s, '_> {
    fn draw_recorded(&mut self, shape: &'s ValueShape) -> Option<Value> {
        self.record_site(shape, false);
        self.draw_shape(shape)
    }

    fn record_site(&mut self, shape: &'s ValueShape, is_branch: bool) {
        if self.untraced == 0 {
            self.sites.push(ShapeSite { at: self.at.clone(), shape, is_branch });
        }
    }

    fn draw_shape(&mut self, shape: &'s ValueShape) -> Option<Value> {
        self.random.charge(0)?;
        match shape {
            ValueShape::Any => Some(any_value(self.random)),
            ValueShape::Never => None,
            ValueShape::Null => Some(Value::Null),
            ValueShape::Boolean => Some(Value::Bool(self.random.one_in(2))),
            ValueShape::Integer(range) => range.draw(self.random),
            ValueShape::Number(bounds) => Some(bounds.draw(self.random)),
            ValueShape::Text(text) => {
                let text = text.draw(self.random)?;
                self.random.charge(text.len())?;
                Some(Value::String(text))
            }
            ValueShape::List(list) => self.draw_list(list),
            ValueShape::Object(object) => self.draw_object(object),
            ValueShape::Choice(choices) => Some(self.random.pick(choices).clone()),
            // Branches of `oneOf` may overlap, and a branch may have no values.
            ValueShape::AnyOf(branches) | ValueShape::OneOf(branches) => (0..24).find_map(|_| self.draw_branch(shape, branches)),
        }
    }

    fn draw_branch(&mut self, union: &'s ValueShape, branches: &'s [ValueShape]) -> Option<Value> {
        let mark = self.sites.len();
        let branch = self.random.pick(branches);
        self.record_site(branch, true);
        let drawn = self.draw_shape(branch).filter(|value| !matches!(union, ValueShape::OneOf(_)) || accepts(union, value));
        if drawn.is_none() {
            self.sites.truncate(mark);
        }
        drawn
    }

    fn draw_list(&mut self, list: &'s ListShape) -> Option<Value> {
        let most = list.max.unwrap_or(usize::MAX);
        let length = match self.random.style {
            SampleStyle::Smallest => list.min,
            SampleStyle::Largest if most <= MAX_FULL_LIST => most,
            SampleStyle::Long | SampleStyle::Largest => most.min(list.min + 12),
            SampleStyle::NonAscii | SampleStyle::Mixed => self.random.length(list.min, most.min(list.min + 4)),
            SampleStyle::Typical => self.random.length(list.min.max(1.min(most)), most.min(list.min.max(3))),
        };
        let length = length.max(list.prefix.len().min(most));
        let mut items: Vec<Value> = Vec::new();
        // An item shape may have too few distinct values for a list of unique items; a list that stays too short is rejected below.
        let mut tries = length * 8 + 16;
        while items.len() < length && tries > 0 {
            tries -= 1;
            let (mark, is_first) = (self.sites.len(), items.is_empty() || items.len() < list.prefix.len());
            let Some(item) = self.draw_item(list, items.len(), is_first) else { break };
            if !list.unique || items.iter().all(|other| !json_equal(other, &item)) {
                items.push(item);
                continue;
            }
            self.sites.truncate(mark);
            if tries == length * 4 && self.random.style != SampleStyle::Typical {
                self.random.style = SampleStyle::Mixed;
            }
        }
        (items.len() >= list.min).then_some(Value::Array(items))
    }

    fn draw_item(&mut self, list: &'s ListShape, index: usize, is_first: bool) -> Option<Value> {
        let length = self.at.len();
        self.at.push_str(&format!("/{index}"));
        self.untraced += usize::from(!is_first);
        let item = self.draw_recorded(list.item_at(index));
        self.untraced -= usize::from(!is_first);
        self.at.truncate(length);
        item
    }

    fn draw_object(&mut self, object: &'s ObjectShape) -> Option<Value> {
        let mut map = Map::new();
        // The odds vary per object: a fixed one half per key would rarely give few or many optional keys.
        let odds = 1 + self.random.below(4);
        for field in &object.fields {
            let wanted = match self.random.style {
                SampleStyle::Smallest => false,
                SampleStyle::Largest | SampleStyle::Typical => true,
                SampleStyle::Long | SampleStyle::NonAscii | SampleStyle::Mixed => self.random.below(4) < odds,
            };
            if field.required || wanted {
                match self.draw_property(&field.name, &field.shape) {
                    Some(value) => drop(map.insert(field.name.clone(), value)),
                    None if field.required => return None,
                    None => {}
                }
            }
        }
        let odds = match (&*object.extra, self.random.style) {
            (ValueShape::Never, _) | (_, SampleStyle::Smallest | SampleStyle::Typical) => 0,
            (ValueShape::Any, SampleStyle::Mixed) => 1,
            (ValueShape::Any, SampleStyle::Largest | SampleStyle::Long | SampleStyle::NonAscii) => 0,
            _ => 4,
        };
        if self.random.below(8) < odds {
            let name = object.unused_key();
            map.extend(self.draw_property(&name, &object.extra).map(|value| (name, value)));
        }
        Some(Value::Object(map))
    }

    fn draw_property(&mut self, name: &str, shape: &'s ValueShape) -> Option<Value> {
        let (length, mark) = (self.at.len(), self.sites.len());
        self.at.push_str(&pointer_step(name));
        let value = self.draw_recorded(shape);
        self.at.truncate(length);
        if value.is_none() {
            self.sites.truncate(mark);
        }
        value
    }
}

/// Escapes a key as one step of a JSON pointer.
pub(crate) fn pointer_step(key: &str) -> String {
    format!("/{}", key.replace('~', "~0").replace('/', "~1"))
}
