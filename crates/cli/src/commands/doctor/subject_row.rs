//! One row per subject: whether it can run, its key and its price.

use super::{DoctorRow, DoctorState};
use crate::commands::models;
use crate::{env, files};
use model::{AgentEndpoint, ExternalAgent, ProviderKind, SubjectFile};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::path::Path;
use std::time::Duration;

/// Time for a local server to accept a connection.
const LOCAL_PATIENCE: Duration = Duration::from_millis(300);

pub(super) fn subject_row(subject: &SubjectFile) -> DoctorRow {
    let (state, note) = match (&subject.external, subject.provider.is_llm()) {
        (Some(agent), _) => external_agent(agent),
        (None, true) => model(subject),
        (None, false) => (DoctorState::Ok, "needs no key".to_owned()),
    };
    DoctorRow { what: format!("subject {}", subject.name.value), state, note }
}

/// Builds the provider as a run would, so that both say the same.
fn model(subject: &SubjectFile) -> (DoctorState, String) {
    let provider = format!("{} {}", subject.provider.word(), subject.model.as_deref().unwrap_or_default());
    let price = match &subject.price {
        Some(price) => format!("${} in, ${} out per million tokens ({})", price.input_per_mtok, price.output_per_mtok, price.as_of),
        None => "no price, which runs with a budget need".to_owned(),
    };
    let (state, access) = match &subject.key_env {
        Some(variable) if !env::is_set(variable) => (DoctorState::Missing, format!("set {variable}")),
        key => match (models::can_open(subject), key) {
            (Err(why), _) => (DoctorState::Missing, why.to_string()),
            (Ok(()), Some(variable)) => (DoctorState::Ok, format!("{variable} is set")),
            (Ok(()), None) => local_server(subject),
        },
    };
    (state, [provider.trim_end(), &access, &price].join("; "))
}

/// Returns whether the server of a model without a key accepts connections. Only loopback addresses are contacted.
fn local_server(subject: &SubjectFile) -> (DoctorState, String) {
    let base = match (&subject.base_url, subject.provider) {
        (Some(base), _) => base.as_str(),
        (None, ProviderKind::Ollama) => "http://127.0.0.1:11434",
        (None, _) => return (DoctorState::Ok, "needs no key".to_owned()),
    };
    match loopback_address(base) {
        None => (DoctorState::Ok, format!("needs no key; {base} was not contacted")),
        Some(address) if TcpStream::connect_timeout(&address, LOCAL_PATIENCE).is_ok() => {
            (DoctorState::Ok, format!("needs no key; a server listens on {address}"))
        }
        Some(address) => (DoctorState::Missing, format!("needs no key; start its server, none listens on {address}")),
    }
}

fn loopback_address(url: &str) -> Option<SocketAddr> {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest).split('/').next()?;
    let host =
        if host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok()) { host.to_owned() } else { format!("{host}:80") };
    host.to_socket_addrs().ok()?.find(|address| address.ip().is_loopback())
}

/// Checks what an external agent needs to be started. A URL is not contacted.
fn external_agent(agent: &ExternalAgent) -> (DoctorState, String) {
    let unset: Vec<&str> = agent.env.iter().map(String::as_str).filter(|variable| !env::is_set(variable)).collect();
    let (state, place) = match &agent.endpoint {
        AgentEndpoint::Url(url) => (DoctorState::Ok, format!("{url}, called for each move; not contacted")),
        AgentEndpoint::Command(command) => {
            let program = command.first().map(String::as_str).unwrap_or_default();
            let here = Path::new(program);
            match env::find_program(program).or_else(|| files::exists(here).then(|| here.to_owned())) {
                Some(path) => (DoctorState::Ok, path.display().to_string()),
                None => (DoctorState::Missing, format!("{program} is neither a file nor in PATH")),
            }
        }
    };
    match unset.as_slice() {
        [] => (state, place),
        names => (DoctorState::Missing, format!("{place}; set {}, or the agent will not see it", names.join(", "))),
    }
}
