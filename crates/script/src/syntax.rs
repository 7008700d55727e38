//! Check of code before anything runs: it is compiled, and never called.

use crate::body_call::{exception_text, function};
use crate::limits::ScriptLimits;
use crate::realm::{RealmRuntime, RealmSize, ScriptRealm};
use rquickjs::CatchResultExt;
use std::collections::HashMap;

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
        if self.realm.is_none() {
            let made = RealmRuntime::new(ScriptLimits::default()).and_then(|mut runtime| runtime.realm(RealmSize::Full));
            self.realm = Some(made.map_err(|why| why.to_string())?);
        }
        let Some(realm) = &self.realm else { return Ok(()) };
        realm.context.with(|ctx| function(&ctx, body).catch(&ctx).map(drop).map_err(|error| exception_text(&error)))
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
        for bad in ["return (", "return output.includes('x'", "const = 1", "return } {", "await 1"] {
            assert!(checker.check(bad).is_err_and(|why| why.starts_with("SyntaxError")), "{bad}");
        }
    }
}
