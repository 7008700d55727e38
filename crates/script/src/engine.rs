//! QuickJS with limits on time, memory and stack. Builtins in C do not look at the clock: only the death of the process ends them.

use crate::request::{ScriptReply, ScriptRequest};
use rquickjs::{CatchResultExt, CaughtError, Context, Ctx, Function, Promise, Runtime};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const NUNJUCKS: &str = include_str!("../assets/nunjucks-3.2.4.min.js");
const DRIVER: &str = include_str!("driver.js");
const RENDERER: &str = include_str!("renderer.js");

/// Memory that Nunjucks itself takes, on top of the limit of a script.
const TEMPLATE_MEMORY: usize = 32 << 20;

/// Limits of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptLimits {
    pub time_ms: u64,
    pub memory_bytes: usize,
    pub stack_bytes: usize,
}

impl Default for ScriptLimits {
    fn default() -> Self {
        Self { time_ms: 2_000, memory_bytes: 64 << 20, stack_bytes: 512 << 10 }
    }
}

/// Engine of one process.
#[derive(Default)]
pub struct ScriptEngine {
    /// Runtime with Nunjucks, made for the first template.
    templates: Option<(Runtime, Context)>,
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
            ScriptRequest::Body { .. } | ScriptRequest::Module { .. } | ScriptRequest::Regex { .. } => match runtime(limits) {
                Ok((runtime, context)) => call(&runtime, &context, DRIVER, &request_text(request), limits),
                Err(why) => ScriptReply::Stopped(why.to_string()),
            },
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
        let reply = call(&runtime, &context, "globalThis.__render", &text, limits);
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

/// Calls the function that `source` evaluates to with a text, and reads the text that its promise gives.
fn call(runtime: &Runtime, context: &Context, source: &str, text: &str, limits: ScriptLimits) -> ScriptReply {
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
    let outcome = context.with(|ctx| outcome(&ctx, source, text));
    runtime.set_interrupt_handler(None);
    match outcome {
        _ if expired.load(Ordering::Relaxed) => ScriptReply::Stopped(format!("it took longer than {} ms", limits.time_ms)),
        Ok(reply) => match serde_json::from_str(&reply) {
            Ok(ScriptReply::Threw(why)) if why.contains("out of memory") => out_of_memory(limits),
            Ok(reply) => reply,
            Err(why) => ScriptReply::Threw(format!("its answer cannot be read: {why}")),
        },
        Err(why) if why.is_empty() || why.contains("out of memory") => out_of_memory(limits),
        Err(why) => ScriptReply::Threw(why),
    }
}

fn out_of_memory(limits: ScriptLimits) -> ScriptReply {
    ScriptReply::Stopped(format!("it needs more than {} MiB of memory", limits.memory_bytes >> 20))
}

fn outcome(ctx: &Ctx<'_>, source: &str, text: &str) -> Result<String, String> {
    let run = || -> rquickjs::Result<String> {
        let function: Function<'_> = ctx.eval(source)?;
        let promise: Promise<'_> = function.call((text,))?;
        promise.finish::<String>()
    };
    run().catch(ctx).map_err(|error| match error {
        CaughtError::Error(rquickjs::Error::WouldBlock) => "its promise never settles".to_owned(),
        CaughtError::Error(error) => error.to_string(),
        CaughtError::Exception(exception) => exception.message().unwrap_or_default(),
        // Out of memory is the exception null.
        CaughtError::Value(value) => value.as_string().and_then(|text| text.to_string().ok()).unwrap_or_default(),
    })
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
        let request = ScriptRequest::Body { source: source.to_owned(), output: json!("hello"), context: json!({"vars": {"a": 1}}) };
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
        let mut run = |source: &str| {
            let request = ScriptRequest::Body { source: source.to_owned(), output: Value::Null, context: Value::Null };
            engine.run(&request, limits())
        };
        run("Object.prototype.pass = true; Array.prototype.map = () => 'x'; globalThis.leak = 1; JSON.parse = () => 'y'; return 1");
        assert_eq!(
            run("return [({}).pass === undefined, [1].map(x => x + 1)[0], typeof leak]"),
            returned("object", json!([true, 2, "undefined"]))
        );
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
