//! Tests in CSV, with promptfoo's columns: variables, and `__expected`, `__description`, `__metric`, `__threshold`, `__metadata:key` and others.

use serde_json::{Map, Value, json};

/// Reads the tests of a CSV text as JSON, each with its line.
///
/// # Errors
/// The line and what is wrong.
pub(crate) fn csv_tests(text: &str) -> Result<Vec<(u32, Value)>, (u32, String)> {
    let mut rows = csv_rows(text)?.into_iter();
    let Some((_, header)) = rows.next() else { return Ok(vec![]) };
    let header: Vec<String> = header.into_iter().map(|name| name.trim().to_owned()).collect();
    rows.filter(|(_, cells)| cells.iter().any(|cell| !cell.is_empty()))
        .map(|(line, cells)| {
            // A cell without a column would have no effect.
            if cells.len() > header.len() {
                return Err((line, format!("the row has {} cells and the header {}", cells.len(), header.len())));
            }
            Ok((line, test(&header, &cells, line)?))
        })
        .collect()
}

fn test(header: &[String], cells: &[String], line: u32) -> Result<Value, (u32, String)> {
    let mut test = Map::new();
    let (mut vars, mut asserts, mut options, mut metadata) = (Map::new(), vec![], Map::new(), Map::new());
    let mut configured: Vec<(String, String, f64)> = vec![];
    for (name, cell) in header.iter().zip(cells) {
        let text = || Value::String(cell.clone());
        match name.as_str() {
            _ if cell.is_empty() && name.starts_with("__") => {}
            "__description" => drop(test.insert("description".into(), text())),
            "__threshold" => drop(test.insert("threshold".into(), cell.trim().parse::<f64>().map_or_else(|_| text(), Value::from))),
            "__metric" => drop(test.insert("__metric".into(), text())),
            "__providerOutput" => drop(test.insert("providerOutput".into(), text())),
            "__prefix" | "__suffix" => drop(options.insert(name.trim_start_matches('_').to_owned(), text())),
            _ if name == "__expected" || is_numbered(name) => asserts.push((name.clone(), expected(cell))),
            _ if name.starts_with("__metadata:") => {
                let key = &name["__metadata:".len()..];
                match key.strip_suffix("[]") {
                    Some(key) => drop(metadata.insert(key.to_owned(), cell.split(',').map(|part| Value::from(part.trim())).collect())),
                    None => drop(metadata.insert(key.to_owned(), text())),
                }
            }
            _ if name.starts_with("__config:") => {
                let field = name["__config:".len()..].rsplit_once(':');
                let (Some((target, "threshold")), Ok(threshold)) = (field, cell.trim().parse()) else {
                    return Err((line, format!("the column {name:?} is not __config:__expected:threshold with a number")));
                };
                configured.push((target.to_owned(), "threshold".to_owned(), threshold));
            }
            _ if name.starts_with("__") => return Err((line, format!("the column {name:?} is not known"))),
            _ => drop(vars.insert(name.clone(), text())),
        }
    }
    for (target, key, threshold) in configured {
        for (_, assertion) in
            asserts.iter_mut().filter(|(column, _)| *column == target || (target == "__expected1" && column == "__expected"))
        {
            assertion[&key] = threshold.into();
        }
    }
    let metric = test.remove("__metric");
    let asserts: Vec<Value> = asserts
        .into_iter()
        .map(|(_, mut assertion)| {
            if let Some(metric) = &metric {
                assertion["metric"] = metric.clone();
            }
            assertion
        })
        .collect();
    test.insert("vars".into(), Value::Object(vars));
    for (key, value) in [("options", options), ("metadata", metadata)] {
        if !value.is_empty() {
            test.insert(key.into(), Value::Object(value));
        }
    }
    if !asserts.is_empty() {
        test.insert("assert".into(), Value::Array(asserts));
    }
    Ok(Value::Object(test))
}

fn is_numbered(name: &str) -> bool {
    name.strip_prefix("__expected").is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
}

