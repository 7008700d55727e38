//! Helper for agents of bardo-eval in Rust: copy this file beside your agent. Standard library only, with the JSON that the protocol needs.
//!
//!     mod bardo_agent;
//!     use bardo_agent::{run, say};
//!     fn main() { run(|news, hello| say("Hello.")) }     // what is new -> your next move; log with eprintln!
#![allow(dead_code)]
use std::fmt;
use std::io::{BufRead, Write};

#[derive(Debug, Clone, PartialEq)]
pub enum Json { Null, Bool(bool), Number(f64), Text(String), List(Vec<Json>), Object(Vec<(String, Json)>) }

impl Json {
    /// Returns the value at a path of keys such as `answer.result.action_id`.
    pub fn get(&self, path: &str) -> Option<&Json> {
        path.split('.').try_fold(self, |value, key| match value {
            Json::Object(fields) => fields.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        })
    }
    /// Returns the text at a path.
    pub fn text(&self, path: &str) -> Option<&str> {
        match self.get(path)? { Json::Text(text) => Some(text), _ => None }
    }
    pub fn object(fields: &[(&str, Json)]) -> Json { Json::Object(fields.iter().map(|(name, value)| (name.to_string(), value.clone())).collect()) }
    pub fn parse(text: &str) -> Result<Json, String> {
        let mut reader = Reader { text: text.as_bytes(), at: 0 };
        let value = reader.value()?;
        reader.space();
        if reader.at == reader.text.len() { Ok(value) } else { Err(format!("text after the value at byte {}", reader.at)) }
    }
}
impl From<&str> for Json { fn from(text: &str) -> Json { Json::Text(text.to_string()) } }
impl From<f64> for Json { fn from(number: f64) -> Json { Json::Number(number) } }

struct Reader<'t> { text: &'t [u8], at: usize }
impl Reader<'_> {
    fn space(&mut self) { while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) { self.at += 1 } }
    fn eat(&mut self, word: &str) -> bool {
        self.space();
        let found = self.text[self.at..].starts_with(word.as_bytes());
        if found { self.at += word.len() }
        found
    }
    fn expect(&mut self, word: &str) -> Result<(), String> { if self.eat(word) { Ok(()) } else { Err(format!("{word} is missing at byte {}", self.at)) } }
    fn value(&mut self) -> Result<Json, String> {
        for (word, value) in [("null", Json::Null), ("true", Json::Bool(true)), ("false", Json::Bool(false))] { if self.eat(word) { return Ok(value) } }
        if self.eat("{") {
            let mut fields = vec![];
            while !self.eat("}") {
                if !fields.is_empty() { self.expect(",")? }
                self.expect("\"")?;
                let name = self.string()?;
                self.expect(":")?;
                fields.push((name, self.value()?));
            }
            return Ok(Json::Object(fields));
        }
        if self.eat("[") {
            let mut items = vec![];
            while !self.eat("]") {
                if !items.is_empty() { self.expect(",")? }
                items.push(self.value()?);
            }
            return Ok(Json::List(items));
        }
        if self.eat("\"") { return Ok(Json::Text(self.string()?)) }
        let from = self.at;
        while self.text.get(self.at).is_some_and(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte)) { self.at += 1 }
        String::from_utf8_lossy(&self.text[from..self.at]).parse().map(Json::Number).map_err(|_| format!("no value at byte {from}"))
    }
    fn string(&mut self) -> Result<String, String> {
        let mut units: Vec<u16> = vec![];
        let mut bytes = vec![];
        let mut out = String::new();
        loop {
            let byte = *self.text.get(self.at).ok_or("a text does not end")?;
            self.at += 1;
            if byte == b'\\' && self.text.get(self.at) == Some(&b'u') {
                let code = self.text.get(self.at + 1..self.at + 5).ok_or("a text does not end")?;
                units.push(u16::from_str_radix(&String::from_utf8_lossy(code), 16).map_err(|error| error.to_string())?);
                self.at += 5;
                continue;
            }
            out.push_str(&String::from_utf16_lossy(&std::mem::take(&mut units)));
            if byte == b'"' { return Ok(out) }
            bytes.push(byte);
            if byte == b'\\' {
                bytes.clear();
                let escaped = *self.text.get(self.at).ok_or("a text does not end")?;
                self.at += 1;
                out.push(match escaped { b'n' => '\n', b't' => '\t', b'r' => '\r', b'b' => '\u{8}', b'f' => '\u{c}', other => other.into() });
            } else if let Ok(text) = std::str::from_utf8(&bytes) { out.push_str(text); bytes.clear() }
        }
    }
}
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| text.chars().map(|c| match c { '"' => "\\\"".into(), '\\' => "\\\\".into(), c if c < ' ' => format!("\\u{:04x}", c as u32), c => c.into() }).collect::<String>();
        match self {
            Json::Null => write!(f, "null"), Json::Bool(value) => write!(f, "{value}"), Json::Number(value) => write!(f, "{value}"), Json::Text(text) => write!(f, "\"{}\"", quoted(text)),
            Json::List(items) => write!(f, "[{}]", items.iter().map(Json::to_string).collect::<Vec<_>>().join(",")),
            Json::Object(fields) => write!(f, "{{{}}}", fields.iter().map(|(name, value)| format!("\"{}\":{value}", quoted(name))).collect::<Vec<_>>().join(",")),
        }
    }
}

// The moves.
pub fn say(text: &str) -> Json { Json::object(&[("say", text.into())]) }
pub fn ask(text: &str) -> Json { Json::object(&[("ask", text.into())]) }
pub fn refuse(text: &str) -> Json { Json::object(&[("refuse", text.into())]) }
pub fn call(tool: &str, args: &[(&str, Json)]) -> Json { Json::object(&[("call", Json::object(&[("tool", tool.into()), ("args", Json::object(args))]))]) }
pub fn delegate(to: &str, params: &[(&str, Json)]) -> Json { Json::object(&[("delegate", Json::object(&[("to", to.into()), ("params", Json::object(params))]))]) }

/// Plays one trial: calls the handler with what is new and with `hello`, the description of the trial, and sends the move that it returns.
pub fn run(mut handler: impl FnMut(&[Json], &Json) -> Json) {
    let mut hello = Json::Null;
    for line in std::io::stdin().lock().lines() {
        let message = Json::parse(&line.expect("a line")).expect("JSON");
        if let Some(first) = message.get("hello") { hello = first.clone() }
        let Some(Json::List(news)) = message.get("news") else { panic!("error: the message has no news") };
        println!("{}", handler(news, &hello));
        std::io::stdout().flush().expect("bardo-eval reads the moves");
    }
}
