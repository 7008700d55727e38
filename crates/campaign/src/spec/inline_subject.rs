//! Parses a subject that no file describes: `process:CMD`, `mcp:CMD` or `http:URL`.

use model::{ProviderKind, Reached, SubjectFile, UserError};

/// Returns `None` where the words are the name of a subject of the workspace.
pub fn inline_subject(words: &str) -> Option<Result<SubjectFile, UserError>> {
    let (kind, rest) = words.split_once(':')?;
    let (provider, reached) = match kind {
        "process" => (ProviderKind::Process, command(rest)),
        "mcp" => (ProviderKind::Mcp, command(rest)),
        "http" => (ProviderKind::Http, url(words, rest)),
        "https" => (ProviderKind::Http, url(words, rest)),
        _ => return None,
    };
    Some(
        reached
            .map(|reached| SubjectFile::unwritten(words, provider, reached))
            .map_err(|error| error.within(format!("--subject \"{words}\""))),
    )
}

/// Splits as a shell would; no shell ever reads it.
fn command(text: &str) -> Result<Reached, UserError> {
    match shlex::split(text) {
        Some(words) if words.first().is_some_and(|program| !program.is_empty()) => Ok(Reached::Command(words)),
        Some(_) => Err(UserError::plain("name the program, as in mcp:node agent.js")),
        None => Err(UserError::plain("a quotation mark is not closed")),
    }
}

/// Reads both `http:http://host/path` and the bare address.
fn url(whole: &str, rest: &str) -> Result<Reached, UserError> {
    let url = if rest.starts_with("http://") || rest.starts_with("https://") { rest } else { whole };
    let host = url.split_once("://").map(|(_, host)| host).unwrap_or_default();
    match host {
        "" => Err(UserError::plain("name the address, as in http://127.0.0.1:8080/agent")),
        _ => Ok(Reached::Url(url.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(words: &str) -> Reached {
        inline_subject(words).unwrap().unwrap().finished.unwrap().reached
    }

    #[test]
    fn commands_are_split_and_addresses_kept() {
        let command = |words: &[&str]| Reached::Command(words.iter().map(|word| (*word).to_owned()).collect());
        assert_eq!(reached("mcp:node agent.js"), command(&["node", "agent.js"]));
        assert_eq!(reached("process:'my agent' --say \"a b\""), command(&["my agent", "--say", "a b"]));
        assert_eq!(reached("http:http://127.0.0.1:1/x"), Reached::Url("http://127.0.0.1:1/x".to_owned()));
        assert_eq!(reached("https://a.example/x"), Reached::Url("https://a.example/x".to_owned()));
    }

    #[test]
    fn names_of_subjects_are_left_alone_and_nonsense_is_refused() {
        assert!(inline_subject("reference").is_none());
        assert!(inline_subject("fault:skip_guard").is_none());
        for bad in ["mcp:", "process:   ", "process:'a", "http:", "http://", "http:x"] {
            assert!(inline_subject(bad).unwrap().is_err(), "{bad}");
        }
    }
}
