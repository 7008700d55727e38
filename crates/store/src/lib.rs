//! What is kept: runs in SQLite.
