//! Files of a workspace by their hash, so that a worker needs no copy of the folder.

use super::session::{QueueConnection, QueueSql};
use crate::StoreError;
use model::ContentHash;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Hashes of the files of a workspace by path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FileIndex(pub BTreeMap<String, String>);

impl FileIndex {
    /// Returns the index of files given as path and text.
    pub fn of<'f>(files: impl IntoIterator<Item = (&'f str, &'f str)>) -> Self {
        Self(files.into_iter().map(|(path, text)| (path.to_owned(), ContentHash::of_text(text).as_str().to_owned())).collect())
    }
}

/// Stores texts that are not there yet.
pub(super) fn keep_contents(sql: &QueueSql<'_>, texts: &[&str]) -> Result<(), StoreError> {
    for text in texts {
        let hash = ContentHash::of_text(text);
        sql.execute("INSERT INTO contents (hash, body) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING", &[&hash.as_str(), text])?;
    }
    Ok(())
}

impl QueueConnection {
    /// Returns the files of an index by path.
    ///
    /// # Errors
    /// If a file is missing or its text does not have its hash.
    pub fn read_files(&mut self, index: &FileIndex) -> Result<BTreeMap<String, String>, StoreError> {
        let hashes: Vec<&str> = index.0.values().map(String::as_str).collect();
        let found = self.transaction(|sql| {
            let rows = sql.query("SELECT hash, body FROM contents WHERE hash = ANY($1)", &[&hashes])?;
            rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect::<Result<BTreeMap<String, String>, StoreError>>()
        })?;
        let text = |(path, hash): (&String, &String)| match found.get(hash) {
            None => Err(StoreError::unreadable(path, &"its text is not in the store")),
            Some(text) if ContentHash::of_text(text).as_str() != hash => {
                Err(StoreError::unreadable(path, &"its text does not have its hash"))
            }
            Some(text) => Ok((path.clone(), text.clone())),
        };
        index.0.iter().map(text).collect()
    }
}
