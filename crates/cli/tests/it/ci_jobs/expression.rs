//! Expressions of GitHub Actions, as far as the generated workflow uses them. An unknown name or function is a panic.

use serde_json::{Value, json};

/// Values that expressions read.
pub(super) trait ExpressionContext {
    /// Returns the value of a name such as `github.event_name`.
    fn lookup(&self, path: &[String]) -> Value;
    fn call(&self, function: &str, args: &[Value]) -> Value;
}

/// Replaces every `${{ … }}` of a text by its value.
pub(super) fn substitute(text: &str, context: &dyn ExpressionContext) -> String {
    let (mut result, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("${{") {
        let (expression, behind) = split_expression(after);
        result.push_str(before);
        result.push_str(&to_text(&evaluate(expression, context)));
        rest = behind;
    }
    result + rest
}

/// Splits a text behind `${{` at the end of the expression, which a quoted text may contain.
fn split_expression(text: &str) -> (&str, &str) {
    let mut is_quoted = false;
    for (at, letter) in text.char_indices() {
        match letter {
            '\'' => is_quoted = !is_quoted,
            '}' if !is_quoted && text[at..].starts_with("}}") => return (&text[..at], &text[at + 2..]),
            _ => {}
        }
    }
    panic!("an expression does not end: {text}")
}

/// Evaluates an expression, with or without `${{ }}` around it.
pub(super) fn evaluate(expression: &str, context: &dyn ExpressionContext) -> Value {
    let bare = expression.trim();
    let bare = bare.strip_prefix("${{").and_then(|rest| rest.strip_suffix("}}")).unwrap_or(bare);
    let mut parser = ExpressionParser { tokens: tokenize(bare), at: 0, context };
    let value = parser.either();
    assert_eq!(parser.at, parser.tokens.len(), "{expression} has a rest");
    value
}

pub(super) fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

pub(super) fn to_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(_) | Value::Object(_) => panic!("{value} is not a text"),
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Number(f64),
    Sign(&'static str),
}

fn tokenize(text: &str) -> Vec<Token> {
    let (mut tokens, mut rest) = (vec![], text.trim_start());
    while let Some(first) = rest.chars().next() {
        let sign = ["||", "&&", "==", "!=", "!", "(", ")", ",", "."].into_iter().find(|sign| rest.starts_with(sign));
        let length = if let Some(sign) = sign {
            tokens.push(Token::Sign(sign));
            sign.len()
        } else if first == '\'' {
            let (text, length) = quoted(rest);
            tokens.push(Token::Text(text));
            length
        } else {
            let length = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && !"_-".contains(letter)).unwrap_or(rest.len());
            assert!(length > 0, "{rest} is not an expression");
            let word = &rest[..length];
            tokens.push(word.parse().map_or_else(|_| Token::Word(word.to_owned()), Token::Number));
            length
        };
        rest = rest[length..].trim_start();
    }
    tokens
}

/// Returns a quoted text and its length with quotation marks; a doubled mark stands for one.
fn quoted(text: &str) -> (String, usize) {
    let mut value = String::new();
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        if letter != '\'' {
            value.push(letter);
        } else if letters.next_if(|(_, next)| *next == '\'').is_some() {
            value.push('\'');
        } else {
            return (value, at + 1);
        }
    }
    panic!("a quotation mark is not closed: {text}")
}

struct ExpressionParser<'c> {
    tokens: Vec<Token>,
    at: usize,
    context: &'c dyn ExpressionContext,
}

impl ExpressionParser<'_> {
    fn take(&mut self, sign: &'static str) -> bool {
        let found = self.tokens.get(self.at) == Some(&Token::Sign(sign));
        self.at += usize::from(found);
        found
    }

    fn either(&mut self) -> Value {
        let mut value = self.both();
        while self.take("||") {
            let right = self.both();
            value = if is_true(&value) { value } else { right };
        }
        value
    }

    fn both(&mut self) -> Value {
        let mut value = self.equal();
        while self.take("&&") {
            let right = self.equal();
            value = if is_true(&value) { right } else { value };
        }
        value
    }

    fn equal(&mut self) -> Value {
        let left = self.unary();
        if self.take("==") {
            let right = self.unary();
            return json!(same(&left, &right));
        }
        if self.take("!=") {
            let right = self.unary();
            return json!(!same(&left, &right));
        }
        left
    }

    fn unary(&mut self) -> Value {
        if self.take("!") {
            return json!(!is_true(&self.unary()));
        }
        if self.take("(") {
            let value = self.either();
            assert!(self.take(")"), "a bracket is not closed");
            return value;
        }
        let token = self.tokens.get(self.at).cloned().expect("an operand");
        self.at += 1;
        match token {
            Token::Text(text) => json!(text),
            Token::Number(number) => json!(number),
            Token::Sign(sign) => panic!("{sign} is not an operand"),
            Token::Word(word) => self.name(word),
        }
    }

    fn name(&mut self, word: String) -> Value {
        if self.take("(") {
            let mut args = vec![];
            while !self.take(")") {
                args.push(self.either());
                self.take(",");
            }
            return self.context.call(&word, &args);
        }
        let mut path = vec![word];
        while self.take(".") {
            let Some(Token::Word(part)) = self.tokens.get(self.at).cloned() else { panic!("a name ends with a dot") };
            self.at += 1;
            path.push(part);
        }
        self.context.lookup(&path)
    }
}

/// Compares as GitHub does: texts without case, other types as numbers.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::String(left), Value::String(right)) => left.eq_ignore_ascii_case(right),
        _ => number_of(left) == number_of(right),
    }
}

fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::Null => Some(0.0),
        Value::Bool(value) => Some(f64::from(u8::from(*value))),
        Value::Number(number) => number.as_f64(),
        Value::String(text) if text.is_empty() => Some(0.0),
        Value::String(text) => text.parse().ok(),
        Value::Array(_) | Value::Object(_) => None,
    }
}

#[test]
fn expressions_of_workflows_evaluate() {
    struct Fixed;
    impl ExpressionContext for Fixed {
        fn lookup(&self, path: &[String]) -> Value {
            if path == ["github", "event_name"] { json!("push") } else { Value::Null }
        }
        fn call(&self, _: &str, args: &[Value]) -> Value {
            args[0].clone()
        }
    }
    for (expression, value) in [
        ("github.event_name == 'push' && !(inputs.x == 'a')", json!(true)),
        ("inputs.x || 'it''s'", json!("it's")),
        ("inputs.x != '' || first('b', 2) == 'B'", json!(true)),
    ] {
        assert_eq!(evaluate(expression, &Fixed), value, "{expression}");
    }
    assert_eq!(substitute("a ${{ '${{' }} b ${{ github.event_name }}", &Fixed), "a ${{ b push");
}
