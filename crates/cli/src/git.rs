//! Files of a folder at an earlier revision, read with the git program. Runs no hooks, filters or file-system monitors of the repository.

use crate::{env, files};
use model::{UserError, WorkspaceFiles};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Limits of what is read, as for folders.
const MAX_BYTES: u64 = 64 << 20;
const MAX_FILES: usize = 20_000;

/// Reads the files of a folder at the merge base of HEAD and a revision. Links, hidden files and recordings are left out.
///
/// # Errors
/// If there is no git, no repository, no such revision, or the folder is not part of it.
pub(crate) fn files_at(folder: &Path, revision: &str) -> Result<WorkspaceFiles, UserError> {
    // A name that begins with a dash would be read as an option.
    if revision.starts_with('-') {
        return Err(UserError::without_remedy(format!("\"{revision}\" is not a git revision")));
    }
    let unknown = |why: UserError| UserError::new(format!("no files of {} at \"{revision}\": {why}", folder.display()), REMEDY);
    let commit = git(folder, &["merge-base", "HEAD", revision]).map_err(unknown)?;
    let listed = git(folder, &["ls-tree", "-r", "-z", commit.trim()]).map_err(unknown)?;
    let blobs: Vec<(&str, &str)> = listed.split('\0').filter_map(parse_entry).collect();
    if blobs.is_empty() {
        return Err(unknown(UserError::without_remedy("the folder is not in that revision")));
    }
    if blobs.len() > MAX_FILES {
        return Err(unknown(UserError::without_remedy(format!("more than {MAX_FILES} files"))));
    }
    read_blobs(folder, &blobs).map_err(|error| unknown(UserError::caused_by(error)))
}

/// Returns the place of a folder in the repository of the working directory, such as `services/evals`; `None` if neither is in a repository.
///
/// # Errors
/// If git does not say, or the two are in different repositories.
pub(crate) fn repository_prefix(folder: &Path, working: &Path) -> Result<Option<String>, UserError> {
    let place = |folder: &Path| git(folder, &["rev-parse", "--show-toplevel", "--show-prefix"]);
    let (of_folder, of_working) = match (place(folder), place(working)) {
        (Ok(of_folder), Ok(of_working)) => (of_folder, of_working),
        (Err(_), Err(_)) if !files::is_in_repository(folder) && !files::is_in_repository(working) => return Ok(None),
        (Err(why), _) | (_, Err(why)) => return Err(why),
    };
    let (mut of_folder, mut of_working) = (of_folder.lines(), of_working.lines());
    if of_folder.next() != of_working.next() {
        return Err(UserError::without_remedy("the folder is in another repository"));
    }
    Ok(Some(of_folder.next().unwrap_or_default().trim_end_matches('/').to_owned()))
}

const REMEDY: &str = "name a git revision, a stored run or golden, as in --changed main";

/// Returns path and object of a regular file: `100644 blob OBJECT\tPATH`.
fn parse_entry(entry: &str) -> Option<(&str, &str)> {
    let (kind, path) = entry.split_once('\t')?;
    let object = kind.strip_prefix("100644 blob ").or_else(|| kind.strip_prefix("100755 blob "))?;
    let is_left_out = path.starts_with("cassettes/") || path.split('/').any(|part| part.starts_with('.'));
    (!is_left_out).then_some((path, object))
}

fn command(folder: &Path, args: &[&str]) -> Result<Command, UserError> {
    let program = env::find_program("git").ok_or_else(|| UserError::without_remedy("git is not installed"))?;
    let mut command = Command::new(program);
    command.arg("-C").arg(folder).args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]).args(args);
    command.env("GIT_OPTIONAL_LOCKS", "0").stderr(Stdio::piped()).stdout(Stdio::piped()).stdin(Stdio::null());
    Ok(command)
}

/// Runs git and returns what it prints.
fn git(folder: &Path, args: &[&str]) -> Result<String, UserError> {
    let output = command(folder, args)?.output().map_err(UserError::caused_by)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let why = said.lines().next().unwrap_or("git failed").trim_start_matches("fatal: ").chars().take(200).collect::<String>();
        return Err(UserError::without_remedy(why));
    }
    String::from_utf8(output.stdout).map_err(|_| UserError::without_remedy("a path is not text (UTF-8)"))
}

/// Reads objects with `git cat-file`, which applies no filters.
fn read_blobs(folder: &Path, blobs: &[(&str, &str)]) -> std::io::Result<WorkspaceFiles> {
    let mut command = command(folder, &["cat-file", "--batch"]).map_err(|why| std::io::Error::other(why.to_string()))?;
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let (Some(mut input), Some(output)) = (input, output) else { return Err(std::io::Error::other("git has no pipes")) };
    let objects: String = blobs.iter().map(|(_, object)| format!("{object}\n")).collect();
    // Both pipes are bounded, so that writing must not wait for reading.
    let writer = std::thread::spawn(move || input.write_all(objects.as_bytes()));
    let read = parse_batch(BufReader::new(output.take(MAX_BYTES)), blobs);
    drop(child.kill());
    child.wait()?;
    drop(writer.join());
    read
}

