//! Program of a command: its file, the interpreter in its first line, and the installations that both belong to.

#![expect(clippy::disallowed_methods, reason = "the first line of a script names its interpreter")]

use super::breadth::TooBroad;
use super::system::is_system;
use crate::FileGrants;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Interpreters of interpreters that are followed, as in a script that runs a wrapper script.
const MAX_DEPTH: usize = 4;
/// Symbolic links that are followed.
const MAX_LINKS: usize = 16;

/// Adds the program and its interpreters. Returns the program if it is a script given by its path.
pub(super) fn add_program(
    grants: &mut FileGrants,
    program: &str,
    search_path: Option<&str>,
    broad: TooBroad<'_>,
) -> io::Result<Option<PathBuf>> {
    let mut script = None;
    let mut next = Some(program.to_owned());
    for depth in 0..MAX_DEPTH {
        let Some(name) = next.take() else { break };
        let Some(file) = find(&name, search_path) else {
            if depth == 0 {
                return Err(io::Error::new(io::ErrorKind::NotFound, "there is no such program, neither at this path nor in PATH"));
            }
            break;
        };
        for hop in links(&file) {
            add_installation(grants, &hop, broad);
            grants.files.push(hop);
        }
        next = interpreter(&file);
        if depth == 0 && next.is_some() && name.contains('/') {
            script = Some(file);
        }
    }
    Ok(script)
}

fn find(name: &str, search_path: Option<&str>) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| path.is_file());
    }
    std::env::split_paths(search_path?).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Returns the path and what it links to, step by step.
fn links(path: &Path) -> Vec<PathBuf> {
    let mut hops = vec![path.to_owned()];
    while hops.len() < MAX_LINKS
        && let Some(last) = hops.last()
        && let Ok(target) = last.read_link()
    {
        let target = last.parent().unwrap_or(Path::new("/")).join(target);
        hops.push(target);
    }
    hops.extend(path.canonicalize());
    hops
}

/// Adds the folder above `bin` if it looks like the installation of a runtime.
fn add_installation(grants: &mut FileGrants, program: &Path, broad: TooBroad<'_>) {
    let Some(folder) = program.parent() else { return };
    let holds_programs = folder.file_name().is_some_and(|name| ["bin", "sbin", "shims", "libexec"].iter().any(|known| name == *known));
    let Some(root) = folder.parent().filter(|_| holds_programs) else { return };
    let is_runtime = ["lib", "lib64", "libexec", "pyvenv.cfg"].iter().any(|part| root.join(part).exists());
    if is_runtime && !is_system(root) && !broad.holds(root) {
        grants.read.push(root.to_owned());
    }
}

/// Returns the interpreter in the first line of a script.
fn interpreter(file: &Path) -> Option<String> {
    let mut start = [0; 256];
    let count = File::open(file).ok()?.read(&mut start).ok()?;
    let text = String::from_utf8_lossy(&start[..count]);
    let line = text.strip_prefix("#!")?.lines().next()?;
    let mut words = line.split_whitespace();
    let program = words.next()?;
    if Path::new(program).file_name().is_some_and(|name| name == "env") {
        return words.find(|word| !word.starts_with('-') && !word.contains('=')).map(str::to_owned);
    }
    Some(program.to_owned())
}

#[cfg(test)]
mod tests {
    use super::interpreter;

    #[test]
    fn interpreter_is_read_from_the_first_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("script");
        for (text, expected) in [
            ("#!/bin/sh\necho", Some("/bin/sh")),
            ("#! /usr/bin/env -S A=1 node --x\n", Some("node")),
            ("#!/usr/bin/env python3", Some("python3")),
            ("echo", None),
            ("", None),
        ] {
            #[expect(clippy::disallowed_methods, reason = "a test writes its script")]
            std::fs::write(&file, text).unwrap();
            assert_eq!(interpreter(&file).as_deref(), expected, "{text}");
        }
    }
}
