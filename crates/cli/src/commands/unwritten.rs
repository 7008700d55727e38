//! A finished agent named on the command line alone: `process:CMD`, `mcp:CMD` or `http:URL`.

use model::{ProviderKind, Reached, SubjectFile};

/// `None` where the words are the name of a subject of the workspace.
pub(crate) fn unwritten(words: &str) -> Option<Result<SubjectFile, String>> {
    let (kind, rest) = words.split_once(':')?;
    let (provider, reached) = match kind {
        "process" => (ProviderKind::Process, command(rest)),
        "mcp" => (ProviderKind::Mcp, command(rest)),
        "http" => (ProviderKind::Http, url(words, rest)),
        "https" => (ProviderKind::Http, url(words, rest)),
        _ => return None,
    };
    Some(reached.map(|reached| SubjectFile::unwritten(words, provider, reached)).map_err(|why| format!("--subject \"{words}\": {why}")))
}

/// Split as a shell would; no shell ever reads it.
fn command(text: &str) -> Result<Reached, String> {
    match shlex::split(text) {
        Some(words) if words.first().is_some_and(|program| !program.is_empty()) => Ok(Reached::Command(words)),
        Some(_) => Err("name the program, as in mcp:node agent.js".to_owned()),
        None => Err("a quotation mark is not closed".to_owned()),
    }
}

/// Both `http:http://host/path` and the bare address.
fn url(whole: &str, rest: &str) -> Result<Reached, String> {
    let url = if rest.starts_with("http://") || rest.starts_with("https://") { rest } else { whole };
    let host = url.split_once("://").map(|(_, host)| host).unwrap_or_default();
    if host.is_empty() { Err("name the address, as in http://127.0.0.1:8080/agent".to_owned()) } else { Ok(Reached::Url(url.to_owned())) }
}
