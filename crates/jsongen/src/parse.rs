//! Parses JSON Schema into a [`ValueShape`].

use serde_json::{Map, Value};

use crate::accept::accepts;
use crate::bounds;
use crate::draw::{has_values, pointer_step};
use crate::flatten::SchemaFlattener;
use crate::merge::is_annotation;
use crate::pattern::PatternCache;
use crate::shape::{FieldShape, IntegerShape, JsonType, ListShape, ObjectShape, TextShape, ValueShape, as_integer};
use crate::text::MAX_TRIED_LENGTH;
use crate::unsupported::{UnsupportedSchema, refuse};

/// Maximum schema objects read. A referenced object counts each time it is used.
const MAX_OBJECTS: usize = 10_000;
const MAX_DEPTH: usize = 48;
const MAX_MIN_ITEMS: usize = 1_024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaStrictness {
    /// The shape accepts exactly the values of the schema; unsupported keywords are errors.
    Exact,
    /// Unknown keywords are ignored, recursion is cut off, and `examples` are read like `enum`.
    BestEffort,
}

pub(crate) struct SchemaParser<'r> {
    root: &'r Value,
    exact: bool,
    patterns: PatternCache,
    flattener: SchemaFlattener<'r>,
    depth: usize,
    left: usize,
}

type SchemaKeywords = Map<String, Value>;
type ParseResult<T> = Result<T, UnsupportedSchema>;

#[rustfmt::skip]
fn is_understood(keyword: &str) -> bool {
    is_annotation(keyword) || matches!(
        keyword,
        "type" | "enum" | "const" | "format" | "$ref" | "allOf" | "anyOf" | "oneOf"
            | "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf"
            | "pattern" | "minLength" | "maxLength" | "items" | "prefixItems" | "minItems" | "maxItems" | "uniqueItems"
            | "properties" | "required" | "additionalProperties"
    )
}

impl<'r> SchemaParser<'r> {
    pub(crate) fn new(root: &'r Value, strictness: SchemaStrictness) -> Self {
        let exact = strictness == SchemaStrictness::Exact;
        Self { root, exact, patterns: PatternCache::default(), flattener: SchemaFlattener::new(root, exact), depth: 0, left: MAX_OBJECTS }
    }

    pub(crate) fn parse(mut self) -> ParseResult<ValueShape> {
        if let Err(error) = jsonschema::draft202012::meta::validate(self.root) {
            let place = error.instance_path().as_str();
            let (path, keyword) = place.rsplit_once('/').unwrap_or(("", "schema"));
            return Err(UnsupportedSchema::new(keyword, path, error.to_string()));
        }
        self.shape(self.root, "")
    }

    fn shape(&mut self, schema: &Value, path: &str) -> ParseResult<ValueShape> {
        let map = match schema.as_object() {
            Some(map) => map,
            None if *schema != Value::Bool(false) => return Ok(ValueShape::Any),
            None if self.exact => return refuse("schema", path, "`false` allows no value"),
            None => return Ok(ValueShape::Never),
        };
        self.left = self.left.saturating_sub(1);
        if self.left == 0 || self.depth == MAX_DEPTH {
            return refuse("schema", path, "it is too large or nested too deeply");
        }
        let followed = self.flattener.open.len();
        self.depth += 1;
        let shape =
            self.flattener.flatten(map, path).and_then(|flat| flat.map_or(Ok(ValueShape::Never), |flat| self.flat_shape(&flat, path)));
        self.depth -= 1;
        self.flattener.open.truncate(followed);
        shape
    }

    fn flat_shape(&mut self, map: &SchemaKeywords, path: &str) -> ParseResult<ValueShape> {
        if let Some(unknown) = map.keys().find(|word| self.exact && !is_understood(word)) {
            return refuse(unknown, path, "this keyword is not supported");
        }
        let shape = match (map.contains_key("anyOf"), map.contains_key("oneOf")) {
            (true, true) if self.exact => return refuse("oneOf", path, "oneOf beside anyOf is not supported"),
            (_, true) => ValueShape::OneOf(self.branches("oneOf", map, path)?),
            (true, false) => ValueShape::AnyOf(self.branches("anyOf", map, path)?),
            (false, false) => self.choice_shape(map, path)?,
        };
        // Values for these keywords are found by search. If the search fails, the schema's author has to change it.
        let searched = ["oneOf", "pattern", "uniqueItems"].into_iter().find(|word| map.contains_key(*word));
        match searched {
            Some(word) if self.exact && !has_values(&shape) => refuse(word, path, "found no value that satisfies it"),
            _ => Ok(shape),
        }
    }

