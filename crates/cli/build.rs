#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "a build script talks to cargo and the disk")]
//! Embeds the reference workspace: every file of `evals/` as a table of path and content.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../evals").canonicalize()?;
    println!("cargo:rerun-if-changed={}", root.display());
    let mut files = vec![];
    walk(&root, &root, &mut files)?;
    files.sort();
    let mut table = String::from("pub(crate) static FILES: &[(&str, &str)] = &[\n");
    for (name, path) in &files {
        writeln!(table, "    ({name:?}, include_str!({:?})),", path.display().to_string()).expect("writing to a string");
    }
    table.push_str("];\n");
    fs::write(Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("embedded.rs"), table)
}

fn walk(root: &Path, folder: &Path, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            println!("cargo:rerun-if-changed={}", path.display());
            walk(root, &path, files)?;
        } else {
            let name = path.strip_prefix(root).expect("below the root").to_string_lossy().replace('\\', "/");
            files.push((name, path));
        }
    }
    Ok(())
}
