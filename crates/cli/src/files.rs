//! File access, the only one of the crate. Reads are bounded, since workspaces are a few megabytes of text.

#![expect(clippy::disallowed_methods, reason = "only this module reads and writes files")]

use model::{Location, Problem, WorkspaceFiles};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

const MAX_FILE_BYTES: u64 = 4 << 20;
const MAX_TOTAL_BYTES: u64 = 64 << 20;
const MAX_FILES: usize = 20_000;
const MAX_DEPTH: usize = 12;

/// Reads all files of a workspace folder.
///
/// # Errors
/// One problem for each path that cannot be read; none is skipped silently.
pub(crate) fn read_folder(root: &Path) -> Result<WorkspaceFiles, Vec<Problem>> {
    read_folder_without(root, &[])
}

/// Reads a folder as [`read_folder`] does, but without these folders in it.
pub(crate) fn read_folder_without(root: &Path, left_out: &[&str]) -> Result<WorkspaceFiles, Vec<Problem>> {
    let mut reading = FolderReader { root, left_out, files: WorkspaceFiles::default(), count: 0, bytes: 0, problems: vec![] };
    match fs::metadata(root) {
        Ok(found) if found.is_dir() => reading.visit_folder(root, 0),
        Ok(_) => reading.add_problem(root, "this is not a folder", "give the folder of a workspace"),
        Err(error) => reading.add_problem(root, &format!("cannot be read: {}", error_text(&error)), "check the path and its permissions"),
    }
    if reading.problems.is_empty() { Ok(reading.files) } else { Err(reading.problems) }
}

struct FolderReader<'r> {
    root: &'r Path,
    left_out: &'r [&'r str],
    files: WorkspaceFiles,
    count: usize,
    bytes: u64,
    problems: Vec<Problem>,
}

impl FolderReader<'_> {
    fn add_problem(&mut self, path: &Path, what: &str, remedy: &str) {
        let name = path.strip_prefix(self.root).ok().filter(|name| !name.as_os_str().is_empty()).unwrap_or(Path::new("."));
        self.problems.push(Problem { at: Location::new(with_forward_slashes(name), 0), what: what.to_owned(), remedy: remedy.to_owned() });
    }

    fn visit_folder(&mut self, folder: &Path, depth: usize) {
        if depth > MAX_DEPTH {
            return self.add_problem(folder, &format!("folders are nested more than {MAX_DEPTH} deep"), "flatten them");
        }
        let entries = match fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>) {
            Ok(entries) => entries,
            Err(error) => return self.add_problem(folder, &format!("cannot be read: {}", error_text(&error)), "check its permissions"),
        };
        let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            // Links are not followed: they could lead out of the workspace or in circles.
            match fs::symlink_metadata(&path) {
                _ if hidden => {}
                // Recordings are large and are read only for replay.
                Ok(found) if found.is_dir() && path == self.root.join("cassettes") => {}
                Ok(found) if found.is_dir() && self.left_out.iter().any(|folder| path == self.root.join(folder)) => {}
                Ok(found) if found.is_dir() => self.visit_folder(&path, depth + 1),
                Ok(found) if found.is_file() => self.visit_file(&path, found.len()),
                Ok(_) => self.add_problem(&path, "this is neither a file nor a folder", "remove it; links are not followed"),
                Err(error) => self.add_problem(&path, &format!("cannot be read: {}", error_text(&error)), "check its permissions"),
            }
        }
    }

    fn visit_file(&mut self, path: &Path, length: u64) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(length);
        if length > MAX_FILE_BYTES {
            return self.add_problem(
                path,
                &format!("the file has {length} bytes, more than the limit of {MAX_FILE_BYTES}"),
                "split it into several files",
            );
        }
        if self.count == MAX_FILES || (self.bytes > MAX_TOTAL_BYTES && self.bytes - length <= MAX_TOTAL_BYTES) {
            let what = format!("the workspace is larger than {MAX_FILES} files or {MAX_TOTAL_BYTES} bytes");
            return self.add_problem(path, &what, "is this the right folder?");
        }
        if self.count > MAX_FILES || self.bytes > MAX_TOTAL_BYTES {
            return;
        }
        match read_bounded(path) {
            Ok(Some(text)) => self.files.insert(with_forward_slashes(path.strip_prefix(self.root).unwrap_or(path)), text),
            Ok(None) => self.add_problem(path, "the file is not text (UTF-8)", "remove it or convert it"),
            Err(error) => self.add_problem(path, &format!("cannot be read: {}", error_text(&error)), "check its permissions"),
        }
    }
}

