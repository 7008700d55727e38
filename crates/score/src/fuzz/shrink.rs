//! Smaller values of the same shape: what proptest walks through to find the least failing example.

use serde_json::Value;

use super::accept::accepts;
use super::number::{integer, real, whole};
use super::shape::Shape;

/// Valid values one step simpler than this one, boldest first. Every step shortens, drops or moves towards zero, so walking ends.
pub(super) fn simpler(shape: &Shape, value: &Value) -> Vec<Value> {
    let mut found = candidates(shape, value);
    found.retain(|candidate| candidate != value && accepts(shape, candidate));
    found
}

fn candidates(shape: &Shape, value: &Value) -> Vec<Value> {
    match (shape, value) {
        (Shape::Choice(choices), _) => choices.iter().take_while(|choice| *choice != value).cloned().collect(),
        (Shape::AnyOf(branches) | Shape::OneOf(branches), _) => {
            let fitting = branches.iter().find(|branch| accepts(branch, value));
            fitting.map(|branch| simpler(branch, value)).unwrap_or_default()
        }
        (_, Value::Null) => Vec::new(),
        (_, Value::Bool(flag)) => {
            if *flag {
                vec![Value::Bool(false)]
            } else {
                Vec::new()
            }
        }
        (_, Value::Number(n)) => match (whole(n), shape) {
            (Some(n), Shape::Integer(range)) => towards(range.simplest(), n).map(integer).collect(),
            (Some(n), _) => towards(0, n).map(integer).collect(),
            (None, _) => vec![Value::from(0), real(n.as_f64().unwrap_or_default().trunc())],
        },
        (_, Value::String(s)) => shorter_texts(s).into_iter().map(Value::String).collect(),
        (_, Value::Array(items)) => {
            let item_shape = if let Shape::List(list) = shape { &list.item } else { &Shape::Any };
            shorter_lists(item_shape, items)
        }
        (_, Value::Object(map)) => {
            let fewer = map.keys().map(|gone| without(map, gone));
            let within = map.iter().flat_map(|(key, old)| {
                let field = field_shape(shape, key);
                simpler(field, old).into_iter().map(move |new| with(map, key, new))
            });
            fewer.chain(within).collect()
        }
    }
}

fn field_shape<'s>(shape: &'s Shape, key: &str) -> &'s Shape {
    let Shape::Object(object) = shape else { return &Shape::Any };
    object.fields.iter().find(|field| field.name == key).map_or(&Shape::Any, |field| &field.shape)
}

fn without(map: &serde_json::Map<String, Value>, gone: &str) -> Value {
    Value::Object(map.iter().filter(|(key, _)| *key != gone).map(|(k, v)| (k.clone(), v.clone())).collect())
}

fn with(map: &serde_json::Map<String, Value>, key: &str, new: Value) -> Value {
    let mut map = map.clone();
    map.insert(key.into(), new);
    Value::Object(map)
}

/// The goal itself, then half the way back, a quarter, ... and last the direct neighbour.
fn towards(goal: i128, n: i128) -> impl Iterator<Item = i128> {
    let steps = std::iter::successors(Some(n - goal), |rest| Some(rest / 2));
    steps.take_while(|rest| *rest != 0).map(move |rest| n - rest)
}

fn shorter_texts(s: &str) -> Vec<String> {
    let letters: Vec<char> = s.chars().collect();
    let count = letters.len();
    let cuts = [0, 1, 2, count / 2, count.saturating_sub(1)];
    let heads = cuts.into_iter().filter(|&cut| cut < count).map(|cut| letters[..cut].to_vec());
    let tails = cuts.into_iter().filter(|&cut| cut > 0 && cut < count).map(|cut| letters[cut..].to_vec());
    // Plain letters from some place on: `0x` of an address stays, its digits become zeros.
    let plainer = (0..count.min(64)).map(|from| letters.iter().enumerate().map(|(i, &c)| if i < from { c } else { plain(c) }).collect());
    let single = (0..count.min(64)).map(|at| letters.iter().enumerate().map(|(i, &c)| if i == at { plain(c) } else { c }).collect());
    let zeroed = (0..count.min(64)).map(|from| letters.iter().enumerate().map(|(i, &c)| if i < from { c } else { '0' }).collect());
    let all: Vec<Vec<char>> = heads.chain(tails).chain(zeroed).chain(plainer).chain(single).collect();
    all.into_iter().map(|letters| letters.into_iter().collect()).collect()
}

fn plain(c: char) -> char {
    match c {
        '0'..='9' => '0',
        _ => 'a',
    }
}

fn shorter_lists(item: &Shape, items: &[Value]) -> Vec<Value> {
    let halves = [items.get(..items.len() / 2), items.get(items.len() / 2..)];
    let halves = halves.into_iter().flatten().filter(|half| half.len() < items.len()).map(<[Value]>::to_vec);
    let fewer = (0..items.len()).map(|gone| {
        let kept = items.iter().enumerate().filter(|(i, _)| *i != gone);
        kept.map(|(_, item)| item.clone()).collect::<Vec<_>>()
    });
    let within = items.iter().enumerate().flat_map(|(i, old)| {
        simpler(item, old).into_iter().map(move |new| {
            let mut items = items.to_vec();
            items[i] = new;
            items
        })
    });
    halves.chain(fewer).chain(within).map(Value::Array).collect()
}
