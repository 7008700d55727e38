//! QuickJS with limits on time, memory and stack. Builtins in C do not look at the clock: only the death of the process ends them.

use crate::body_call::{BodyCall, call_body, exception_text};
use crate::limits::ScriptLimits;
use crate::realm::{RealmRuntime, RealmSize, absent_globals};
use crate::request::{ScriptReply, ScriptRequest};
use crate::shared_realm::{SharedRealm, changes_nothing};
use rquickjs::{CatchResultExt, Context, Ctx, Function, Promise, Runtime};
use serde_json::Value;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const NUNJUCKS: &str = include_str!("../assets/nunjucks-3.2.4.min.js");
const DRIVER: &str = include_str!("driver.js");
const RENDERER: &str = include_str!("renderer.js");

/// Memory that Nunjucks itself takes, on top of the limit of a script.
const TEMPLATE_MEMORY: usize = 32 << 20;

/// Engine of one process.
#[derive(Default)]
pub struct ScriptEngine {
    /// Runtime with Nunjucks, made for the first template.
    templates: Option<(Runtime, Context)>,
    /// Runtime whose realms are used by one script each.
    realms: Option<RealmRuntime>,
    /// Realm of scripts that change nothing.
    shared: Option<SharedRealm>,
    /// Globals that small realms lack; known after the first script.
    absent: Option<HashSet<String>>,
}

impl std::fmt::Debug for ScriptEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ScriptEngine")
    }
}

impl ScriptEngine {
    /// Runs a request to its end or to its limit.
    pub fn run(&mut self, request: &ScriptRequest, limits: ScriptLimits) -> ScriptReply {
        match request {
            ScriptRequest::Render { templates, vars, env } => self.render(templates, vars, env, limits),
            ScriptRequest::Body { source, output, context } => {
                let size = match self.realm_size(source, limits) {
                    Ok(size) => size,
                    Err(why) => return ScriptReply::Stopped(why.to_string()),
                };
                let call = BodyCall { source, output, context };
                if size == RealmSize::Small
                    && changes_nothing(source)
                    && let Some(reply) = self.in_shared_realm(call, limits)
                {
                    return reply;
                }
                self.in_realm(size, limits, |ctx| call_body(ctx, call))
            }
            ScriptRequest::Module { .. } | ScriptRequest::Regex { .. } => {
                let text = request_text(request);
                self.in_realm(RealmSize::Full, limits, |ctx| promised(ctx, DRIVER, &text))
            }
        }
    }

    fn realm_size(&mut self, source: &str, limits: ScriptLimits) -> rquickjs::Result<RealmSize> {
        if self.absent.is_none() {
            self.absent = Some(absent_globals(limits)?);
        }
        Ok(self.absent.as_ref().map_or(RealmSize::Full, |absent| RealmSize::of(source, absent)))
    }

    /// Runs a script that changes nothing in the realm of such scripts. Returns none if it must run alone: memory ran out there, perhaps
    /// because of others.
    fn in_shared_realm(&mut self, call: BodyCall<'_>, limits: ScriptLimits) -> Option<ScriptReply> {
        let mut shared = self.shared.take().filter(|shared| !shared.is_full()).map_or_else(|| SharedRealm::new(limits).ok(), Some)?;
        let runtime = shared.runtime().clone();
        let reply = limited(&runtime, limits, || shared.call(call));
        match &reply {
            ScriptReply::Stopped(_) if reply == out_of_memory(limits) => None,
            // A stopped script may have left anything behind, so its realm is not used again.
            ScriptReply::Stopped(_) => Some(reply),
            ScriptReply::Returned { .. } | ScriptReply::Rendered(_) | ScriptReply::Threw(_) => {
                self.shared = Some(shared);
                Some(reply)
            }
        }
    }

