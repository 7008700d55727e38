//! A value that fits a JSON Schema, found without search: the plain parts of the language, and limits for the rest.

use model::Hash;
use serde_json::{Map, Number, Value};

/// Deeper than any honest answer; recursion through references ends here.
const DEPTH: usize = 24;
/// Values in one answer.
const VALUES: usize = 10_000;
const LONGEST: u64 = 10_000;

pub(super) fn stub(schema: &Value, seed: &Hash) -> Result<Value, String> {
    Stub { root: schema, chance: Chance::new(seed), left: VALUES }.value(schema, 0)
}

/// Splitmix64 over the hash: small, and the same on every machine.
struct Chance(u64);

impl Chance {
    fn new(seed: &Hash) -> Self {
        Self(u64::from_str_radix(&seed.as_str()[..16], 16).unwrap_or_default())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.next() % bound }
    }

    fn of<'v>(&mut self, items: &'v [Value]) -> Option<&'v Value> {
        let at = self.below(items.len() as u64);
        items.get(usize::try_from(at).unwrap_or_default())
    }
}

struct Stub<'s> {
    root: &'s Value,
    chance: Chance,
    left: usize,
}

impl Stub<'_> {
    fn value(&mut self, schema: &Value, depth: usize) -> Result<Value, String> {
        if depth > DEPTH {
            return Err(format!("it nests deeper than {DEPTH} levels"));
        }
        self.left = self.left.checked_sub(1).ok_or_else(|| format!("it asks for more than {VALUES} values"))?;
        let Value::Object(schema) = schema else {
            return if schema == &Value::Bool(false) { Err("it permits nothing".to_owned()) } else { Ok(Value::Null) };
        };
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let root = self.root;
            let target = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
            return self.value(target.ok_or_else(|| format!("it refers to {reference}, which is not in it"))?, depth + 1);
        }
        if let Some(only) = schema.get("const") {
            return Ok(only.clone());
        }
        for list in ["enum", "examples"] {
            if let Some(chosen) = schema.get(list).and_then(Value::as_array).and_then(|items| self.chance.of(items)) {
                return Ok(chosen.clone());
            }
        }
        for choice in ["oneOf", "anyOf"] {
            if let Some(chosen) = schema.get(choice).and_then(Value::as_array).and_then(|items| self.chance.of(items)).cloned() {
                return self.value(&merged(schema, [&chosen]), depth + 1);
            }
        }
        if let Some(all) = schema.get("allOf").and_then(Value::as_array) {
            return self.value(&merged(schema, all), depth + 1);
        }
        self.typed(schema, depth)
    }

    fn typed(&mut self, schema: &Map<String, Value>, depth: usize) -> Result<Value, String> {
        let kind = match schema.get("type") {
            Some(Value::Array(kinds)) => self.chance.of(kinds).and_then(Value::as_str).unwrap_or("null").to_owned(),
            Some(Value::String(kind)) => kind.clone(),
            Some(_) | None if schema.contains_key("properties") => "object".to_owned(),
            Some(_) | None if schema.contains_key("items") => "array".to_owned(),
            Some(_) | None => "null".to_owned(),
        };
        match kind.as_str() {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, depth),
            "string" => self.string(schema),
            "integer" => Ok(self.integer(schema).into()),
            "number" => Ok(self.number(schema)),
            "boolean" => Ok((self.chance.below(2) == 1).into()),
            "null" => Ok(Value::Null),
            other => Err(format!("it knows a type {other}")),
        }
    }

    /// Every property that is described, required or not: a stub that leaves things out shows less of the agent.
    fn object(&mut self, schema: &Map<String, Value>, depth: usize) -> Result<Value, String> {
        let described = schema.get("properties").and_then(Value::as_object);
        let required: Vec<&str> =
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let mut object = Map::new();
        for (name, inner) in described.into_iter().flatten() {
            match self.value(inner, depth + 1) {
                Ok(value) => drop(object.insert(name.clone(), value)),
                // What may be absent may also be impossible, such as a tree without end.
                Err(_) if !required.contains(&name.as_str()) && self.left > 0 => {}
                Err(why) => return Err(format!("{name}: {why}")),
            }
        }
        for name in required {
            if !object.contains_key(name) {
                let inner = schema.get("additionalProperties").filter(|inner| inner.is_object()).cloned().unwrap_or(Value::Bool(true));
                let value = self.value(&inner, depth + 1)?;
                object.insert(name.to_owned(), value);
            }
        }
        Ok(Value::Object(object))
    }

    fn array(&mut self, schema: &Map<String, Value>, depth: usize) -> Result<Value, String> {
        let (least, most) = bounds(schema, "minItems", "maxItems", 1, 3)?;
        let count = least + self.chance.below(most - least + 1);
        let first = schema.get("prefixItems").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let rest = schema.get("items").cloned().unwrap_or(Value::Bool(true));
        let count = usize::try_from(count).unwrap_or_default().max(first.len());
        let mut items = vec![];
        for at in 0..count {
            items.push(self.value(first.get(at).unwrap_or(&rest), depth + 1)?);
        }
        Ok(Value::Array(items))
    }

    fn string(&mut self, schema: &Map<String, Value>) -> Result<Value, String> {
        let chance = self.chance.next();
        if let Some(format) = schema.get("format").and_then(Value::as_str) {
            let text = match format {
                "date-time" => format!("2026-03-{:02}T12:00:00Z", 1 + chance % 28),
                "date" => format!("2026-03-{:02}", 1 + chance % 28),
                "time" => "12:00:00Z".to_owned(),
                "email" => format!("stub{}@example.com", chance % 1000),
                "uri" | "url" | "iri" => format!("https://example.com/{}", chance % 1000),
                "hostname" => "example.com".to_owned(),
                "ipv4" => format!("192.0.2.{}", chance % 256),
                "ipv6" => "2001:db8::1".to_owned(),
                "uuid" => format!("{:08x}-0000-4000-8000-{:012x}", chance >> 32, chance & 0xffff_ffff),
                _ => String::new(),
            };
            if !text.is_empty() {
                return Ok(text.into());
            }
        }
        let (least, most) = bounds(schema, "minLength", "maxLength", 4, 12)?;
        let word = format!("stub{chance:016x}");
        let length = usize::try_from(least + chance % (most - least + 1)).unwrap_or_default();
        Ok(word.chars().cycle().take(length).collect::<String>().into())
    }

    fn integer(&mut self, schema: &Map<String, Value>) -> i64 {
        let given = |name: &str| schema.get(name).and_then(Value::as_f64);
        #[expect(clippy::cast_possible_truncation, reason = "the cast saturates, and what does not fit is caught by the check")]
        let (low, high) = {
            let low = given("minimum").map(|low| low.ceil() as i64).or(given("exclusiveMinimum").map(|low| low.floor() as i64 + 1));
            let high = given("maximum").map(|high| high.floor() as i64).or(given("exclusiveMaximum").map(|high| high.ceil() as i64 - 1));
            match (low, high) {
                (Some(low), Some(high)) => (low, high.max(low)),
                (Some(low), None) => (low, low.saturating_add(1000)),
                (None, Some(high)) => (high.saturating_sub(1000), high),
                (None, None) => (0, 1000),
            }
        };
        let step = schema.get("multipleOf").and_then(Value::as_i64).filter(|step| *step > 0).unwrap_or(1);
        let span = u64::try_from(high.saturating_sub(low)).unwrap_or_default().saturating_add(1);
        let value = low.saturating_add(i64::try_from(self.chance.below(span)).unwrap_or_default());
        let below = value - value.rem_euclid(step);
        if below < low { below.saturating_add(step) } else { below }
    }

    fn number(&mut self, schema: &Map<String, Value>) -> Value {
        if schema.contains_key("multipleOf") {
            return self.integer(schema).into();
        }
        let given = |name: &str| schema.get(name).and_then(Value::as_f64);
        let low = given("minimum").or(given("exclusiveMinimum"));
        let high = given("maximum").or(given("exclusiveMaximum"));
        let (low, high) = match (low, high) {
            (Some(low), Some(high)) => (low, high),
            (Some(low), None) => (low, low + 1000.0),
            (None, Some(high)) => (high - 1000.0, high),
            (None, None) => (0.0, 1000.0),
        };
        // Never the ends: they may be excluded.
        let part = (1.0 + (self.chance.below(998)) as f64) / 1000.0;
        Number::from_f64(low + (high - low) * part).map_or(Value::Null, Value::Number)
    }
}