/// Reads a file up to the limit, since it may grow while being read. Returns `None` if it is not UTF-8 text.
fn read_bounded(path: &Path) -> io::Result<Option<String>> {
    let mut bytes = vec![];
    fs::File::open(path)?.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(io::Error::other("the file grew past the limit while being read"));
    }
    Ok(String::from_utf8(bytes).ok().filter(|text| !text.contains('\0')))
}

/// Largest result file of promptfoo: 5 KB a test.
const MAX_RESULT_BYTES: u64 = 1 << 30;

/// Reads a result file of promptfoo.
pub(crate) fn read_results(path: &Path) -> io::Result<String> {
    read_limited(path, MAX_RESULT_BYTES)
}

fn read_limited(path: &Path, limit: u64) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = vec![];
    fs::File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::other(format!("it has more than {limit} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8 text"))
}

/// Largest file of tests of a promptfoo config.
const MAX_TESTS_BYTES: u64 = 64 << 20;

/// Reads a text file of a promptfoo config, which may hold many tests.
pub(crate) fn read_tests(path: &Path) -> io::Result<String> {
    read_limited(path, MAX_TESTS_BYTES)
}

/// Returns the files below a folder that a pattern with `*`, `?` and `**` matches, sorted, as paths from that folder.
pub(crate) fn matching_files(folder: &Path, pattern: &str) -> Vec<String> {
    let parts: Vec<&str> = pattern.trim_start_matches("./").split('/').filter(|part| !part.is_empty()).collect();
    let start = if pattern.starts_with('/') { PathBuf::from("/") } else { folder.to_owned() };
    let mut found = vec![];
    if add_matches(&start, &parts, 0, &mut found).is_err() {
        return vec![];
    }
    found.iter().map(|path| with_forward_slashes(path.strip_prefix(folder).unwrap_or(path))).collect()
}

/// Creates a file and its folder, for a text that is written piece by piece while a run goes on.
pub(crate) fn create(path: &Path) -> io::Result<io::BufWriter<fs::File>> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::File::create(path).map(io::BufWriter::new)
}

/// Reads a text file named on the command line.
pub(crate) fn read_file(path: &Path) -> io::Result<String> {
    // Reading a pipe could block forever.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    read_bounded(path)?.ok_or_else(|| io::Error::other("not UTF-8 text"))
}

/// Reads a file with secrets; `None` if it cannot be read, or other users of the system can read it too.
pub(crate) fn read_private(path: &Path) -> Option<String> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if fs::metadata(path).ok()?.permissions().mode() & 0o077 != 0 {
            return None;
        }
    }
    read_file(path).ok()
}

fn with_forward_slashes(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

fn error_text(error: &io::Error) -> String {
    let kind = error.kind();
    if kind == io::ErrorKind::NotFound {
        "it does not exist".into()
    } else if kind == io::ErrorKind::PermissionDenied {
        "permission denied".into()
    } else {
        error.to_string()
    }
}

/// Writes files below a folder, creating missing folders, and returns their number.
pub(crate) fn write_folder<'f>(root: &Path, files: impl IntoIterator<Item = (&'f str, &'f str)>) -> io::Result<usize> {
    let mut written = 0;
    for (name, text) in files {
        write(&root.join(name), text)?;
        written += 1;
    }
    Ok(written)
}

/// Writes a new file that only its owner can read.
pub(crate) fn write_private(path: &Path, text: &str) -> io::Result<()> {
    remove_if_exists(path)?;
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}

/// Writes a text. A regular file is replaced in one step, so that readers never see a part of it and a failure leaves it as it was; a link
/// stays and its target is replaced. A device, pipe or open descriptor is written to as it is.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    write_streamed(path, |out| out.write_all(text.as_bytes()))
}

/// Like [`write()`], with a text that is written piece by piece.
pub(crate) fn write_streamed(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    match write_target(path)? {
        WriteTarget::Stream(out) => {
            let mut out = io::BufWriter::new(out);
            write(&mut out).and_then(|()| out.flush())
        }
        WriteTarget::File { path, permissions } => replace(&path, permissions, write),
    }
}

