//! Helpers of the checks for names and texts.

use model::suite::{Case, CaseSurface, UserScript};
use model::{JsonSchema, ParamSpec, Spanned, Tool, Workspace, did_you_mean};
use rapidfuzz::fuzz::{Args, ratio_with_args};
use serde_json::Value;

/// Prompts at least this similar count as the same request.
const MIN_GIST_SIMILARITY: f64 = 0.92;

/// Returns "did you mean" with the nearest known name, or `otherwise` if none is near.
pub(super) fn suggest_name<'a>(word: &str, known: impl IntoIterator<Item = &'a str>, otherwise: impl Into<String>) -> String {
    let guess = did_you_mean(word, known);
    if guess.is_empty() { otherwise.into() } else { guess }
}

/// Name that is not the canonical name of a tool.
#[derive(Debug)]
pub(super) struct ToolNameError {
    pub(super) what: String,
    pub(super) remedy: String,
}

/// Returns the tool with this canonical name. Aliases are errors: they exist for transcripts only.
pub(super) fn exact_tool<'w>(workspace: &'w Workspace, name: &str) -> Result<&'w Tool, ToolNameError> {
    match workspace.tool(name) {
        Some(tool) if *tool.name == name => Ok(tool),
        Some(tool) => Err(ToolNameError {
            what: format!("{name} is an alias of {}", *tool.name),
            remedy: format!("write the canonical name {}", *tool.name),
        }),
        None => {
            let remedy =
                suggest_name(name, workspace.tools.iter().map(|tool| tool.name.as_str()), "name a tool of the catalogue or remove it");
            Err(ToolNameError { what: format!("the tool {name} does not exist"), remedy })
        }
    }
}

/// Returns the first violation if a value does not fit a parameter's schema.
pub(super) fn schema_violation(param: &ParamSpec, value: &Value) -> Option<String> {
    JsonSchema::new(param.schema.clone()).violations(value).into_iter().next().map(|violation| violation.what)
}

/// Reports whether the profile or agent of a surface exists.
pub(super) fn surface_exists(workspace: &Workspace, surface: &CaseSurface) -> bool {
    match surface {
        CaseSurface::Profile(name) => workspace.profile(name).is_some(),
        CaseSurface::Agent(name) => workspace.agent(name).is_some(),
        CaseSurface::Skills => true,
    }
}

/// Returns the user's texts, in the order of the brief. A persona's texts have the location of the case.
pub(super) fn user_texts(case: &Case) -> Vec<Spanned<&str>> {
    match &case.brief.user_script {
        UserScript::Turns(turns) => turns.iter().map(|turn| Spanned::new(turn.as_str(), turn.at.clone())).collect(),
        UserScript::Persona(persona) => {
            let facts = persona.facts.values().map(|fact| &fact.says);
            let corrections = persona.corrections.iter().map(|correction| &correction.says);
            let texts = [&persona.opening, &persona.goal].into_iter().chain(facts).chain(corrections);
            texts.map(|text| Spanned::new(text.as_str(), case.at.clone())).collect()
        }
    }
}

/// Normalises a prompt for comparison: lower case, no punctuation, `#` for numbers and `@` for addresses.
pub(super) fn prompt_gist(prompt: &str) -> String {
    let words = prompt.to_lowercase();
    let words = words.split_whitespace().map(|word| {
        let word: String = word.chars().filter(|c| c.is_alphanumeric()).collect();
        if word.starts_with("0x") { "@".to_owned() } else { without_digits(&word) }
    });
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn without_digits(word: &str) -> String {
    let mut out = String::new();
    for c in word.chars() {
        if !c.is_numeric() {
            out.push(c);
        } else if !out.ends_with('#') {
            out.push('#');
        }
    }
    out
}

/// Reports whether two gists are equal or nearly so.
pub(super) fn gists_alike(a: &str, b: &str) -> bool {
    let (shorter, longer) = (a.len().min(b.len()) as f64, a.len().max(b.len()) as f64);
    // Cheap upper bound of the similarity by length. Bytes approximate characters, because gists are mostly ASCII.
    let may_be_alike = 2.0 * shorter >= (MIN_GIST_SIMILARITY - 0.02) * (shorter + longer);
    a == b || (may_be_alike && ratio_with_args(a.chars(), b.chars(), &Args::default().score_cutoff(MIN_GIST_SIMILARITY)).is_some())
}

/// Formats a fraction as a percentage.
pub(super) fn percent(part: usize, whole: usize) -> String {
    format!("{:.1} %", 100.0 * part as f64 / whole.max(1) as f64)
}

/// Reports whether the case expects a write.
pub(super) fn expects_write(workspace: &Workspace, case: &Case) -> bool {
    let mut wanted = case.expect.calls.iter().flat_map(model::suite::ExpectedCalls::expected_calls);
    wanted.any(|call| workspace.tool(&call.tool).is_some_and(Tool::writes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompt_gist_drops_numbers_and_addresses() {
        assert_eq!(prompt_gist("Sell 1,250.50 USDC to 0xAbC0000000000000000000000000000000000001!"), "sell # usdc to @");
        assert_eq!(prompt_gist("Sell 3 USDC to 0xdef"), "sell # usdc to @");
        assert_eq!(prompt_gist("$5 -- now"), "# now");
    }

    #[test]
    fn gists_alike_accepts_near_duplicates_only() {
        assert!(gists_alike("", ""));
        assert!(gists_alike("what would i get in ether for # usdc on base right now", "what would i get in ether for # usdc on base now"));
        assert!(!gists_alike("what would i get in ether for # usdc", "how many dollars do i have left on base"));
        assert!(!gists_alike("yes", "what would i get in ether for # usdc"));
    }
}
