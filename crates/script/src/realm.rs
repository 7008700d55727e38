//! Realms of scripts: each script gets globals of its own, so that nothing is shared between tests. Realms of one runtime share its
//! memory, which makes them cheap; a realm without the builtins that a script cannot name is cheaper still.

use crate::limits::ScriptLimits;
use rquickjs::context::intrinsic;
use rquickjs::{Context, Runtime};
use std::collections::HashSet;

/// Builtins of small realms. The others are named by a global, by syntax for which [`RealmSize::of`] looks, or by reflection.
type SmallIntrinsics = (intrinsic::Date, intrinsic::Eval, intrinsic::RegExpCompiler, intrinsic::RegExp, intrinsic::Json);

/// Realms after which a runtime is replaced, so that what realms leave behind does not add up.
const MAX_REALMS: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RealmSize {
    Small,
    Full,
}

/// Words with which code reaches globals or builtins that its text does not name.
#[rustfmt::skip]
const REFLECTIVE: &[&str] = &[
    "globalThis", "this", "eval", "Function", "constructor", "__proto__", "prototype", "Reflect", "import", "async", "await", "then", "yield", "with",
    "queueMicrotask", "fromAsync", "getPrototypeOf", "arguments", "caller", "callee", "Iterator",
];

impl RealmSize {
    /// Returns the size that a script needs. `absent` are the globals that small realms lack.
    pub(crate) fn of(source: &str, absent: &HashSet<String>) -> Self {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let words_fit = || {
            source.split(|c| !is_word(c)).all(|word| {
                let is_big_number = word.starts_with(|c: char| c.is_ascii_digit()) && word.ends_with('n');
                !is_big_number && !REFLECTIVE.contains(&word) && !absent.contains(word)
            })
        };
        // An escape can spell a word, and a computed key can be any word.
        let fits = source.is_ascii() && !source.contains('\\') && !source.contains("function") && keys_are_literal(source) && words_fit();
        if fits { RealmSize::Small } else { RealmSize::Full }
    }
}

/// Returns whether every `[` begins a list, or a key that is a number or a quoted word.
fn keys_are_literal(source: &str) -> bool {
    source.match_indices('[').all(|(at, _)| {
        let before = source[..at].trim_end().chars().next_back();
        let is_key = before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | ')' | ']' | '}' | '\'' | '"' | '`' | '.'));
        let Some((key, _)) = source[at + 1..].split_once(']') else { return false };
        let key = key.trim();
        let quoted = ['\'', '"'].iter().find_map(|quote| key.strip_prefix(*quote)?.strip_suffix(*quote));
        let is_literal = !key.is_empty()
            && match quoted {
                Some(word) => word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'),
                None => key.chars().all(|c| c.is_ascii_digit()),
            };
        !is_key || is_literal
    })
}

/// Runtime whose realms are used by one script each.
pub(crate) struct RealmRuntime {
    runtime: Runtime,
    made: usize,
}

/// Realm for one script.
pub(crate) struct ScriptRealm {
    pub runtime: Runtime,
    pub context: Context,
    /// An earlier script ran in its runtime.
    pub is_reused: bool,
}

impl RealmRuntime {
    pub(crate) fn new(limits: ScriptLimits) -> rquickjs::Result<Self> {
        let runtime = Runtime::new()?;
        runtime.set_memory_limit(limits.memory_bytes);
        runtime.set_max_stack_size(limits.stack_bytes);
        Ok(Self { runtime, made: 0 })
    }

    /// Makes a realm.
    pub(crate) fn realm(&mut self, size: RealmSize) -> rquickjs::Result<ScriptRealm> {
        let context = match size {
            RealmSize::Small => Context::custom::<SmallIntrinsics>(&self.runtime)?,
            RealmSize::Full => Context::full(&self.runtime)?,
        };
        let is_reused = self.made > 0;
        self.made += 1;
        Ok(ScriptRealm { runtime: self.runtime.clone(), context, is_reused })
    }

    /// Frees what a realm left behind. Returns false if a next script could notice it: jobs that wait, or too many realms.
    pub(crate) fn clean(&self) -> bool {
        self.runtime.run_gc();
        !self.runtime.is_job_pending() && self.made < MAX_REALMS
    }
}

/// Returns the globals that small realms lack.
pub(crate) fn absent_globals(limits: ScriptLimits) -> rquickjs::Result<HashSet<String>> {
    let mut runtime = RealmRuntime::new(limits)?;
    let mut names = |size| -> rquickjs::Result<HashSet<String>> {
        let realm = runtime.realm(size)?;
        realm
            .context
            .with(|ctx| ctx.eval::<Vec<String>, _>("Object.getOwnPropertyNames(globalThis)"))
            .map(|names| names.into_iter().collect())
    };
    let (full, small) = (names(RealmSize::Full)?, names(RealmSize::Small)?);
    Ok(full.difference(&small).cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_realms_are_for_scripts_that_cannot_name_more() {
        let absent = absent_globals(ScriptLimits::default()).expect("the engine starts");
        assert!(absent.contains("Map") && absent.contains("Promise") && absent.contains("Proxy"), "{absent:?}");
        for source in [
            "return JSON.parse(output).n == context.vars.n",
            "return output.split(',').map(x => x.trim()).includes('a') && [1, 2].length > 0",
            "const s = output; return s[0] === 'a' || context.vars['name'] === 'b' || /x+/.test(s) || new Date(0).getTime() === 0",
        ] {
            assert_eq!(RealmSize::of(source, &absent), RealmSize::Small, "{source}");
        }
        for source in [
            "return new Map().size === 0",
            "return output['const' + 'ructor']",
            "return output[context.vars.key]",
            "return [].constructor",
            "return M\\u0061p",
            "return 1n > 0",
            "return Promise.resolve(true)",
            "return (async () => true)()",
            "return ({ then(f) { f(true) } })",
            "return globalThis.Map",
            "return this",
            "return output\n[x]",
            "return output?.[x]",
            "function* f() { yield 1 } return f",
        ] {
            assert_eq!(RealmSize::of(source, &absent), RealmSize::Full, "{source}");
        }
    }
}
