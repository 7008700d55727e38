//! Parses a subject given on the command line: `process:CMD`, `mcp:CMD`, `http:URL`, `chat:URL`, `a2a:URL` or `fault:FAULT`.

use faults::FaultChoice;
use model::{AgentEndpoint, ProviderKind, SubjectFile, UserError, Workspace};

/// Parses an inline subject; returns `None` if the text has no such prefix and must be the name of a subject.
pub fn inline_subject(words: &str) -> Option<Result<SubjectFile, UserError>> {
    let (kind, rest) = words.split_once(':')?;
    let (provider, reached) = match kind {
        "fault" => {
            let parsed = FaultChoice::parse(rest).map(|_| SubjectFile::with_fault(rest));
            return Some(parsed.map_err(|error| UserError::from(error).with_context(format!("--subject \"{words}\""))));
        }
        "process" => (ProviderKind::Process, parse_command(kind, rest)),
        "mcp" => (ProviderKind::Mcp, parse_command(kind, rest)),
        "http" => (ProviderKind::Http, parse_url(words, rest)),
        "https" => (ProviderKind::Http, parse_url(words, rest)),
        "chat" => (ProviderKind::Chat, parse_server(kind, rest)),
        "a2a" => (ProviderKind::A2a, parse_server(kind, rest)),
        _ => return None,
    };
    Some(
        reached
            .map(|reached| SubjectFile::from_command_line(words, provider, reached))
            .map_err(|error| error.with_context(format!("--subject \"{words}\""))),
    )
}

/// Returns the error of a subject that is neither in the workspace nor inline. A misspelt prefix gets the right one.
pub(crate) fn unknown_subject(workspace: &Workspace, name: &str) -> UserError {
    let prefixed = name.split_once(':').and_then(|(kind, rest)| {
        let known = ["process", "mcp", "http", "https", "chat", "a2a", "fault"];
        Some((model::nearest_name(kind, known)?, rest))
    });
    match prefixed {
        Some((kind, rest)) => UserError::new(format!("there is no subject \"{name}\""), format!("did you mean \"{kind}:{rest}\"?")),
        None => UserError::unknown("subject", name, workspace.subjects.iter().map(|subject| subject.name.as_str())),
    }
}

/// Splits a command line with shell quoting; no shell runs it.
fn parse_command(kind: &str, text: &str) -> Result<AgentEndpoint, UserError> {
    match shlex::split(text) {
        Some(words) if words.first().is_some_and(|program| !program.is_empty()) => Ok(AgentEndpoint::Command(words)),
        Some(_) => Err(UserError::new("the program is missing", format!("write {kind}:COMMAND, such as '{kind}:python3 agent.py'"))),
        None => Err(UserError::without_remedy("a quotation mark is not closed")),
    }
}

/// Parses `http:http://host/path` or a bare URL.
fn parse_url(whole: &str, rest: &str) -> Result<AgentEndpoint, UserError> {
    let url = if rest.starts_with("http://") || rest.starts_with("https://") { rest } else { whole };
    let host = url.split_once("://").map(|(_, host)| host).unwrap_or_default();
    match host {
        "" => Err(UserError::new("the host is missing", "write a URL, such as http://127.0.0.1:8080/agent")),
        _ => Ok(AgentEndpoint::Url(url.to_owned())),
    }
}

/// Parses the URL after `chat:` or `a2a:`.
fn parse_server(kind: &str, url: &str) -> Result<AgentEndpoint, UserError> {
    let host = ["http://", "https://"].iter().find_map(|scheme| url.strip_prefix(scheme));
    match host {
        Some(host) if !host.is_empty() => Ok(AgentEndpoint::Url(url.to_owned())),
        Some(_) | None => Err(UserError::new("the URL is missing", format!("write {kind}:URL, such as {kind}:http://127.0.0.1:8080"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_reached(words: &str) -> AgentEndpoint {
        inline_subject(words).unwrap().unwrap().external.unwrap().endpoint
    }

    #[test]
    fn inline_subject_parses_commands_and_urls() {
        let command = |words: &[&str]| AgentEndpoint::Command(words.iter().map(|word| (*word).to_owned()).collect());
        assert_eq!(parse_reached("mcp:node agent.js"), command(&["node", "agent.js"]));
        assert_eq!(parse_reached("process:'my agent' --say \"a b\""), command(&["my agent", "--say", "a b"]));
        assert_eq!(parse_reached("http:http://127.0.0.1:1/x"), AgentEndpoint::Url("http://127.0.0.1:1/x".to_owned()));
        assert_eq!(parse_reached("chat:http://127.0.0.1:1/v1"), AgentEndpoint::Url("http://127.0.0.1:1/v1".to_owned()));
        assert_eq!(parse_reached("a2a:https://a.example"), AgentEndpoint::Url("https://a.example".to_owned()));
        assert_eq!(parse_reached("https://a.example/x"), AgentEndpoint::Url("https://a.example/x".to_owned()));
    }

    #[test]
    fn misspelt_prefix_is_corrected() {
        let workspace = Workspace::load(&model::MINIMAL_WORKSPACE.iter().copied().collect()).expect("a workspace");
        for (given, meant) in [("proces:python3 agent.py", "process:python3 agent.py"), ("caht:http://a.example", "chat:http://a.example")]
        {
            assert_eq!(unknown_subject(&workspace, given).remedy, format!("did you mean \"{meant}\"?"));
        }
        assert!(!unknown_subject(&workspace, "elsewhere:x").remedy.contains("elsewhere"));
    }

    #[test]
    fn inline_subject_parses_faults() {
        let fault = inline_subject("fault:skips_guardian@3").unwrap().unwrap();
        assert_eq!((fault.name.as_str(), fault.model.as_deref()), ("fault:skips_guardian@3", Some("skips_guardian@3")));
        assert_eq!((fault.provider, fault.external), (ProviderKind::Fault, None));
    }

    #[test]
    fn inline_subject_ignores_names_and_rejects_bad_input() {
        assert!(inline_subject("reference").is_none());
        for bad in [
            "fault:",
            "fault:skip_guard",
            "fault:skips_guardian@x",
            "mcp:",
            "process:   ",
            "process:'a",
            "http:",
            "http://",
            "http:x",
            "chat:",
            "chat:localhost",
            "a2a:http://",
        ] {
            assert!(inline_subject(bad).unwrap().is_err(), "{bad}");
        }
    }
}
