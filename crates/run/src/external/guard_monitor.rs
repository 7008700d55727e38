//! External guard that monitors the texts of trials. Verdicts are kept, since most trials show the same descriptions.

use super::guard_client::{GuardClient, GuardQuestion};
use crate::subjects::{GuardedText, TextGuard};
use async_trait::async_trait;
use model::ContentHash;
use std::collections::BTreeMap;
use tokio::sync::Mutex;

/// Most verdicts that are kept.
const MAX_KNOWN: usize = 20_000;

#[derive(Debug)]
pub struct GuardMonitor {
    client: GuardClient,
    known: Mutex<BTreeMap<ContentHash, bool>>,
}

impl GuardMonitor {
    pub fn new(client: GuardClient) -> Self {
        Self { client, known: Mutex::default() }
    }
}

fn key(text: &GuardedText) -> ContentHash {
    ContentHash::of_text(&format!("{} {}", text.channel.word(), text.text))
}

#[async_trait]
impl TextGuard for GuardMonitor {
    async fn flag_texts(&self, texts: &[GuardedText]) -> Result<Vec<bool>, String> {
        // The lock is held while the guard answers, so that trials at the same time do not ask about the same texts.
        let mut known = self.known.lock().await;
        let new: Vec<&GuardedText> = texts.iter().filter(|text| !known.contains_key(&key(text))).collect();
        let questions: Vec<GuardQuestion<'_>> =
            new.iter().map(|text| GuardQuestion { channel: text.channel.word(), text: &text.text }).collect();
        let answers =
            if questions.is_empty() { vec![] } else { self.client.inspect(&questions).await.map_err(|fault| fault.to_string())? };
        if known.len() > MAX_KNOWN {
            known.clear();
        }
        let answered: BTreeMap<ContentHash, bool> = new.iter().map(|text| key(text)).zip(answers).collect();
        let flags = texts.iter().map(|text| {
            let key = key(text);
            answered.get(&key).or_else(|| known.get(&key)).copied().ok_or_else(|| "the guard gave no answer".to_owned())
        });
        let flags = flags.collect();
        known.extend(answered);
        flags
    }
}
