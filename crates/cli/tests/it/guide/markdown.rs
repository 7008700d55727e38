//! Reads the commands and files of a Markdown page.
//!
//! A comment before a block says what to do with it: `<!-- not run: REASON -->`, `<!-- file: PATH -->` or `<!-- appended to: PATH -->`.

/// Languages of blocks with commands.
const SHELLS: &[&str] = &["sh", "bash", "shell", "console"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PageStep {
    /// Command with the exit code that its comment states; 0 without a statement.
    Command { line: usize, text: String, exit: i32 },
    /// Text that the reader puts into a file.
    File { line: usize, path: String, text: String, is_appended: bool },
    /// Commands that the test does not run.
    NotRun { line: usize, commands: Vec<String>, reason: String },
}

/// Returns the steps of a page in order.
pub(super) fn page_steps(page: &str) -> Vec<PageStep> {
    let (mut steps, mut note) = (vec![], None);
    let mut lines = page.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let line = line.trim();
        if let Some(language) = line.strip_prefix("```") {
            let inside: Vec<(usize, &str)> = lines.by_ref().take_while(|(_, line)| !line.trim().starts_with("```")).collect();
            steps.extend(block_steps(at + 1, language.trim(), &inside, note.take()));
        } else if let Some(comment) = line.strip_prefix("<!--").and_then(|rest| rest.strip_suffix("-->")) {
            note = Some(comment.trim().to_owned());
        } else if !line.is_empty() {
            note = None;
        }
    }
    steps
}

fn block_steps(line: usize, language: &str, inside: &[(usize, &str)], note: Option<String>) -> Vec<PageStep> {
    let note = note.as_deref();
    if let Some((kind, path)) = note.and_then(|note| note.split_once(": ")).filter(|(kind, _)| matches!(*kind, "file" | "appended to")) {
        let text: String = inside.iter().map(|(_, line)| format!("{line}\n")).collect();
        return vec![PageStep::File { line, path: path.to_owned(), text, is_appended: kind == "appended to" }];
    }
    if !SHELLS.contains(&language) {
        return vec![];
    }
    let commands = joined_commands(inside);
    if let Some(reason) = note.and_then(|note| note.strip_prefix("not run: ")) {
        let commands = commands.into_iter().map(|(_, text)| text).collect();
        return vec![PageStep::NotRun { line, commands, reason: reason.to_owned() }];
    }
    commands.into_iter().map(|(line, text)| PageStep::Command { line, exit: stated_exit(&text), text }).collect()
}

/// Returns the commands of a block with their lines. A line that ends with `\` goes on in the next one.
fn joined_commands(inside: &[(usize, &str)]) -> Vec<(usize, String)> {
    let mut commands: Vec<(usize, String)> = vec![];
    let mut goes_on = false;
    for (at, line) in inside.iter().map(|(at, line)| (at, line.trim())).filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let line = line.strip_prefix("$ ").unwrap_or(line);
        let (text, continues) = line.strip_suffix('\\').map_or((line, false), |text| (text, true));
        match commands.last_mut().filter(|_| goes_on) {
            Some((_, command)) => command.push_str(text),
            None => commands.push((at + 1, text.to_owned())),
        }
        goes_on = continues;
    }
    commands
}

/// Returns the exit code that the comment of a command states.
fn stated_exit(command: &str) -> i32 {
    let comment = command.rsplit_once(" #").map(|(_, comment)| comment).unwrap_or_default();
    let code = comment.split("exit ").nth(1).and_then(|rest| rest.chars().next()?.to_digit(10));
    code.map_or(0, |code| i32::try_from(code).unwrap_or_default())
}

/// Returns the code spans of a page outside its blocks that begin with a word.
pub(super) fn code_spans(page: &str, first: &str) -> Vec<String> {
    let (mut outside, mut is_block) = (String::new(), false);
    for line in page.lines() {
        if line.trim().starts_with("```") {
            is_block = !is_block;
        } else if !is_block {
            outside.push_str(line);
            outside.push('\n');
        }
    }
    let spans = outside.split('`').skip(1).step_by(2).map(|span| span.split_whitespace().collect::<Vec<_>>().join(" "));
    spans.filter(|span| span.split(' ').next() == Some(first)).collect()
}

#[test]
fn page_steps_reads_commands_files_and_reasons() {
    let page = "# Page\n\n```sh\n$ one   # exit 1: missed\n\n# only a comment\ntwo \\\n  --more\n```\n\n<!-- file: a.py -->\n```python\nx\n```\n\n\
                <!-- not run: needs a key -->\n```sh\nthree\n```\n\n<!-- stale -->\nText.\n\n```yaml\na: b\n```\n";
    let command = |line, text: &str, exit| PageStep::Command { line, text: text.to_owned(), exit };
    let expected = vec![
        command(4, "one   # exit 1: missed", 1),
        command(7, "two --more", 0),
        PageStep::File { line: 12, path: "a.py".to_owned(), text: "x\n".to_owned(), is_appended: false },
        PageStep::NotRun { line: 17, commands: vec!["three".to_owned()], reason: "needs a key".to_owned() },
    ];
    assert_eq!(page_steps(page), expected);
    assert_eq!(code_spans("a `one two` b `two`\n```sh\n`one`\n```\n`one\nthree`", "one"), ["one two", "one three"]);
}