/// Target of a result that is written.
enum WriteTarget {
    /// Device, pipe or open descriptor.
    Stream(Box<dyn Write>),
    /// Regular file, or one that does not exist yet.
    File { path: PathBuf, permissions: Option<fs::Permissions> },
}

/// Links that are followed to a file that does not exist yet.
const MAX_LINKS: usize = 40;

fn write_target(path: &Path) -> io::Result<WriteTarget> {
    if let Some(stream) = open_descriptor(path) {
        return stream.map(WriteTarget::Stream);
    }
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut path = path.to_owned();
            for _ in 0..MAX_LINKS {
                let Ok(target) = fs::read_link(&path) else { break };
                path = path.parent().unwrap_or(Path::new("")).join(target);
            }
            return Ok(WriteTarget::File { path, permissions: None });
        }
        Err(error) => return Err(error),
    };
    if found.is_file() {
        return Ok(WriteTarget::File { path: fs::canonicalize(path)?, permissions: Some(found.permissions()) });
    }
    if found.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    Ok(WriteTarget::Stream(Box::new(fs::OpenOptions::new().write(true).open(path)?)))
}

/// Opens a descriptor of this process, such as `/dev/stdout`. It may be a regular file that a shell goes on writing to, so the file is
/// appended to and not replaced.
fn open_descriptor(path: &Path) -> Option<io::Result<Box<dyn Write>>> {
    let name = path.to_str()?;
    let number = match name {
        "/dev/stdout" => "1",
        "/dev/stderr" => "2",
        _ => name.strip_prefix("/dev/fd/").or_else(|| name.strip_prefix("/proc/self/fd/"))?,
    };
    Some(match number {
        "1" => Ok(Box::new(io::stdout())),
        "2" => Ok(Box::new(io::stderr())),
        _ => fs::OpenOptions::new().append(true).open(path).map(|file| Box::new(file) as Box<dyn Write>),
    })
}

/// Writes a temporary file beside the path and renames it.
fn replace(path: &Path, permissions: Option<fs::Permissions>, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (draft, file) = create_draft(folder, &name)?;
    let mut file = io::BufWriter::new(file);
    let written = write(&mut file)
        .and_then(|()| file.flush())
        .and_then(|()| permissions.map_or(Ok(()), |permissions| file.get_ref().set_permissions(permissions)))
        .and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // A failure to remove the temporary file must not hide the first error.
        drop(fs::remove_file(&draft));
    }
    written
}

/// Drafts of one file that killed processes may have left behind.
const MAX_DRAFTS: u32 = 100;

/// Creates a file that did not exist. Process ids repeat in containers, so a draft of a killed process may have the same one.
fn create_draft(folder: &Path, name: &str) -> io::Result<(PathBuf, fs::File)> {
    let mut n = 0;
    loop {
        let draft = folder.join(format!(".{name}.{}.{n}", std::process::id()));
        match fs::OpenOptions::new().write(true).create_new(true).open(&draft) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && n < MAX_DRAFTS => n += 1,
            Err(error) => return Err(error),
            Ok(file) => return Ok((draft, file)),
        }
    }
}

/// Removes a file; one that does not exist is no error.
pub(crate) fn remove_if_exists(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Reads a text file; returns `None` if it does not exist.
pub(crate) fn read_if_exists(path: &Path) -> io::Result<Option<String>> {
    if !path.exists() {
        return Ok(None);
    }
    read_bounded(path)?.map(Some).ok_or_else(|| io::Error::other("not UTF-8 text"))
}

/// Opens a file for appending, creating it and its folder if missing.
pub(crate) fn open_append(path: &Path) -> io::Result<Box<dyn Write + Send>> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    Ok(Box::new(fs::OpenOptions::new().create(true).append(true).open(path)?))
}

/// File that is written line by line, each in one piece and without a buffer.
#[derive(Debug)]
pub(crate) struct LineFile(fs::File);

/// Creates a file of lines, replacing one of that name, and its folder if missing.
pub(crate) fn create_lines(path: &Path) -> io::Result<LineFile> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::File::create(path).map(LineFile)
}

impl LineFile {
    pub(crate) fn append(&mut self, line: &str) -> io::Result<()> {
        self.0.write_all(format!("{line}\n").as_bytes())
    }
}

