//! Files that only their owner can read.

use std::path::Path;

/// Creates the file so that only its owner can read it: transcripts and replies are in it. SQLite gives its other files the same mode.
/// A failure is reported when SQLite opens the file.
pub(crate) fn create_private(path: &Path) {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let _existing = options.open(path);
}