    /// Runs code in a realm of its own. What ends for lack of memory beside the remains of others runs again alone.
    fn in_realm(&mut self, size: RealmSize, limits: ScriptLimits, run: impl Fn(&Ctx<'_>) -> Result<ScriptReply, String>) -> ScriptReply {
        let made = match self.realms.take() {
            Some(realms) => Ok(realms),
            None => RealmRuntime::new(limits),
        };
        let (realms, realm) = match made.and_then(|mut realms| realms.realm(size).map(|realm| (realms, realm))) {
            Ok((realms, realm)) => (realms, realm),
            Err(why) => return ScriptReply::Stopped(why.to_string()),
        };
        let is_reused = realm.is_reused;
        let reply = limited(&realm.runtime, limits, || realm.context.with(|ctx| run(&ctx)));
        drop(realm);
        match reply {
            ScriptReply::Stopped(_) if is_reused && reply == out_of_memory(limits) => self.in_realm(size, limits, run),
            // A stopped script may have left anything behind, so its runtime is not used again.
            ScriptReply::Stopped(_) => reply,
            ScriptReply::Returned { .. } | ScriptReply::Rendered(_) | ScriptReply::Threw(_) => {
                if realms.clean() {
                    self.realms = Some(realms);
                }
                reply
            }
        }
    }

    fn render(&mut self, templates: &[String], vars: &Value, env: &Value, limits: ScriptLimits) -> ScriptReply {
        // Code of a template could change the shared runtime for the next one: such templates get a runtime of their own.
        let reaches_out = |text: &str| ["constructor", "prototype", "__proto__"].iter().any(|word| text.contains(word));
        let shared = !templates.iter().any(|template| reaches_out(template));
        let taken = if shared { self.templates.take() } else { None };
        let (runtime, context) = match taken.map_or_else(|| template_runtime(limits), Ok) {
            Ok(pair) => pair,
            Err(why) => return ScriptReply::Stopped(why.to_string()),
        };
        let text = serde_json::json!({ "templates": templates, "vars": vars, "env": env }).to_string();
        let reply = limited(&runtime, limits, || context.with(|ctx| promised(&ctx, "globalThis.__render", &text)));
        if shared && !matches!(reply, ScriptReply::Stopped(_)) {
            self.templates = Some((runtime, context));
        }
        reply
    }
}

fn request_text(request: &ScriptRequest) -> String {
    serde_json::to_string(request).unwrap_or_default()
}

fn runtime(limits: ScriptLimits) -> rquickjs::Result<(Runtime, Context)> {
    let runtime = Runtime::new()?;
    runtime.set_memory_limit(limits.memory_bytes);
    runtime.set_max_stack_size(limits.stack_bytes);
    let context = Context::full(&runtime)?;
    Ok((runtime, context))
}

fn template_runtime(limits: ScriptLimits) -> rquickjs::Result<(Runtime, Context)> {
    let limits = ScriptLimits { memory_bytes: limits.memory_bytes + TEMPLATE_MEMORY, ..limits };
    let (runtime, context) = runtime(limits)?;
    context.with(|ctx| {
        ctx.eval::<(), _>("globalThis.self = globalThis;")?;
        ctx.eval::<(), _>(NUNJUCKS)?;
        ctx.eval::<(), _>(RENDERER)
    })?;
    Ok((runtime, context))
}

/// Runs code of a runtime until its deadline.
fn limited(runtime: &Runtime, limits: ScriptLimits, run: impl FnOnce() -> Result<ScriptReply, String>) -> ScriptReply {
    let expired = Arc::new(AtomicBool::new(false));
    let deadline = now() + Duration::from_millis(limits.time_ms);
    let flag = Arc::clone(&expired);
    runtime.set_interrupt_handler(Some(Box::new(move || {
        let over = now() >= deadline;
        if over {
            flag.store(true, Ordering::Relaxed);
        }
        over
    })));
    let outcome = run();
    runtime.set_interrupt_handler(None);
    match outcome {
        _ if expired.load(Ordering::Relaxed) => ScriptReply::Stopped(format!("it took longer than {} ms", limits.time_ms)),
        Ok(ScriptReply::Threw(why)) if why.contains("out of memory") => out_of_memory(limits),
        Ok(reply) => reply,
        Err(why) if why.is_empty() || why.contains("out of memory") => out_of_memory(limits),
        Err(why) => ScriptReply::Threw(why),
    }
}

fn out_of_memory(limits: ScriptLimits) -> ScriptReply {
    ScriptReply::Stopped(format!("it needs more than {} MiB of memory", limits.memory_bytes >> 20))
}

/// Calls the function that `source` evaluates to with a text, and reads the reply that its promise gives as JSON.
fn promised(ctx: &Ctx<'_>, source: &str, text: &str) -> Result<ScriptReply, String> {
    let run = || -> rquickjs::Result<String> {
        let function: Function<'_> = ctx.eval(source)?;
        let promise: Promise<'_> = function.call((text,))?;
        promise.finish::<String>()
    };
    let reply = run().catch(ctx).map_err(|error| exception_text(&error))?;
    Ok(serde_json::from_str(&reply).unwrap_or_else(|why| ScriptReply::Threw(format!("its answer cannot be read: {why}"))))
}

#[expect(clippy::disallowed_methods, reason = "deadlines of scripts are real time, and nothing else depends on it")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn limits() -> ScriptLimits {
        ScriptLimits { time_ms: 300, ..ScriptLimits::default() }
    }

    fn body(source: &str) -> ScriptReply {
        let request = ScriptRequest::body(source, &json!("hello"), &json!({"vars": {"a": 1}}));
        ScriptEngine::default().run(&request, limits())
    }

    fn returned(kind: &str, value: Value) -> ScriptReply {
        ScriptReply::Returned { kind: kind.to_owned(), value }
    }

    #[test]
    fn values_come_back_with_their_type() {
        assert_eq!(body("return output.includes('ell')"), returned("boolean", json!(true)));
        assert_eq!(body("return context.vars.a / 4"), returned("number", json!(0.25)));
        assert_eq!(body("return NaN"), returned("number", json!("NaN")));
        assert_eq!(body("return Promise.resolve({pass: true})"), returned("object", json!({"pass": true})));
        assert_eq!(body("return undefined"), returned("undefined", Value::Null));
        assert_eq!(body("return null"), returned("object", Value::Null));
        assert!(matches!(body("const x = await 1; return x"), ScriptReply::Threw(why) if why.starts_with("SyntaxError")));
    }

    #[test]
    fn limits_end_scripts() {
        let stopped = |source: &str| {
            let reply = body(source);
            let ScriptReply::Stopped(why) = reply else { panic!("{source}: {reply:?}") };
            why
        };
        assert_eq!(stopped("while (true) {}"), "it took longer than 300 ms");
        assert_eq!(stopped("try { while (true) {} } catch (e) { while (true) {} }"), "it took longer than 300 ms");
        assert_eq!(stopped("const a = []; while (true) a.push(new Array(1e5).fill(1))"), "it needs more than 64 MiB of memory");
        assert_eq!(
            stopped("const a = []; while (a.length < 16) a.push(new Uint8Array(256 * 1024 ** 2)); return 1"),
            "it needs more than 64 MiB of memory"
        );
    }

    #[test]
    fn deep_recursion_and_missing_hosts_are_exceptions() {
        for (source, expected) in [
            ("function f() { return f() + 1 } return f()", "Maximum call stack size exceeded"),
            ("return process.env.HOME", "process is not defined"),
            ("return require('fs')", "require is not defined"),
            ("return fetch('http://127.0.0.1')", "fetch is not defined"),
            ("throw new Error('x')", "Error: x"),
            ("return new Promise(() => {})", "its promise never settles"),
        ] {
            let reply = body(source);
            assert!(matches!(&reply, ScriptReply::Threw(why) if why.contains(expected)), "{source}: {reply:?}");
        }
        assert!(matches!(body("return Function('return this')()"), ScriptReply::Returned { kind, .. } if kind == "object"));
    }

    #[test]
    fn scripts_share_nothing() {
        let mut engine = ScriptEngine::default();
        let mut run = |source: &str| engine.run(&ScriptRequest::body(source, &Value::Null, &Value::Null), limits());
        run("Object.prototype.pass = true; Array.prototype.map = () => 'x'; globalThis.leak = 1; JSON.parse = () => 'y'; return 1");
        assert_eq!(
            run("return [({}).pass === undefined, [1].map(x => x + 1)[0], typeof leak]"),
            returned("object", json!([true, 2, "undefined"]))
        );
    }

    /// Scripts share a runtime, so each way in which one could reach the next is tried: globals, prototypes, jobs that wait, callbacks of
    /// the collector, the registry of symbols, and a realm that a promise keeps alive.
    #[test]
    fn no_script_reaches_the_next_one() {
        let mut engine = ScriptEngine::default();
        let mut run = |source: &str| engine.run(&ScriptRequest::body(source, &json!("out"), &json!({"vars": {}})), limits());
        for hostile in [
            "Object.prototype.pass = true; JSON.parse = () => ({ n: 1 }); JSON.stringify = () => '{}'; return false",
            "String.prototype.includes = () => true; Array.prototype.every = () => true; Boolean.prototype.valueOf = () => true; return 1",
            "Promise.resolve().then(() => { Object.prototype.late = 1; globalThis.late = 1 }); return 1",
            "(async () => { while (true) await null })(); return 1",
            "new FinalizationRegistry(() => { while (true) {} }).register({}, 1); return 1",
            "Symbol.for('x').description; globalThis[Symbol.for('x')] = 1; return 1",
            "Function.prototype.call = () => true; Error.prototype.name = 'Fine'; RegExp.prototype.test = () => true; return 1",
            "globalThis.output = 'stolen'; globalThis.context = { vars: { n: 1 } }; return 1",
        ] {
            assert!(matches!(run(hostile), ScriptReply::Returned { .. }), "{hostile}");
            let clean = "return JSON.stringify([({}).pass, ({}).late, typeof late, 'a'.includes('b'), [0].every(x => x), /b/.test('a'), \
                         JSON.parse('[2]')[0], output, globalThis[Symbol.for('x')]])";
            let expected = "[null,null,\"undefined\",false,false,false,2,\"out\",null]";
            assert_eq!(run(clean), returned("string", json!(expected)), "after {hostile}");
            assert_eq!(run("return JSON.parse('[2]')[0] === 2 && !'a'.includes('b')"), returned("boolean", json!(true)), "after {hostile}");
        }
    }

    /// Garbage of a script does not count against the next one.
    #[test]
    fn memory_of_a_script_is_its_own() {
        let mut engine = ScriptEngine::default();
        let mut run = |source: &str| engine.run(&ScriptRequest::body(source, &Value::Null, &Value::Null), limits());
        for _ in 0..6 {
            let cycle = "const a = []; a.self = a; a.push(new Array(2e6).fill(1)); globalThis.kept = a; return a[0].length";
            assert_eq!(run(cycle), returned("number", json!(2_000_000)));
        }
        assert_eq!(run("return 'x'.repeat(4e7).length"), returned("number", json!(40_000_000)));
    }

    /// A small realm answers as a full one does: each script also runs with a comment that asks for a full one.
    #[test]
    fn small_realms_answer_like_full_ones() {
        let mut engine = ScriptEngine::default();
        for source in [
            "return JSON.parse('{\"n\": [1, {\"a\": null}]}').n",
            "return output.length > 3 ? { pass: true, score: 0.5, reason: output } : 0",
            "return output.match(/l+/)[0] + output.replace('h', 'H') + output.split('l').join('-') + output.search('o')",
            "return [3, 1, 2].sort().map(x => x * 2).filter(x => x > 2).reduce((a, b) => a + b, 0)",
            "return Object.entries({ a: 1 }).flat().concat([...'ab']).includes('b')",
            "return new Date(0).toISOString() + Number('7').toFixed(2) + parseInt('12px') + Math.max(1, 2) + encodeURIComponent('a b')",
            "return `${output}-${typeof undefined}-${[1, [2]].flat()}`",
            "return context.vars.missing.x",
            "throw 'text'",
            "throw { message: 'm' }",
            "throw { a: 1 }",
            "throw ''",
            "return output.nope()",
            "return undefinedName",
            "return ({ a: undefined, b: () => 1, toJSON() { return 5 } })",
            "return [NaN, -0, 1e400, null]",
            "return -0",
            "return 1/0",
            "const o = {}; o.o = o; return o",
            "return typeof Symbol('x')",
            "return (",
            "for (const c of output) if (c === 'l') return c",
            "return isNaN('x') && /(?<y>a)/.exec('a').groups.y === 'a' && 'a-b'.replaceAll('-', '+') === 'a+b'",
        ] {
            let mut run = |source: &str| engine.run(&ScriptRequest::body(source, &json!("hello"), &json!({"vars": {"a": 1}})), limits());
            let (small, full) = (run(source), run(&format!("/* globalThis */ {source}")));
            let plain = |reply: &ScriptReply| format!("{reply:?}").replace("column 19", "column 1");
            assert_eq!(plain(&small), plain(&full), "{source}");
        }
    }

    #[test]
    fn templates_are_nunjucks_and_data_stays_data() {
        let mut engine = ScriptEngine::default();
        let mut render = |templates: &[&str]| {
            let templates = templates.iter().map(|template| (*template).to_owned()).collect();
            let vars = json!({"x": "{{ 7 * 7 }}", "o": {"a": [1, 2]}, "n": null});
            let reply = engine.run(&ScriptRequest::Render { templates, vars, env: json!({"K": "v"}) }, limits());
            let ScriptReply::Rendered(texts) = reply else { panic!("{reply:?}") };
            texts
        };
        assert_eq!(render(&["{{ x }} {{ o.a | join('-') }}{{ n }}{{ missing }} {{ env.K }}"]), [Ok("{{ 7 * 7 }} 1-2 v".to_owned())]);
        assert_eq!(
            render(&["{% for k, v in o %}{{ k }}{{ v }}{% endfor %}", "{{ '{\"a\":1}' | load | dump }}"]),
            [Ok("a1,2".to_owned()), Ok("{\"a\":1}".to_owned())]
        );
        assert!(render(&["{% if %}"])[0].is_err());
        render(&["{{ range.constructor('Object.prototype.evil = 1')() }}"]);
        assert_eq!(render(&["{{ o.evil }}"]), [Ok(String::new())]);
    }

    #[test]
    fn modules_export_functions_and_classes() {
        let run = |source: &str, name: Option<&str>, method: Option<&str>| {
            let call = crate::FunctionCall {
                name: name.map(str::to_owned),
                method: method.map(str::to_owned),
                constructor: vec![json!({"config": {"k": 2}})],
                arguments: vec![json!("p")],
            };
            ScriptEngine::default().run(&ScriptRequest::Module { source: source.to_owned(), call }, limits())
        };
        assert_eq!(run("module.exports = p => p + 1", None, None), returned("string", json!("p1")));
        assert_eq!(run("export default async (p) => ({ output: p })", None, None), returned("object", json!({"output": "p"})));
        assert_eq!(run("module.exports.f = p => p + 2", Some("f"), None), returned("string", json!("p2")));
        let class =
            "class P { constructor(o) { this.k = o.config.k } async callApi(p) { return { output: p + this.k } } }\nmodule.exports = P;";
        assert_eq!(run(class, None, Some("callApi")), returned("object", json!({"output": "p2"})));
        assert!(matches!(run("module.exports = 1", None, None), ScriptReply::Threw(why) if why.contains("does not export a function")));
    }
}