/// Buffer of a log that is read.
const LOG_BUFFER: usize = 1 << 20;
/// Most files of logs.
const MAX_LOGS: usize = 1_000_000;
/// Names of logs in a folder.
const LOG_ENDINGS: &[&str] = &["json", "jsonl", "ndjson", "eval"];

/// Opens a log of any size.
pub(crate) fn open_log(path: &Path) -> io::Result<io::BufReader<fs::File>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    Ok(io::BufReader::with_capacity(LOG_BUFFER, fs::File::open(path)?))
}

/// Returns whether a folder is below one with `.git`.
pub(crate) fn is_in_repository(folder: &Path) -> bool {
    fs::canonicalize(folder).is_ok_and(|folder| folder.ancestors().any(|above| above.join(".git").exists()))
}

/// Returns the path of a file without links, by which two names of one file are the same.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

pub(crate) fn file_size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |found| found.len())
}

/// Returns the logs that a path names: a file, all logs in a folder and its folders, or what a pattern with `*`, `?` and `**` matches, sorted.
///
/// # Errors
/// If there is none or too many, or a folder cannot be read or is nested too deep.
pub(crate) fn find_logs(path: &str) -> io::Result<Vec<PathBuf>> {
    let mut found = vec![];
    if !path.contains(['*', '?']) || Path::new(path).exists() {
        let named = Path::new(path);
        if fs::metadata(named)?.is_dir() {
            add_logs(named, 0, &mut found)?;
        } else {
            found.push(named.to_owned());
        }
    } else {
        let start = if path.starts_with('/') { PathBuf::from("/") } else { PathBuf::new() };
        let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        parts.dedup_by(|part, before| *part == "**" && *before == "**");
        add_matches(&start, &parts, 0, &mut found)?;
    }
    if found.is_empty() { Err(io::Error::new(io::ErrorKind::NotFound, "no logs were found")) } else { Ok(found) }
}

fn sorted_entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    paths.sort();
    Ok(paths)
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

fn add_logs(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for path in sorted_entries(folder)?.into_iter().filter(|path| !is_hidden(path)) {
        // Links are not followed: they could lead in circles.
        let kind = fs::symlink_metadata(&path)?;
        let is_log = path.extension().is_some_and(|ending| LOG_ENDINGS.contains(&ending.to_string_lossy().as_ref()));
        if kind.is_dir() {
            check_depth(&path, depth)?;
            add_logs(&path, depth + 1, found)?;
        } else if kind.is_file() && is_log {
            add_log(path, found)?;
        }
    }
    Ok(())
}

fn add_log(path: PathBuf, found: &mut Vec<PathBuf>) -> io::Result<()> {
    if found.len() >= MAX_LOGS {
        return Err(io::Error::other(format!("more than {MAX_LOGS} logs")));
    }
    found.push(path);
    Ok(())
}

/// Fails if a folder below `depth` others is too deep to look into.
fn check_depth(folder: &Path, depth: usize) -> io::Result<()> {
    if depth < MAX_DEPTH {
        return Ok(());
    }
    Err(io::Error::other(format!("folders are nested more than {MAX_DEPTH} deep, at {}", folder.display())))
}

fn add_matches(folder: &Path, parts: &[&str], depth: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let Some((first, rest)) = parts.split_first() else { return Ok(()) };
    if !first.contains(['*', '?']) {
        let next = folder.join(first);
        return match rest.is_empty() {
            true if next.is_file() => add_log(next, found),
            false if next.is_dir() => add_matches(&next, rest, depth, found),
            true | false => Ok(()),
        };
    }
    let any_depth = *first == "**";
    if any_depth {
        add_matches(folder, rest, depth, found)?;
    }
    for path in sorted_entries(folder)?.into_iter().filter(|path| !is_hidden(path)) {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let kind = fs::symlink_metadata(&path)?;
        if any_depth {
            if kind.is_dir() {
                check_depth(&path, depth)?;
                add_matches(&path, parts, depth + 1, found)?;
            }
        } else if campaign::glob_match(first, &name) {
            if rest.is_empty() && kind.is_file() {
                add_log(path, found)?;
            } else if kind.is_dir() {
                add_matches(&path, rest, depth, found)?;
            }
        }
    }
    Ok(())
}

/// Folder in the temporary folder that is locked while its process lives, and removed at its end. Folders of killed processes are removed by
/// the next one that makes a folder with the same prefix.
#[derive(Debug)]
pub(crate) struct LockedFolder {
    folder: tempfile::TempDir,
    _lock: fs::File,
}

