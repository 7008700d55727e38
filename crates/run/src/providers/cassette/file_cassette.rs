//! Cassette on disk: one JSON Lines file per subject, read once and appended to.

#![expect(clippy::disallowed_methods, reason = "recordings are small synchronous appends; the file is read before the run")]

use super::cassette_store::{CassetteFault, CassetteLines, CassetteStore};
use super::request_diff::FlatRequest;
use crate::providers::chat::{ModelCall, ModelReply};
use model::ContentHash;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum file size, larger than a nightly run of every case needs.
const MAX_BYTES: u64 = 512 << 20;

#[derive(Debug)]
pub struct FileCassette {
    path: PathBuf,
    lines: Mutex<CassetteLines>,
}

/// Reports whether a subject has recordings in this folder.
pub fn has_recordings(folder: &Path, subject: &str) -> bool {
    folder.join(folder_name(subject)).join("replies.jsonl").is_file()
}

impl FileCassette {
    /// Opens the cassette of a subject below a folder, usually `evals/cassettes`. The file may not exist yet.
    ///
    /// # Errors
    /// Fails if the file cannot be read or has an invalid line.
    pub fn open(folder: &Path, subject: &str) -> Result<Self, CassetteFault> {
        let path = folder.join(folder_name(subject)).join("replies.jsonl");
        let mut lines = CassetteLines::default();
        let text =
            read_complete_lines(&path).map_err(|error| CassetteFault::File { path: path.display().to_string(), why: error.to_string() })?;
        lines.read(&text).map_err(|fault| in_file(&path, fault))?;
        Ok(Self { path, lines: Mutex::new(lines) })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    fn lock(&self) -> MutexGuard<'_, CassetteLines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a folder name that is valid on every system; subject names may contain dots, colons and slashes.
fn folder_name(subject: &str) -> String {
    subject.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' }).collect()
}

/// Names the file of a broken line.
fn in_file(path: &Path, fault: CassetteFault) -> CassetteFault {
    match fault {
        CassetteFault::Line { line, why } => CassetteFault::File { path: path.display().to_string(), why: format!("line {line}: {why}") },
        CassetteFault::Secret | CassetteFault::Write(_) | CassetteFault::File { .. } => fault,
    }
}

fn read_complete_lines(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    // A pipe would never end, and what is recorded must not be appended to the target of a link.
    if std::fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(io::Error::other("not a regular file"));
    }
    match File::open(path) {
        Ok(file) => file.take(MAX_BYTES + 1).read_to_string(&mut text)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(text),
        Err(error) => return Err(error),
    };
    if text.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("larger than {} MB", MAX_BYTES >> 20)));
    }
    // A process killed while writing leaves a torn last line. Drop it; its reply was not used yet.
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    if whole < text.len() {
        OpenOptions::new().write(true).open(path)?.set_len(whole as u64)?;
        text.truncate(whole);
    }
    Ok(text)
}

fn append_lines(path: &Path, lines: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    // One write, so that lines of two processes do not interleave.
    OpenOptions::new().create(true).append(true).open(path)?.write_all(lines.as_bytes())
}

impl CassetteStore for FileCassette {
    fn find(&self, key: &ContentHash) -> Result<Option<ModelReply>, CassetteFault> {
        Ok(self.lock().find(key).cloned())
    }

    fn save(&self, ask: &ModelCall, reply: &ModelReply) -> Result<(), CassetteFault> {
        let mut lines = self.lock();
        let more = lines.add(ask, reply)?;
        append_lines(&self.path, &more)
            .map_err(|error| CassetteFault::File { path: self.path.display().to_string(), why: error.to_string() })
    }

    fn nearest_request(&self, missing: &ModelCall) -> Option<FlatRequest> {
        self.lock().nearest_request(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::fixtures;

    #[test]
    fn broken_line_is_named_with_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let tape = FileCassette::open(folder.path(), "model").unwrap();
        append_lines(tape.path(), "\n{}\n").unwrap();
        let fault = FileCassette::open(folder.path(), "model").unwrap_err().to_string();
        assert!(fault.starts_with(&format!("cannot use the recording {}: line 2: ", tape.path().display())), "{fault}");
    }

    #[test]
    fn reopened_cassette_keeps_replies_and_drops_a_torn_line() {
        let folder = tempfile::tempdir().unwrap();
        let tape = FileCassette::open(folder.path(), "openai:some/model").unwrap();
        tape.save(&fixtures::model_call("a"), &fixtures::reply("one")).unwrap();
        assert_eq!(tape.path(), folder.path().join("openai_some_model").join("replies.jsonl"));
        append_lines(tape.path(), "{\"part\": \"half of a li").unwrap();
        let again = FileCassette::open(folder.path(), "openai:some/model").unwrap();
        assert_eq!(again.find(fixtures::model_call("a").key()).unwrap().unwrap().text(), "one");
        again.save(&fixtures::model_call("b"), &fixtures::reply("two")).unwrap();
        let third = FileCassette::open(folder.path(), "openai:some/model").unwrap();
        assert_eq!(third.find(fixtures::model_call("c").key()).unwrap(), None);
        assert_eq!(third.lock().len(), 2);
    }

    #[test]
    fn open_rejects_a_file_that_is_not_a_cassette() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("x")).unwrap();
        fs::write(folder.path().join("x/replies.jsonl"), "nonsense\n").unwrap();
        let Err(CassetteFault::File { path, why }) = FileCassette::open(folder.path(), "x") else { panic!("it was read") };
        assert!(path.ends_with("x/replies.jsonl") && why.starts_with("line 1: "), "{path}: {why}");
    }
}
