//! Recordings on disk: one file of lines for each subject, read once and appended to.

#![expect(clippy::disallowed_methods, reason = "recordings are written while a run goes on, and read before it begins")]

use super::difference::Flat;
use super::tape::{Lines, Tape, TapeFault};
use crate::providers::talk::{Ask, Reply};
use model::Hash;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// More than a nightly of every case brings; a larger file is a mistake or an attack.
const MOST_BYTES: u64 = 512 << 20;

#[derive(Debug)]
pub struct FileTape {
    path: PathBuf,
    lines: Mutex<Lines>,
}

impl FileTape {
    /// The recordings of a subject below a folder, `evals/cassettes` as a rule. There may be none yet.
    pub fn open(folder: &Path, subject: &str) -> Result<Self, TapeFault> {
        let path = folder.join(plain(subject)).join("replies.jsonl");
        let mut lines = Lines::default();
        let text = read(&path).map_err(|error| TapeFault::File { path: path.display().to_string(), why: error.to_string() })?;
        lines.read(&text)?;
        Ok(Self { path, lines: Mutex::new(lines) })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Names of subjects may hold dots and colons; names of folders on every system may not.
fn plain(subject: &str) -> String {
    subject.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' }).collect()
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    match File::open(path) {
        Ok(file) => file.take(MOST_BYTES + 1).read_to_string(&mut text)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(text),
        Err(error) => return Err(error),
    };
    if text.len() as u64 > MOST_BYTES {
        return Err(io::Error::other(format!("more than {} MB", MOST_BYTES >> 20)));
    }
    // A process that was killed while writing leaves half a line; what it belonged to was not answered yet.
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    if whole < text.len() {
        OpenOptions::new().write(true).open(path)?.set_len(whole as u64)?;
        text.truncate(whole);
    }
    Ok(text)
}

fn append(path: &Path, lines: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    // In one go, so that two processes do not write into each other's lines.
    OpenOptions::new().create(true).append(true).open(path)?.write_all(lines.as_bytes())
}

impl Tape for FileTape {
    fn find(&self, key: &Hash) -> Result<Option<Reply>, TapeFault> {
        Ok(self.lock().find(key).cloned())
    }

    fn keep(&self, ask: &Ask, reply: &Reply) -> Result<(), TapeFault> {
        let mut lines = self.lock();
        let more = lines.add(ask, reply)?;
        append(&self.path, &more).map_err(|error| TapeFault::File { path: self.path.display().to_string(), why: error.to_string() })
    }

    fn recorded(&self) -> Vec<Flat> {
        self.lock().flat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::example;

    #[test]
    fn what_one_process_records_the_next_one_finds_and_half_a_line_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let tape = FileTape::open(folder.path(), "openai:some/model").unwrap();
        tape.keep(&example::ask("a"), &example::reply("one")).unwrap();
        assert_eq!(tape.path(), folder.path().join("openai_some_model").join("replies.jsonl"));
        append(tape.path(), "{\"part\": \"half of a li").unwrap();
        let again = FileTape::open(folder.path(), "openai:some/model").unwrap();
        assert_eq!(again.find(example::ask("a").key()).unwrap().unwrap().text(), "one");
        again.keep(&example::ask("b"), &example::reply("two")).unwrap();
        let third = FileTape::open(folder.path(), "openai:some/model").unwrap();
        assert_eq!((third.recorded().len(), third.find(example::ask("c").key()).unwrap()), (2, None));
    }

    #[test]
    fn a_file_that_is_no_recording_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("x")).unwrap();
        fs::write(folder.path().join("x/replies.jsonl"), "nonsense\n").unwrap();
        assert!(matches!(FileTape::open(folder.path(), "x"), Err(TapeFault::Line { line: 1, .. })));
    }
}