    fn branches(&mut self, word: &str, map: &SchemaKeywords, path: &str) -> ParseResult<Vec<ValueShape>> {
        let beside: SchemaKeywords =
            map.iter().filter(|(key, _)| *key != word && !is_annotation(key)).map(|(k, v)| (k.clone(), v.clone())).collect();
        let branches = map.get(word).and_then(Value::as_array).into_iter().flatten().enumerate();
        let shape = |(i, branch): (usize, &Value)| {
            let path = format!("{path}/{word}/{i}");
            if *branch == Value::Bool(false) {
                return self.shape(branch, &path);
            }
            let merged =
                branch.as_object().map_or_else(|| Ok(beside.clone()), |branch| self.flattener.merge_branch(&beside, branch, &path))?;
            self.shape(&Value::Object(merged), &path)
        };
        branches.map(shape).collect()
    }

    fn choice_shape(&mut self, map: &SchemaKeywords, path: &str) -> ParseResult<ValueShape> {
        let shape = self.shape_of_types(map, path)?;
        let examples = map.get("examples").and_then(Value::as_array).filter(|examples| !self.exact && !examples.is_empty());
        let choices = match (map.get("const"), map.get("enum").and_then(Value::as_array).or(examples)) {
            (None, None) => return Ok(shape),
            (Some(only), None) => vec![only.clone()],
            (Some(only), Some(choices)) => choices.iter().filter(|choice| *choice == only).cloned().collect(),
            (None, Some(choices)) => choices.clone(),
        };
        let fitting: Vec<Value> = choices.into_iter().filter(|choice| accepts(&shape, choice)).collect();
        if fitting.is_empty() {
            refuse("enum", path, "none of its values fits the other keywords")
        } else {
            Ok(ValueShape::Choice(fitting))
        }
    }

    fn shape_of_types(&mut self, map: &SchemaKeywords, path: &str) -> ParseResult<ValueShape> {
        let names: Vec<&str> = match map.get("type") {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            one => one.and_then(Value::as_str).into_iter().collect(),
        };
        let mut types: Vec<JsonType> = JsonType::ALL.into_iter().filter(|one| names.contains(&one.name())).collect();
        if types.is_empty() {
            types = match () {
                () if map.keys().all(|word| matches!(word.as_str(), "enum" | "const") || is_annotation(word)) => {
                    return Ok(ValueShape::Any);
                }
                // Without `type`, a keyword constrains only values of the type it applies to.
                () if self.exact => JsonType::ALL.into(),
                () if map.contains_key("properties") || map.contains_key("required") => vec![JsonType::Object],
                () if map.contains_key("items") || map.contains_key("prefixItems") => vec![JsonType::Array],
                () => return Ok(ValueShape::Any),
            };
        }
        if types.contains(&JsonType::Number) {
            types.retain(|one| *one != JsonType::Integer);
        }
        if let [one] = types.as_slice() {
            return self.shape_of_type(*one, map, path);
        }
        types.into_iter().map(|one| self.shape_of_type(one, map, path)).collect::<ParseResult<_>>().map(ValueShape::AnyOf)
    }

    fn shape_of_type(&mut self, one: JsonType, map: &SchemaKeywords, path: &str) -> ParseResult<ValueShape> {
        match one {
            JsonType::Null => Ok(ValueShape::Null),
            JsonType::Boolean => Ok(ValueShape::Boolean),
            JsonType::Integer => self.integer(map, path),
            JsonType::Number => self.number(map, path),
            JsonType::String => self.text(map, path),
            JsonType::Array => self.list(map, path),
            JsonType::Object => self.object(map, path),
        }
    }

    fn integer(&self, map: &SchemaKeywords, path: &str) -> ParseResult<ValueShape> {
        let bounds = bounds::integer_bounds(map);
        let multiple_of = map.get("multipleOf").map(|n| n.as_number().and_then(as_integer));
        match (bounds::integer_format_range(map), multiple_of) {
            _ if bounds.is_empty() => refuse("minimum", path, "no integer lies between the bounds"),
            (None, _) if self.exact => refuse("format", path, "unknown integer format"),
            (_, Some(None)) if self.exact => refuse("multipleOf", path, "only whole numbers are supported"),
            (usual, multiple_of) => {
                let multiple_of = multiple_of.flatten().unwrap_or(1);
                Ok(ValueShape::Integer(IntegerShape { bounds, usual: usual.unwrap_or((0, 1000)), multiple_of }))
            }
        }
    }

