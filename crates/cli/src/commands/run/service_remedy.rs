//! Remedies for agents that are services: `http:`, `chat:` and `a2a:`.

use model::transcript::FaultSource;
use model::{AgentEndpoint, Ending, ProviderKind, SubjectFile};

/// Returns what helps against an ending that says that a service does not work; `None` if the agent is a program.
pub(super) fn service_remedy(agent: &SubjectFile, ending: &Ending) -> Option<String> {
    let AgentEndpoint::Url(url) = &agent.external.as_ref()?.endpoint else { return None };
    let tried = tried_url(agent.provider, url);
    Some(match ending {
        Ending::Hung => {
            "answer sooner, or give the agent more time with --timeout SECONDS (limits: { seconds: … } in its file), and start again"
                .to_owned()
        }
        Ending::Crashed { why } | Ending::MalformedMove { why } => match status_in(why) {
            Some(401 | 403) => key_remedy(agent),
            Some(404 | 405 | 301 | 302 | 307 | 308) => format!("check the URL: {tried} was requested; and start again"),
            Some(429) => "the agent's server limits its requests: use --concurrency 1, or raise its limit, and start again".to_owned(),
            Some(500..) => "read the log of the agent's server, which failed, and start again".to_owned(),
            Some(_) => format!("check with curl what {tried} expects, and start again"),
            None => answer_remedy(agent.provider, &tried, ending),
        },
        Ending::Aborted { by: FaultSource::Provider, why } if agent.provider == ProviderKind::A2a && why.contains("no card") => {
            format!(
                "check with curl that {}/.well-known/agent-card.json is the card of an A2A agent with JSON-RPC, and start again",
                tried.trim_end_matches('/')
            )
        }
        Ending::Aborted { by: FaultSource::Provider, .. } => format!("start the agent's server, check its URL {tried}, and start again"),
        Ending::Finished | Ending::Refused | Ending::GaveUp | Ending::OverLimit { .. } | Ending::Unfunded | Ending::Aborted { .. } => {
            "start again".to_owned()
        }
    })
}

/// Returns the URL of a request, without credentials.
fn tried_url(kind: ProviderKind, url: &str) -> String {
    let shown = match url.split_once("://").and_then(|(scheme, rest)| Some((scheme, rest.split_once('@')?.1))) {
        Some((scheme, host)) => format!("{scheme}://{host}"),
        None => url.to_owned(),
    };
    let shown = shown.split(['?', '#']).next().unwrap_or_default().to_owned();
    if kind == ProviderKind::Chat { format!("{}/chat/completions", shown.trim_end_matches('/')) } else { shown }
}

/// Returns the first HTTP status that a message names.
fn status_in(why: &str) -> Option<u16> {
    let (_, after) = why.split_once("status ")?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|status| (100..600).contains(status))
}

fn key_remedy(agent: &SubjectFile) -> String {
    match (agent.provider, &agent.key_env) {
        (ProviderKind::Chat, Some(key)) => format!("check the key in the variable {key}, which key_env names, and start again"),
        (ProviderKind::Chat, None) => {
            "the server wants a key: name its variable under key_env: in subjects/NAME.yaml, and run --subject NAME".to_owned()
        }
        (_, _) => "the server wants credentials, which are not sent: let it accept this machine without, and start again".to_owned(),
    }
}

/// Returns the remedy for an answer that could not be read, or a connection that failed.
fn answer_remedy(kind: ProviderKind, tried: &str, ending: &Ending) -> String {
    if let Ending::Crashed { .. } = ending {
        return "read the log of the agent's server, which ended or closed the connection, and start again".to_owned();
    }
    if kind == ProviderKind::Chat {
        return format!("answer with choices[0].message as the chat API does; check with curl that {tried} is that API, not a web page");
    }
    if kind == ProviderKind::A2a {
        return format!("check with curl that {tried} is an A2A agent, and start again; docs/guide/subjects.md has the protocol");
    }
    format!("answer each POST to {tried} with one move as JSON, and start again; docs/guide/subjects.md lists the moves")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remedy(subject: &str, key: Option<&str>, ending: &Ending) -> String {
        let mut agent = campaign::inline_subject(subject).unwrap().unwrap();
        agent.key_env = key.map(str::to_owned);
        service_remedy(&agent, ending).unwrap_or_default()
    }

    #[test]
    fn every_failure_of_a_service_has_its_own_remedy() {
        let malformed = |why: &str| Ending::MalformedMove { why: why.to_owned() };
        let unreached = |why: &str| Ending::Aborted { by: FaultSource::Provider, why: why.to_owned() };
        let (chat, http, a2a) = ("chat:http://127.0.0.1:1/v1/", "http:http://u:pw@127.0.0.1:1/agent?token=x", "a2a:http://127.0.0.1:1");
        for (subject, key, ending, expected) in [
            (chat, None, malformed("the agent's server did not answer as the chat API does: status 401, no"), "key_env"),
            (chat, Some("DESK_KEY"), malformed("status 401, no"), "DESK_KEY"),
            (chat, None, malformed("status 404, no"), "http://127.0.0.1:1/v1/chat/completions was requested"),
            (chat, None, malformed("the reply has no choices"), "choices[0].message"),
            (chat, None, Ending::Crashed { why: "the agent's server failed: status 500, x".to_owned() }, "log of the agent's server"),
            (chat, None, Ending::Hung, "answer sooner"),
            (http, None, malformed("the agent answered with status 404"), "http://127.0.0.1:1/agent was requested"),
            (http, None, malformed("\"<html>\": it is not JSON"), "one move as JSON"),
            (http, None, Ending::Crashed { why: "the connection failed: closed".to_owned() }, "closed the connection"),
            (a2a, None, malformed("\"<html>\": it is not JSON"), "A2A agent"),
            (a2a, None, malformed("status 403"), "credentials"),
            (
                a2a,
                None,
                unreached("the agent has no card: http://127.0.0.1:1/.well-known/agent.json answered with status 404"),
                "/.well-known/agent-card.json",
            ),
            (a2a, None, unreached("cannot connect to the agent"), "check its URL"),
        ] {
            let shown = remedy(subject, key, &ending);
            assert!(shown.contains(expected), "{subject} {ending:?}: {shown}");
            assert!(!shown.contains("stdout") && !shown.contains("by hand") && !shown.contains("pw"), "{shown}");
        }
        assert_eq!(remedy("process:python3 a.py", None, &Ending::Hung), "", "a program");
    }
}