/// Parses `OBJECT blob SIZE\n` followed by the content and a line break, once per object.
fn parse_batch(mut output: impl BufRead, blobs: &[(&str, &str)]) -> std::io::Result<WorkspaceFiles> {
    let broken = || std::io::Error::other("git printed something else than the files");
    let mut files = WorkspaceFiles::default();
    for (path, object) in blobs {
        let mut header = String::new();
        output.read_line(&mut header)?;
        let size = header.trim_end().strip_prefix(*object).and_then(|rest| rest.strip_prefix(" blob ")).ok_or_else(broken)?;
        let size: u64 = size.parse().map_err(|_| broken())?;
        if size > MAX_BYTES {
            return Err(std::io::Error::other("the files are larger than the limit"));
        }
        let mut content = vec![];
        (&mut output).take(size + 1).read_to_end(&mut content)?;
        if content.len() as u64 != size + 1 {
            return Err(std::io::Error::other("the files are larger than the limit"));
        }
        content.pop();
        // A workspace has only text.
        if let Ok(text) = String::from_utf8(content) {
            files.insert(*path, text);
        }
    }
    Ok(files)
}

/// Returns the path that git prints within quotation marks, as it does for names that are not ASCII or have control characters, quotation
/// marks or backslashes; `None` if the escapes are not those of git, or the name is not UTF-8.
pub(crate) fn unquote_path(quoted: &str) -> Option<String> {
    let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
    let (mut name, mut rest) = (vec![], inner.bytes());
    while let Some(byte) = rest.next() {
        name.push(match byte {
            b'"' => return None,
            b'\\' => unescape(rest.next()?, &mut rest)?,
            plain => plain,
        });
    }
    String::from_utf8(name).ok()
}

/// Returns the byte of an escape as in C: a letter, the character itself, or three octal digits.
fn unescape(first: u8, rest: &mut std::str::Bytes<'_>) -> Option<u8> {
    Some(match first {
        b'"' | b'\\' => first,
        b'a' => 0x07,
        b'b' => 0x08,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 0x0b,
        b'f' => 0x0c,
        b'r' => b'\r',
        b'0'..=b'3' => {
            let digit = |byte: u8| matches!(byte, b'0'..=b'7').then(|| byte - b'0');
            (digit(first)? << 6) | (digit(rest.next()?)? << 3) | digit(rest.next()?)?
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_a_workspace_are_listed() {
        for (entry, expected) in [
            ("100644 blob abc\ttools/a.yaml", Some(("tools/a.yaml", "abc"))),
            ("100755 blob abc\tscorers/a.sh", Some(("scorers/a.sh", "abc"))),
            ("120000 blob abc\ttools/link.yaml", None),
            ("160000 commit abc\tmodule", None),
            ("100644 blob abc\t.hidden/a", None),
            ("100644 blob abc\tcassettes/a.jsonl", None),
            ("", None),
        ] {
            assert_eq!(parse_entry(entry), expected, "{entry}");
        }
    }

    #[test]
    fn prefix_is_that_of_the_folder_in_the_repository() {
        let outside = tempfile::tempdir().unwrap();
        let root = outside.path().join("repository");
        let folder = root.join("services/evals");
        std::fs::create_dir_all(&folder).unwrap();
        assert_eq!(repository_prefix(&folder, &root).unwrap(), None, "no repository");
        git(&root, &["init", "--quiet"]).unwrap();
        assert_eq!(repository_prefix(&folder, &root).unwrap().as_deref(), Some("services/evals"));
        assert_eq!(repository_prefix(&folder, &root.join("services")).unwrap().as_deref(), Some("services/evals"));
        assert_eq!(repository_prefix(&root, &folder).unwrap().as_deref(), Some(""));
        assert!(repository_prefix(&folder, outside.path()).is_err(), "outside of the repository");
        git(&folder, &["init", "--quiet"]).unwrap();
        assert!(repository_prefix(&folder, &root).is_err(), "a repository in the repository");
    }

    #[test]
    fn quoted_paths_are_those_that_git_prints() {
        let folder = tempfile::tempdir().unwrap();
        let name = "a\"b\\c\tö.yaml";
        std::fs::File::create(folder.path().join(name)).unwrap();
        git(folder.path(), &["init", "--quiet"]).unwrap();
        for quote in ["core.quotePath=true", "core.quotePath=false"] {
            let printed = git(folder.path(), &["-c", quote, "ls-files", "--others"]).unwrap();
            assert_eq!(unquote_path(printed.trim_end()).as_deref(), Some(name), "{printed}");
        }
        for wrong in ["a", "\"a", "\"a\\\"", "\"a\"b\"", "\"\\x41\"", "\"\\30\"", "\"\\777\"", "\"\\377\""] {
            assert_eq!(unquote_path(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn batches_are_parsed_strictly() {
        let blobs = [("a", "1f"), ("b", "2e")];
        let files = parse_batch("1f blob 3\nx\ny\n2e blob 0\n\n".as_bytes(), &blobs).unwrap();
        assert_eq!(files.iter().collect::<Vec<_>>(), [("a", "x\ny"), ("b", "")]);
        for broken in ["", "1f missing\n", "1f blob 99\nx\n", "1f blob x\n", "2e blob 1\nx\n", "1f blob 99999999999\n"] {
            assert!(parse_batch(broken.as_bytes(), &blobs).is_err(), "{broken}");
        }
    }
}
