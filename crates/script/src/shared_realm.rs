//! Realm that scripts share which cannot change anything in it: its builtins are frozen, and their text has no way to write to them.
//! A script is then compiled once and called for every test.

use crate::body_call::{BodyCall, call_function};
use crate::limits::ScriptLimits;
use crate::realm::{RealmRuntime, RealmSize};
use crate::request::ScriptReply;
use rquickjs::{CatchResultExt, Context, Ctx, Function, Persistent, Runtime};
use std::collections::HashMap;

/// Sources after which the realm is replaced, so that compiled code does not add up.
const MAX_SOURCES: usize = 256;

/// Freezes every object that the globals lead to, and the prototypes that only syntax leads to.
const FREEZE: &str = "(function () {
  function freeze(object) {
    if (object === null || (typeof object !== 'object' && typeof object !== 'function') || Object.isFrozen(object)) return;
    Object.freeze(object);
    freeze(Object.getPrototypeOf(object));
    for (const key of [...Object.getOwnPropertyNames(object), ...Object.getOwnPropertySymbols(object)]) {
      const own = Object.getOwnPropertyDescriptor(object, key);
      freeze(own.value);
      freeze(own.get);
      freeze(own.set);
    }
  }
  function* generator() {}
  [globalThis, [][Symbol.iterator](), ''[Symbol.iterator](), ''.matchAll(/x/g), generator, generator(), async () => 1].forEach(freeze);
})()";

/// Words with which code changes an object without an assignment, or assigns without `=`.
#[rustfmt::skip]
const CHANGING: &[&str] = &[
    "assign", "class", "defineProperties", "defineProperty", "delete", "for", "freeze", "preventExtensions", "seal", "setPrototypeOf",
    "__defineGetter__", "__defineSetter__",
];

/// Returns whether a script of a small realm cannot change an object that it did not make: it has no assignment but declarations of names.
pub(crate) fn changes_nothing(source: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let words_fit = source.split(|c| !is_word(c)).all(|word| !CHANGING.contains(&word));
    words_fit && !source.contains("++") && !source.contains("--") && assigns_only_declared_names(source)
}

/// Returns whether every `=` is a comparison, an arrow, or belongs to the declaration of one name.
fn assigns_only_declared_names(source: &str) -> bool {
    let bytes = source.as_bytes();
    let at = |index: usize| bytes.get(index).copied().unwrap_or_default();
    let mut index = 0;
    while index < bytes.len() {
        if bytes[index] != b'=' {
            index += 1;
            continue;
        }
        let before = index.checked_sub(1).map_or(0, at);
        match (before, at(index + 1)) {
            // A shift that assigns ends like a comparison.
            (b'<' | b'>', _) if index >= 2 && at(index - 2) == before => return false,
            (b'<' | b'>' | b'!', next) => index += if next == b'=' { 2 } else { 1 },
            (_, b'=') => index += if at(index + 2) == b'=' { 3 } else { 2 },
            (_, b'>') => index += 2,
            (_, _) if declares_a_name(&source[..index]) => index += 1,
            (_, _) => return false,
        }
    }
    true
}

/// Returns whether a text ends with `const NAME`, `let NAME` or `var NAME`.
fn declares_a_name(before: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let named = before.trim_end();
    let rest = named.trim_end_matches(is_word);
    let keyword = rest.trim_end();
    let declares = |word: &str| keyword.strip_suffix(word).is_some_and(|head| !head.ends_with(|c| is_word(c) || c == '.'));
    rest.len() < named.len() && keyword.len() < rest.len() && ["const", "let", "var"].into_iter().any(declares)
}

/// Realm with the functions that were compiled in it.
pub(crate) struct SharedRealm {
    // Dropped before the runtime that they live in.
    functions: HashMap<String, Persistent<Function<'static>>>,
    context: Context,
    runtime: Runtime,
}

