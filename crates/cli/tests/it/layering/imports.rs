//! Reads the modules of a crate and the paths each file uses.

use super::tokens::{RustToken, tokens};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A module by the names that lead to it from the root of its crate.
pub(super) type ModulePath = Vec<String>;

/// One source file of a crate.
#[derive(Debug, Default)]
pub(super) struct SourceFile {
    /// Path below `src`.
    pub(super) name: String,
    /// Files declared with `mod name;`.
    pub(super) children: BTreeSet<String>,
    /// Those of `children` that only tests compile.
    pub(super) test_children: BTreeSet<String>,
    /// Imported names with their paths.
    pub(super) names: BTreeMap<String, ModulePath>,
    /// Paths used in the file, as written, with the inline modules around each.
    pub(super) paths: Vec<UsedPath>,
}

#[derive(Debug)]
pub(super) struct UsedPath {
    pub(super) inside: Vec<String>,
    pub(super) path: ModulePath,
}

/// Reads all source files of a crate.
pub(super) fn read_crate(source: &Path) -> BTreeMap<ModulePath, SourceFile> {
    super::source_files(source)
        .into_iter()
        .map(|file| {
            let name = file.strip_prefix(source).expect("below src").to_string_lossy().replace('\\', "/");
            let text = fs::read_to_string(&file).expect("a source file");
            (module_of(&name), SourceFile { name, ..ImportReader::read(&text) })
        })
        .collect()
}

fn module_of(name: &str) -> ModulePath {
    let mut path: ModulePath = name.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if path.last().is_some_and(|last| last == "mod") || matches!(path.as_slice(), [only] if only == "lib" || only == "main") {
        path.pop();
    }
    path
}

/// Walks the tokens of one file.
struct ImportReader {
    tokens: Vec<RustToken>,
    at: usize,
    /// Inline modules around the current token, each with the depth of braces it opened at.
    inside: Vec<(String, usize)>,
    depth: usize,
    file: SourceFile,
}

impl ImportReader {
    fn read(text: &str) -> SourceFile {
        let mut reader = Self { tokens: tokens(text), at: 0, inside: vec![], depth: 0, file: SourceFile::default() };
        while reader.at < reader.tokens.len() {
            reader.step();
        }
        reader.file
    }

    fn step(&mut self) {
        if self.starts(&["#", "[", "cfg", "(", "test", ")", "]"]) {
            self.at += 7;
            return self.skip_test_item();
        }
        match &self.tokens[self.at] {
            RustToken::Mark('{') => self.depth += 1,
            RustToken::Mark('}') => {
                self.depth -= 1;
                self.inside.retain(|(_, opened)| *opened < self.depth + 1);
            }
            RustToken::Word(word) if word == "use" => return self.read_use(),
            RustToken::Word(word) if word == "mod" && !self.follows_path() => return self.read_mod(false),
            RustToken::Word(_) if !self.follows_path() => return self.read_path(),
            RustToken::Word(_) | RustToken::Path | RustToken::Mark(_) => {}
        }
        self.at += 1;
    }

    fn starts(&self, wanted: &[&str]) -> bool {
        wanted.iter().enumerate().all(|(n, wanted)| match self.tokens.get(self.at + n) {
            Some(RustToken::Word(word)) => word == wanted,
            Some(RustToken::Mark(mark)) => wanted.chars().eq([*mark]),
            Some(RustToken::Path) | None => false,
        })
    }

    fn follows_path(&self) -> bool {
        self.at > 0 && self.tokens[self.at - 1] == RustToken::Path
    }

    fn word(&self, at: usize) -> Option<String> {
        if let Some(RustToken::Word(word)) = self.tokens.get(at) { Some(word.clone()) } else { None }
    }

    /// Skips an item that only tests compile, to its `;` or closing brace; a file it declares is noted.
    fn skip_test_item(&mut self) {
        let mut depth = 0;
        loop {
            match self.tokens.get(self.at) {
                Some(RustToken::Mark('{')) => depth += 1,
                Some(RustToken::Mark('}')) if depth == 1 => break,
                Some(RustToken::Mark('}')) => depth -= 1,
                Some(RustToken::Mark(';')) if depth == 0 => break,
                Some(RustToken::Word(word)) if word == "mod" && depth == 0 => self.read_mod(true),
                Some(RustToken::Word(_) | RustToken::Path | RustToken::Mark(_)) => {}
                None => return,
            }
            self.at += 1;
        }
        self.at += 1;
    }

    /// Reads `mod name;` or `mod name {`. The caller finds the end of a test item.
    fn read_mod(&mut self, test: bool) {
        let Some(name) = self.word(self.at + 1) else { return self.at += 1 };
        if self.tokens.get(self.at + 2) == Some(&RustToken::Mark(';')) {
            if test {
                self.file.test_children.insert(name.clone());
            }
            self.file.children.insert(name);
        } else if !test {
            self.inside.push((name, self.depth + 1));
        }
        self.at += if test { 1 } else { 2 };
    }

    fn add_path(&mut self, path: ModulePath) {
        let inside = self.inside.iter().map(|(name, _)| name.clone()).collect();
        self.file.paths.push(UsedPath { inside, path });
    }

    /// Reads a path such as `a::b::c` in an expression or a type.
    fn read_path(&mut self) {
        let mut path = vec![];
        while let Some(word) = self.word(self.at) {
            path.push(word);
            self.at += 1;
            if self.tokens.get(self.at) != Some(&RustToken::Path) || self.word(self.at + 1).is_none() {
                break;
            }
            self.at += 1;
        }
        if path.len() > 1 {
            self.add_path(path);
        }
    }

    fn read_use(&mut self) {
        self.at += 1;
        if self.tokens.get(self.at) == Some(&RustToken::Path) {
            self.at += 1;
        }
        self.read_tree(&[]);
    }

    /// Reads one branch of a `use`: a path, a group, a glob or a renamed path.
    fn read_tree(&mut self, prefix: &[String]) {
        let mut path = prefix.to_vec();
        loop {
            match self.tokens.get(self.at).cloned() {
                Some(RustToken::Word(word)) if word == "as" => {
                    if let Some(name) = self.word(self.at + 1) {
                        self.file.names.insert(name, path.clone());
                    }
                    self.at += 2;
                    return self.add_path(path);
                }
                Some(RustToken::Word(word)) => {
                    // `a::{self}` is `a`.
                    if word != "self" || path.is_empty() {
                        path.push(word);
                    }
                    self.at += 1;
                    let (path_follows, renamed) = (self.tokens.get(self.at) == Some(&RustToken::Path), self.word(self.at).is_some());
                    if path_follows {
                        self.at += 1;
                    } else if !renamed {
                        if let Some(name) = path.last() {
                            self.file.names.insert(name.clone(), path.clone());
                        }
                        return self.add_path(path);
                    }
                }
                Some(RustToken::Mark('*')) => {
                    self.at += 1;
                    return self.add_path(path);
                }
                Some(RustToken::Mark('{')) => return self.read_group(&path),
                Some(RustToken::Path | RustToken::Mark(_)) | None => return,
            }
        }
    }

    fn read_group(&mut self, prefix: &[String]) {
        self.at += 1;
        loop {
            match self.tokens.get(self.at) {
                Some(RustToken::Mark('}')) => return self.at += 1,
                Some(RustToken::Mark(',')) => self.at += 1,
                Some(RustToken::Word(_) | RustToken::Path | RustToken::Mark(_)) => self.read_tree(prefix),
                None => return,
            }
        }
    }
}