    fn number(&self, map: &SchemaKeywords, path: &str) -> ParseResult<ValueShape> {
        // The multiples of a whole number are integers.
        if map.contains_key("multipleOf") {
            return self.integer(map, path);
        }
        if self.exact && !matches!(map.get("format").and_then(Value::as_str), None | Some("float" | "double")) {
            return refuse("format", path, "unknown number format");
        }
        match bounds::float_bounds(map) {
            Err(keyword) => refuse(keyword, path, "this bound is not exact as a double"),
            Ok(bounds) if bounds.is_empty() => refuse("minimum", path, "no number lies between the bounds"),
            Ok(bounds) => Ok(ValueShape::Number(bounds)),
        }
    }

    fn text(&mut self, map: &SchemaKeywords, path: &str) -> ParseResult<ValueShape> {
        let format = map.get("format").and_then(Value::as_str).map(str::to_owned);
        if self.exact && format.is_some() {
            return refuse("format", path, "string formats are not validated; use a pattern");
        }
        let pattern = map.get("pattern").and_then(Value::as_str).map(|source| self.patterns.compile(source)).transpose();
        let pattern = pattern.map_err(|because| UnsupportedSchema::new("pattern", path, because.to_string()))?;
        let text =
            TextShape { min: bounds::read_size(map, "minLength").unwrap_or(0), max: bounds::read_size(map, "maxLength"), pattern, format };
        match text.max {
            Some(max) if max < text.min => refuse("minLength", path, "it is greater than maxLength"),
            _ if text.min > MAX_TRIED_LENGTH => refuse("minLength", path, "strings of this length are not generated"),
            _ => Ok(ValueShape::Text(text)),
        }
    }

    fn list(&mut self, map: &SchemaKeywords, path: &str) -> ParseResult<ValueShape> {
        let item = map.get("items").map_or(Ok(ValueShape::Any), |items| self.shape(items, &format!("{path}/items")))?;
        let prefix = map.get("prefixItems").and_then(Value::as_array).into_iter().flatten().enumerate();
        let prefix = prefix.map(|(i, schema)| self.shape(schema, &format!("{path}/prefixItems/{i}"))).collect::<ParseResult<_>>()?;
        let (min, max) = (bounds::read_size(map, "minItems").unwrap_or(0), bounds::read_size(map, "maxItems"));
        let unique = map.get("uniqueItems") == Some(&Value::Bool(true));
        match max {
            Some(max) if max < min => refuse("minItems", path, "it is greater than maxItems"),
            _ if min > MAX_MIN_ITEMS => refuse("minItems", path, "lists of this length are not generated"),
            _ => Ok(ValueShape::List(ListShape { prefix, item: Box::new(item), min, max, unique })),
        }
    }

    fn object(&mut self, map: &SchemaKeywords, path: &str) -> ParseResult<ValueShape> {
        let extra = match map.get("additionalProperties") {
            Some(Value::Bool(false)) => ValueShape::Never,
            other => other.map_or(Ok(ValueShape::Any), |schema| self.shape(schema, &format!("{path}/additionalProperties")))?,
        };
        let names = map.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let required: Vec<&str> = names.collect();
        let mut object = ObjectShape { fields: vec![], extra: Box::new(extra) };
        for (name, schema) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let required = required.contains(&name.as_str());
            match self.shape(schema, &format!("{path}/properties{}", pointer_step(name))) {
                Ok(shape) => object.fields.push(FieldShape { name: name.clone(), required, shape }),
                // Omit an optional property that cannot be generated.
                Err(_) if !required && !self.exact => {}
                Err(unsupported) => return Err(unsupported),
            }
        }
        for name in required {
            if object.field(name).is_none() {
                if matches!(*object.extra, ValueShape::Never) {
                    return refuse("required", path, &format!("{name} is required but not among the properties"));
                }
                object.fields.push(FieldShape { name: name.into(), required: true, shape: (*object.extra).clone() });
            }
        }
        Ok(ValueShape::Object(object))
    }
}
