//! Check of code before anything runs: it is compiled in strict mode as part of a module, and nothing of it is evaluated. `new Function` would
//! evaluate a body that closes the function and goes on.

use crate::body_call::exception_text;
use crate::limits::ScriptLimits;
use crate::realm::{RealmRuntime, RealmSize, ScriptRealm};
use rquickjs::{CatchResultExt, Module};
use std::collections::HashMap;

/// Texts around the function. A body that closes the function and opens another fits one of them at most.
const WRAPPERS: [(&str, &str); 2] = [("(", ")"), ("[", "]")];

/// Bodies compiled in one realm, which keeps them.
const REALM_BODIES: usize = 200;

/// Compiler of function bodies. Each body is compiled once.
#[derive(Default)]
pub struct SyntaxChecker {
    checked: HashMap<String, Result<(), String>>,
    realm: Option<ScriptRealm>,
}

impl std::fmt::Debug for SyntaxChecker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SyntaxChecker")
    }
}

impl SyntaxChecker {
    /// Compiles a function body.
    ///
    /// # Errors
    /// The mistake in the code.
    pub fn check(&mut self, body: &str) -> Result<(), String> {
        if let Some(known) = self.checked.get(body) {
            return known.clone();
        }
        let found = self.compile(body);
        self.checked.insert(body.to_owned(), found.clone());
        found
    }

    fn compile(&mut self, body: &str) -> Result<(), String> {
        if self.checked.len().is_multiple_of(REALM_BODIES) {
            self.realm = None;
        }
        if self.realm.is_none() {
            let made = RealmRuntime::new(ScriptLimits::default()).and_then(|mut runtime| runtime.realm(RealmSize::Full));
            self.realm = Some(made.map_err(|why| why.to_string())?);
        }
        let Some(realm) = &self.realm else { return Ok(()) };
        realm.context.with(|ctx| {
            for (before, after) in WRAPPERS {
                let module = format!("export default {before}function (output, context) {{\n{body}\n}}{after};");
                Module::declare(ctx.clone(), "body", module).catch(&ctx).map_err(|error| exception_text(&error))?;
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_compiled_and_not_called() {
        let mut checker = SyntaxChecker::default();
        for good in ["return output.length > 3", "while (true) {}", "return (async () => await 1)()", "throw 1"] {
            assert_eq!(checker.check(good), Ok(()), "{good}");
        }
        let escaping = "return 1 }); while (true) {} (function () {";
        for bad in
            ["return (", "return output.includes('x'", "const = 1", "return } {", "await 1", escaping, "}]; while (true) {} [function () {"]
        {
            assert!(checker.check(bad).is_err_and(|why| why.starts_with("SyntaxError")), "{bad}");
        }
    }
}