/// Reads the shorthand of a cell: `contains: x`, `similar(0.8): x`, `javascript: …`, or the text that is expected.
fn expected(cell: &str) -> Value {
    for prefix in ["javascript:", "fn:", "eval:"] {
        if let Some(source) = cell.strip_prefix(prefix) {
            return json!({ "type": "javascript", "value": source.trim_start() });
        }
    }
    if let Some(rubric) = cell.strip_prefix("grade:").or_else(|| cell.strip_prefix("llm-rubric:")) {
        return json!({ "type": "llm-rubric", "value": rubric.trim() });
    }
    if let Some(code) = cell.strip_prefix("python:") {
        return json!({ "type": "python", "value": code.trim() });
    }
    let head_end = cell.find(['(', ':']).filter(|at| *at > 0).unwrap_or(0);
    let name = &cell[..head_end];
    let is_type = model::suite::AssertionType::parse(name.strip_prefix("not-").unwrap_or(name)).is_some();
    let whole = model::suite::AssertionType::parse(cell.strip_prefix("not-").unwrap_or(cell)).is_some();
    if whole {
        return json!({ "type": cell });
    }
    if !is_type {
        return json!({ "type": "equals", "value": cell });
    }
    let rest = &cell[head_end..];
    let (threshold, rest) = match rest.strip_prefix('(').and_then(|inner| inner.split_once(')')) {
        Some((number, after)) => (number.trim().parse::<f64>().ok(), after),
        None => (None, rest),
    };
    let value = rest.strip_prefix(':').unwrap_or(rest).trim();
    let mut assertion = json!({ "type": name });
    if !value.is_empty() {
        assertion["value"] = value.into();
    }
    if let Some(threshold) = threshold {
        assertion["threshold"] = threshold.into();
    }
    assertion
}

/// Line where a row begins, and its cells.
type CsvRow = (u32, Vec<String>);

/// Splits CSV into rows of cells, each with the line where it begins.
fn csv_rows(text: &str) -> Result<Vec<CsvRow>, (u32, String)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (mut rows, mut cells, mut cell) = (vec![], vec![], String::new());
    let (mut quoted, mut line, mut start) = (false, 1_u32, 1_u32);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\n' {
            line += 1;
        }
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' if quoted => quoted = false,
            '"' if cell.is_empty() => quoted = true,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            '\r' if !quoted && chars.peek() == Some(&'\n') => {}
            '\n' if !quoted => {
                cells.push(std::mem::take(&mut cell));
                rows.push((start, std::mem::take(&mut cells)));
                start = line;
            }
            _ => cell.push(c),
        }
    }
    if quoted {
        return Err((start, "a quote is not closed".to_owned()));
    }
    if !cell.is_empty() || !cells.is_empty() {
        cells.push(cell);
        rows.push((start, cells));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_become_vars_and_assertions() {
        let text = "q,__expected,__expected2,__metadata:k,__config:__expected2:threshold\n\"a, \"\"b\"\"\",contains: x,levenshtein: y,m,3\nz,plain,,,\n";
        let tests = csv_tests(text).expect("tests");
        assert_eq!(
            tests[0],
            (
                2,
                json!({"vars": {"q": "a, \"b\""}, "metadata": {"k": "m"},
            "assert": [{"type": "contains", "value": "x"}, {"type": "levenshtein", "value": "y", "threshold": 3.0}]})
            )
        );
        assert_eq!(tests[1].1["assert"], json!([{"type": "equals", "value": "plain"}]));
        assert_eq!(expected("is-json"), json!({"type": "is-json"}));
        assert_eq!(expected("not-levenshtein(2): ab"), json!({"type": "not-levenshtein", "value": "ab", "threshold": 2.0}));
        assert_eq!(expected("fn: output.length > 1"), json!({"type": "javascript", "value": "output.length > 1"}));
    }

    #[test]
    fn mistakes_have_lines() {
        assert_eq!(csv_tests("a\n\"x\n"), Err((2, "a quote is not closed".to_owned())));
        assert!(csv_tests("a,__nope\n1,2\n").is_err());
        for column in ["__config:threshold", "__config:", "__config:__expected:other"] {
            let why = format!("the column {column:?} is not __config:__expected:threshold with a number");
            assert_eq!(csv_tests(&format!("a,{column}\n1,0.5\n")), Err((2, why)));
        }
    }
}
