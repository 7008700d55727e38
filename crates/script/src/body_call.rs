//! Call of a function body in a realm, and its answer. Builtins that read the answer are taken before the code of others runs.

use crate::request::ScriptReply;
use rquickjs::function::Constructor;
use rquickjs::{CatchResultExt, CaughtError, Coerced, Ctx, Function, Object, Promise, Type, Value};

/// Function body with its arguments, given as JSON.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyCall<'a> {
    pub source: &'a str,
    pub output: &'a str,
    pub context: &'a str,
}

/// Compiles a function of `output` and `context` whose body is `source`.
pub(crate) fn function<'js>(ctx: &Ctx<'js>, source: &str) -> rquickjs::Result<Function<'js>> {
    let constructor: Constructor<'_> = ctx.globals().get("Function")?;
    constructor.construct(("output", "context", source))
}

/// Compiles a function body and calls it.
///
/// # Errors
/// The exception as a text; empty if memory ran out.
pub(crate) fn call_body(ctx: &Ctx<'_>, call: BodyCall<'_>) -> Result<ScriptReply, String> {
    let run = || -> rquickjs::Result<ScriptReply> {
        // Small realms have no promises, and no script there can make one.
        let promises: Option<Object<'_>> = ctx.globals().get("Promise")?;
        let resolve: Option<Function<'_>> = promises.as_ref().map(|promises| promises.get("resolve")).transpose()?;
        let mut value = called(ctx, &function(ctx, call.source)?, call)?;
        if let (Some(object), Some(promises), Some(resolve)) = (value.as_object(), promises, resolve)
            && (value.is_promise() || object.get::<_, Value<'_>>("then")?.is_function())
        {
            let promise: Promise<'_> = resolve.call((rquickjs::function::This(promises), value.clone()))?;
            value = promise.finish()?;
        }
        answer(ctx, &value)
    };
    run().catch(ctx).map_err(|error| exception_text(&error))
}

/// Calls a compiled function of a realm without promises.
///
/// # Errors
/// The exception as a text; empty if memory ran out.
pub(crate) fn call_function<'js>(ctx: &Ctx<'js>, function: &Function<'js>, call: BodyCall<'_>) -> Result<ScriptReply, String> {
    let run = || called(ctx, function, call).and_then(|value| answer(ctx, &value));
    run().catch(ctx).map_err(|error| exception_text(&error))
}

fn called<'js>(ctx: &Ctx<'js>, function: &Function<'js>, call: BodyCall<'_>) -> rquickjs::Result<Value<'js>> {
    function.call((ctx.json_parse(call.output)?, ctx.json_parse(call.context)?))
}

fn answer<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> rquickjs::Result<ScriptReply> {
    let returned = |kind: &str, value: serde_json::Value| ScriptReply::Returned { kind: kind.to_owned(), value };
    if let Some(truth) = value.as_bool() {
        return Ok(returned("boolean", truth.into()));
    }
    if let Some(whole) = value.as_int() {
        return Ok(returned("number", whole.into()));
    }
    if let Some(number) = value.as_number().filter(|number| !number.is_finite()) {
        let text = if number.is_nan() {
            "NaN"
        } else if number > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        };
        return Ok(returned("number", text.into()));
    }
    let kind = match value.type_of() {
        Type::Undefined | Type::Uninitialized => return Ok(returned("undefined", serde_json::Value::Null)),
        Type::Function | Type::Constructor => return Ok(returned("function", serde_json::Value::Null)),
        Type::Symbol => return Ok(returned("symbol", serde_json::Value::Null)),
        Type::BigInt => return Ok(returned("bigint", serde_json::Value::Null)),
        Type::String => "string",
        Type::Int | Type::Float => "number",
        Type::Null
        | Type::Bool
        | Type::Array
        | Type::Promise
        | Type::Exception
        | Type::Proxy
        | Type::Object
        | Type::Module
        | Type::Unknown => "object",
    };
    match ctx.json_stringify(value.clone()).catch(ctx) {
        Ok(text) => {
            let text = text.map(|text| text.to_string()).transpose()?;
            let value = text.map_or(Ok(serde_json::Value::Null), |text| serde_json::from_str(&text));
            Ok(match value {
                Ok(value) => returned(kind, value),
                Err(why) => ScriptReply::Threw(format!("its answer cannot be read: {why}")),
            })
        }
        Err(CaughtError::Exception(why)) => {
            Ok(ScriptReply::Threw(format!("its answer is not JSON: {}", why.message().unwrap_or_default())))
        }
        Err(CaughtError::Value(_)) => Ok(ScriptReply::Threw("its answer is not JSON".to_owned())),
        Err(CaughtError::Error(why)) => Err(why),
    }
}

/// Returns an exception as a text: its name and message, or itself.
pub(crate) fn exception_text(error: &CaughtError<'_>) -> String {
    let of_object = |object: &Object<'_>| {
        let message: Option<Coerced<String>> = object.get("message").ok();
        let name: Option<String> = object.get("name").ok();
        message.map(|message| format!("{}: {}", name.filter(|name| !name.is_empty()).unwrap_or_else(|| "Error".to_owned()), message.0))
    };
    match error {
        CaughtError::Error(rquickjs::Error::WouldBlock) => "its promise never settles".to_owned(),
        CaughtError::Error(error) => error.to_string(),
        CaughtError::Exception(exception) => of_object(exception.as_object()).unwrap_or_default(),
        // Out of memory is the exception null.
        CaughtError::Value(value) if value.is_null() => String::new(),
        CaughtError::Value(value) => value
            .as_object()
            .filter(|object| object.contains_key("message").unwrap_or_default())
            .and_then(of_object)
            .or_else(|| value.get::<Coerced<String>>().ok().map(|text| text.0))
            .filter(|text| !text.is_empty())
            .unwrap_or_else(|| "an exception without a message".to_owned()),
    }
}