fn bounds(schema: &Map<String, Value>, low: &str, high: &str, least: u64, most: u64) -> Result<(u64, u64), String> {
    let given = |name: &str| schema.get(name).and_then(Value::as_u64);
    let low_given = given(low);
    let high = given(high).unwrap_or_else(|| most.max(low_given.unwrap_or(0)));
    let low = low_given.unwrap_or_else(|| least.min(high));
    if low > LONGEST {
        return Err(format!("it asks for at least {low} of something, {LONGEST} is the most"));
    }
    Ok((low, high.clamp(low, low.max(most))))
}

/// The outer schema without the choice, and what was chosen, as one.
fn merged<'v>(outer: &Map<String, Value>, chosen: impl IntoIterator<Item = &'v Value>) -> Value {
    let mut all = outer.clone();
    for gone in ["oneOf", "anyOf", "allOf"] {
        all.remove(gone);
    }
    for part in chosen.into_iter().filter_map(Value::as_object) {
        for (name, value) in part {
            match (all.get_mut(name), value) {
                (Some(Value::Object(known)), Value::Object(more)) => known.extend(more.clone()),
                (Some(Value::Array(known)), Value::Array(more)) if name == "required" => known.extend(more.iter().cloned()),
                (Some(_) | None, _) => drop(all.insert(name.clone(), value.clone())),
            }
        }
    }
    Value::Object(all)
}
