//! Subject files have exactly the keys that their provider needs. Tier 1, configuration.

use super::{Check, ExampleWorkspace, FindingCollector};
use model::{ProviderKind, SubjectFile, Workspace};

pub(super) struct SubjectsComplete;

impl Check for SubjectsComplete {
    fn id(&self) -> &'static str {
        "subjects_complete"
    }

    fn manual(&self) -> &'static str {
        "Subjects of a hosted model name the environment variable of their key, self-hosted ones their base_url; scripted subjects have \
         neither model nor key nor price. A model without a price is a warning: a run with a budget rejects it, because its cost is \
         unknown."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for subject in &workspace.subjects {
            found.record_examined();
            if subject.provider.is_llm() {
                check_llm(subject, found)
            } else {
                check_scripted(subject, found)
            }
            if subject.base_url.as_deref().is_some_and(|url| !is_http(url)) {
                let what = format!("the base_url of {} is not an HTTP URL", *subject.name);
                found.error(&subject.at, what, "start it with http:// or https:// and a host");
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        let text = "subject: hosted\nprovider: anthropic\nmodel: some-model\nabout: A hosted model without key_env.\n\
                    price: { input_per_mtok: 2, output_per_mtok: 10, as_of: \"2026-11-15\" }\n";
        ExampleWorkspace::minimal().with("subjects/hosted.yaml", text)
    }
}

fn check_llm(subject: &SubjectFile, found: &mut FindingCollector) {
    let (name, provider) = (subject.name.as_str(), subject.provider.word());
    let self_hosted = matches!(subject.provider, ProviderKind::OpenAiCompatible | ProviderKind::Ollama);
    if subject.price.is_none() {
        let what = format!("{name} has no price, so a run with a budget rejects it");
        found.warning(&subject.at, what, "add price: { input_per_mtok: …, output_per_mtok: …, as_of: \"…\" }, with 0 if it is free");
    }
    if !self_hosted && subject.key_env.as_deref().unwrap_or_default().is_empty() {
        let what = format!("{name} uses {provider} but has no key_env");
        found.error(&subject.at, what, "add key_env with the name of the environment variable that holds the key");
    }
    if self_hosted && subject.base_url.is_none() {
        found.error(&subject.at, format!("{name} lacks the base_url of its {provider} server"), "add base_url: http://127.0.0.1:…");
    }
}

fn check_scripted(subject: &SubjectFile, found: &mut FindingCollector) {
    let useless = [
        ("model", subject.model.is_some()),
        ("key_env", subject.key_env.is_some()),
        ("base_url", subject.base_url.is_some()),
        ("price", subject.price.is_some()),
    ];
    for (key, _) in useless.into_iter().filter(|(_, given)| *given) {
        let what = format!("{} is scripted ({}) and has a {key}", *subject.name, subject.provider.word());
        found.error(&subject.at, what, format!("remove {key} or choose an LLM provider"));
    }
}

fn is_http(url: &str) -> bool {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    rest.is_some_and(|host| !host.is_empty() && !host.starts_with('/'))
}