impl SharedRealm {
    pub(crate) fn new(limits: ScriptLimits) -> rquickjs::Result<Self> {
        let realm = RealmRuntime::new(limits)?.realm(RealmSize::Full)?;
        realm.context.with(|ctx| ctx.eval::<(), _>(FREEZE))?;
        Ok(Self { functions: HashMap::new(), context: realm.context, runtime: realm.runtime })
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    pub(crate) fn is_full(&self) -> bool {
        self.functions.len() >= MAX_SOURCES
    }

    /// Calls a script, compiled at its first call.
    ///
    /// # Errors
    /// The exception as a text; empty if memory ran out.
    pub(crate) fn call(&mut self, call: BodyCall<'_>) -> Result<ScriptReply, String> {
        let functions = &mut self.functions;
        self.context.with(|ctx| {
            let function = compiled(&ctx, functions, call.source).catch(&ctx).map_err(|error| crate::body_call::exception_text(&error))?;
            call_function(&ctx, &function, call)
        })
    }
}

fn compiled<'js>(
    ctx: &Ctx<'js>,
    functions: &mut HashMap<String, Persistent<Function<'static>>>,
    source: &str,
) -> rquickjs::Result<Function<'js>> {
    if let Some(known) = functions.get(source) {
        return known.clone().restore(ctx);
    }
    let function = crate::body_call::function(ctx, source)?;
    functions.insert(source.to_owned(), Persistent::save(ctx, function.clone()));
    Ok(function)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn scripts_that_change_objects_of_others_are_found() {
        for source in [
            "return JSON.parse(output).n == context.vars.n",
            "const x = JSON.parse(output); return x.a !== 1 && x.b <= 2 && x.c >= 3",
            "let a = output.trim()\nvar b = a.length\nreturn a === 'x' ? b : 0",
            "return output.split(',').map(x => x.trim()).includes('a')",
        ] {
            assert!(changes_nothing(source), "{source}");
        }
        for source in [
            "JSON.parse = () => 1; return true",
            "JSON.n ||= 1; return true",
            "JSON.n >>= 1; return true",
            "JSON.n >>>= 1; return true",
            "JSON.n <<= 1; return true",
            "JSON.n++; return true",
            "--JSON.n; return true",
            "x = 1; return true",
            "[JSON.parse] = [1]; return true",
            "({ a: JSON.parse } = { a: 1 }); return true",
            "for (JSON.parse of [1]) {} return true",
            "for (JSON.parse in { a: 1 }) {} return true",
            "delete JSON.parse; return true",
            "Object.assign(JSON, { parse: 1 }); return true",
            "Object.freeze(output); return true",
            "context.const x = 1",
            "const{ a } = context; return a",
            "const x = JSON.y = 1; return x",
            "return ((a = JSON.parse) => a)()",
        ] {
            assert!(!changes_nothing(source), "{source}");
        }
    }

    /// Even code that the reading of its text let through finds nothing to change.
    #[test]
    fn builtins_of_the_shared_realm_are_frozen() {
        let mut realm = SharedRealm::new(ScriptLimits::default()).expect("the engine starts");
        let mut run = |source: &str| realm.call(BodyCall { source, output: "\"out\"", context: "{}" });
        for hostile in [
            "JSON.parse = () => 1",
            "Object.prototype.pass = true",
            "String.prototype.includes = () => true",
            "[][Symbol.iterator]().__proto__.next = () => ({ done: true })",
            "Object.getPrototypeOf(''.matchAll(/x/g)).next = 1",
            "Object.getPrototypeOf(function* () {}).x = 1",
            "Object.getPrototypeOf(async () => 1).x = 1",
            "globalThis.leak = 1; leaked = 2",
            "Object.defineProperty(Array.prototype, 'map', { value: 1 })",
            "Function.prototype.call.x = 1",
            "Error.prototype.name = 'Fine'",
            "Date.prototype.getTime.x = 1",
        ] {
            drop(run(hostile));
            let clean = "return [({}).pass, typeof leak, typeof leaked, 'a'.includes('b'), [...'ab'].length, JSON.parse('[2]')[0], [1].map(x => x + 1)[0], \
                         [...'xx'.matchAll(/x/g)].length, Function.prototype.call.x, Error.prototype.name, Date.prototype.getTime.x, \
                         Object.getPrototypeOf(function* () {}).x, Object.getPrototypeOf(async () => 1).x]";
            let expected = json!([null, "undefined", "undefined", false, 2, 2, 2, 2, null, "Error", null, null, null]);
            assert_eq!(run(clean), Ok(ScriptReply::Returned { kind: "object".to_owned(), value: expected }), "after {hostile}");
        }
    }
}