/// Name of the locked file in a folder.
const FOLDER_LOCK: &str = "lock";
/// Attempts to make a folder. An attempt fails only if another process takes the new folder for that of a killed one.
const FOLDER_ATTEMPTS: usize = 5;

impl LockedFolder {
    /// Makes a folder that other users of the machine cannot read.
    pub(crate) fn create(prefix: &str) -> io::Result<Self> {
        Self::create_in(&std::env::temp_dir(), prefix)
    }

    fn create_in(parent: &Path, prefix: &str) -> io::Result<Self> {
        remove_unlocked(parent, prefix);
        let mut builder = tempfile::Builder::new();
        builder.prefix(prefix);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        for _ in 0..FOLDER_ATTEMPTS {
            let folder = builder.tempdir_in(parent)?;
            let path = folder.path().join(FOLDER_LOCK);
            let lock = fs::File::create(&path)?;
            lock.lock()?;
            if path.exists() {
                return Ok(Self { folder, _lock: lock });
            }
        }
        Err(io::Error::other("a temporary folder was removed by another process"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes the folders whose process has ended. Folders without a lock are about to get one, or are of others.
fn remove_unlocked(parent: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_folder || !entry.file_name().to_string_lossy().starts_with(prefix) {
            continue;
        }
        let Ok(lock) = fs::OpenOptions::new().write(true).open(entry.path().join(FOLDER_LOCK)) else { continue };
        if lock.try_lock().is_ok() {
            // A folder that cannot be removed is tried again by the next process.
            drop(fs::remove_dir_all(entry.path()));
        }
    }
}

pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

pub(crate) fn exists(path: &Path) -> bool {
    path.exists()
}

pub(crate) fn is_folder(path: &Path) -> bool {
    path.is_dir()
}

/// Returns true if a folder does not exist or is empty.
pub(crate) fn is_empty(path: &Path) -> bool {
    fs::read_dir(path).map_or(!path.exists(), |mut entries| entries.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_in_too_deep_folders_are_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let nested = |depth: usize| (0..depth).fold(folder.path().to_owned(), |path, _| path.join("d"));
        fs::create_dir_all(nested(MAX_DEPTH)).unwrap();
        fs::write(nested(MAX_DEPTH).join("a.json"), "{}").unwrap();
        let patterns = ["", "/**", "/**/*.json"].map(|end| format!("{}{end}", folder.path().display()));
        for pattern in [&patterns[0], &patterns[2]] {
            assert_eq!(find_logs(pattern).unwrap(), [nested(MAX_DEPTH).join("a.json")], "{pattern}");
        }
        fs::create_dir(nested(MAX_DEPTH + 1)).unwrap();
        for pattern in &patterns {
            assert!(find_logs(pattern).unwrap_err().to_string().contains("nested more than 12 deep, at "), "{pattern}");
        }
    }

    #[test]
    fn too_many_logs_are_an_error() {
        let mut found = vec![PathBuf::new(); MAX_LOGS - 1];
        add_log("a.json".into(), &mut found).unwrap();
        assert_eq!(add_log("b.json".into(), &mut found).unwrap_err().to_string(), "more than 1000000 logs");
    }

    #[test]
    fn folders_of_ended_processes_are_removed_and_locked_ones_stay() {
        let parent = tempfile::tempdir().unwrap();
        let live = LockedFolder::create_in(parent.path(), "work.").unwrap();
        let dead = parent.path().join("work.dead");
        fs::create_dir_all(dead.join("evals")).unwrap();
        fs::write(dead.join("evals/secret.yaml"), "x").unwrap();
        fs::write(dead.join(FOLDER_LOCK), "").unwrap();
        for other in ["work.unlocked", "other.dead"] {
            fs::create_dir(parent.path().join(other)).unwrap();
        }
        fs::write(parent.path().join("other.dead").join(FOLDER_LOCK), "").unwrap();
        let second = LockedFolder::create_in(parent.path(), "work.").unwrap();
        assert!(!dead.exists());
        assert!(live.path().exists() && second.path().exists());
        assert!(parent.path().join("work.unlocked").exists() && parent.path().join("other.dead").exists());
        let path = second.path().to_owned();
        drop(second);
        assert!(!path.exists());
    }
}
