//! Files that a command of a workspace names: its program and the script of a known interpreter.

use std::path::Path;

/// Programs whose first word is a script, without the number of their version.
const INTERPRETERS: [&str; 14] =
    ["python", "pypy", "node", "nodejs", "bun", "tsx", "ts-node", "sh", "bash", "dash", "zsh", "ruby", "perl", "php"];
/// Endings of scripts.
const SCRIPTS: [&str; 9] = [".py", ".js", ".mjs", ".cjs", ".ts", ".sh", ".rb", ".pl", ".php"];

/// Returns the paths that a command runs. A program without a slash is one of PATH; other words may be for another machine or another folder.
pub(super) fn named_files(command: &[String]) -> impl Iterator<Item = &str> {
    let program = command.first().map(String::as_str).filter(|word| word.contains('/'));
    let script = command.get(1).map(String::as_str).filter(|word| is_interpreter(&command[0]) && is_script(word));
    program.into_iter().chain(script).filter(|word| !word.starts_with('-') && !word.contains("://") && !word.contains(char::is_whitespace))
}

fn is_interpreter(program: &str) -> bool {
    let name = Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let name = name.strip_suffix(".exe").unwrap_or(name).trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    INTERPRETERS.contains(&name)
}

fn is_script(word: &str) -> bool {
    SCRIPTS.iter().any(|end| word.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(command: &[&str]) -> Vec<String> {
        let words: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
        named_files(&words).map(str::to_owned).collect()
    }

    #[test]
    fn program_and_script_are_files() {
        assert_eq!(named(&["python3", "scorers/tone.py", "--words", "60"]), ["scorers/tone.py"]);
        assert_eq!(named(&["python3.12", "tone.py"]), ["tone.py"]);
        assert_eq!(named(&["./scorers/tone", "--format", "text/plain"]), ["./scorers/tone"]);
        assert_eq!(named(&["venv/bin/python", "tone.py"]), ["venv/bin/python", "tone.py"]);
    }

    #[test]
    fn other_words_are_not_files_of_the_workspace() {
        for command in [
            &["uvx", "tone"][..],
            &["python3", "-c", "import a", "/opt/tone.py"],
            &["bash", "-c", "cd lib && python3 tone.py"],
            &["sh", "cd lib; ./tone.sh"],
            &["docker", "run", "scorers", "python3", "/app/tone.py"],
            &["docker", "run", "scorers", "tone.py"],
            &["uv", "run", "tone.py"],
            &["npx", "tone.js"],
            &["grade", "report.py"],
            &["deno", "https://example.com/tone.ts"],
            &[],
        ] {
            assert!(named(command).is_empty(), "{command:?}");
        }
    }
}
