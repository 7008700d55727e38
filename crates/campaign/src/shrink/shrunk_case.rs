//! Result of shrinking: the reproducer and how much smaller it is.

use super::case_text::CaseText;
use super::failure::MeasuredRate;
use model::suite::{RecordedAnswer, UserScript};
use model::{Case, SuiteKind};

/// Size of a case, as far as shrinking changes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseSize {
    /// Strategy of the attack; empty for other cases.
    pub strategy: String,
    /// Texts of the attacker; 0 for other cases.
    pub segments: usize,
    /// Characters of these texts; for other cases, of the user's messages.
    pub characters: usize,
    pub turns: usize,
    pub fixtures: usize,
    /// Characters of the answers of fixtures, as JSON.
    pub fixture_characters: usize,
}

impl CaseSize {
    pub(super) fn of_case(case: &Case, attack_texts: &[String]) -> Self {
        let said: Vec<&str> = match &case.brief.user_script {
            UserScript::Turns(turns) => turns.iter().map(|turn| turn.as_str()).collect(),
            UserScript::Persona(persona) => vec![persona.opening.as_str()],
        };
        let answers = case.brief.fixtures.iter().map(|fixture| match &fixture.answer {
            RecordedAnswer::Result(value) => value.to_string().chars().count(),
            RecordedAnswer::Error { message, .. } => message.chars().count(),
        });
        let texts: Vec<&str> = if case.attack.is_some() { attack_texts.iter().map(String::as_str).collect() } else { said.clone() };
        Self {
            strategy: case.attack.as_deref().map(|attack| attack.strategy.clone()).unwrap_or_default(),
            segments: attack_texts.len(),
            characters: texts.iter().map(|text| text.chars().count()).sum(),
            turns: said.len(),
            fixtures: case.brief.fixtures.len(),
            fixture_characters: answers.sum(),
        }
    }
}

/// Smallest case found that still fails.
#[derive(Debug, Clone, PartialEq)]
pub struct ShrunkCase {
    /// Id of the case that was shrunk.
    pub case: String,
    /// Id of the case in the reproducer.
    pub reproducer: String,
    pub subject: String,
    pub kind: SuiteKind,
    pub before: CaseSize,
    pub after: CaseSize,
    /// Oracles or scorers that the case violates.
    pub causes: Vec<String>,
    /// Failures of the original.
    pub first: MeasuredRate,
    /// Failures of the reproducer, in trials of their own.
    pub rate: MeasuredRate,
    /// Trials in all.
    pub trials: u64,
    /// The trials were used up before the search ended.
    pub exhausted: bool,
    /// Smoke tells the reproducer and the original apart: it is an attack, or the original is no case of the workspace.
    pub is_distinct: bool,
    pub(super) text: CaseText,
}

impl ShrunkCase {
    /// Returns the texts of the attacker in the reproducer; for other cases, the messages of the user.
    pub fn texts(&self) -> Vec<String> {
        if !self.text.attack_texts.is_empty() {
            return self.text.attack_texts.clone();
        }
        let turns = self.text.case["brief"]["turns"].as_array().cloned().unwrap_or_default();
        turns.iter().filter_map(|turn| turn.as_str().map(str::to_owned)).collect()
    }

    /// Returns whether anything could be left out.
    pub fn is_smaller(&self) -> bool {
        self.before != self.after
    }

    /// Returns whether the case is an attack. The first message of others stays as it is.
    pub fn is_attack(&self) -> bool {
        !self.text.attack_texts.is_empty()
    }

    /// Returns the name of the file of the reproducer.
    pub fn file_name(&self) -> String {
        format!("{}.yaml", self.reproducer)
    }

    /// Returns the reproducer: a suite with one case, as YAML.
    pub fn to_yaml(&self) -> String {
        let Self { case, subject, rate, first, before, after, .. } = self;
        let reduced = if self.is_smaller() {
            format!("Reduced from {case}, from {} to {} characters", before.characters, after.characters)
        } else {
            format!("Copy of {case}, of which nothing could be left out")
        };
        let about = format!("{reduced}. It failed in {rate} of {subject}; the original in {first}.");
        let folder = format!("suites/{}/", self.kind.word());
        let keep = if self.is_distinct {
            format!("or keep it in {folder} as a regression case")
        } else {
            format!("or let it replace {case} in {folder}: smoke refuses one beside the other, as it cannot tell them apart")
        };
        let comment = format!(
            "# Reproducer of {case}, written by `bardo-eval shrink`. Play it with `bardo-eval run --case-file FILE --subject {subject}`,\n# {keep}. Measured: it failed in {rate}.\n# Violated: {}.\n",
            self.causes.join(", ")
        );
        // Names of subjects may be commands.
        format!("{}{}", one_comment(&comment), self.text.suite(&about))
    }
}

/// Keeps every line of a comment a comment, even if names in it have line breaks.
fn one_comment(text: &str) -> String {
    let lines = text.lines().map(|line| if line.starts_with('#') { line.to_owned() } else { format!("# {line}") });
    lines.map(|line| line.replace(|c: char| c.is_control(), " ") + "\n").collect()
}
