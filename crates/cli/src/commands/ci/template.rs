//! Templates of CI files: `@NAME@` stands for a value, and lines between `#if NAME` and `#end` are left out unless the section is chosen.

/// Values and sections of a template.
#[derive(Debug, Default)]
pub(super) struct TemplateValues {
    values: Vec<(&'static str, String)>,
    sections: Vec<&'static str>,
}

impl TemplateValues {
    pub(super) fn set(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.values.push((name, value.into()));
        self
    }

    /// Includes a section of the template if it is chosen.
    pub(super) fn section(mut self, name: &'static str, is_chosen: bool) -> Self {
        self.sections.extend(is_chosen.then_some(name));
        self
    }

    pub(super) fn render(&self, template: &str) -> String {
        let (mut text, mut hidden) = (String::new(), 0_usize);
        for line in template.lines() {
            let word = line.trim_start();
            if let Some(name) = word.strip_prefix("#if ") {
                hidden += usize::from(hidden > 0 || !self.sections.contains(&name));
            } else if word == "#end" {
                hidden = hidden.saturating_sub(1);
            } else if hidden == 0 {
                self.render_line(line, &mut text);
            }
        }
        text
    }

    /// Renders a line. A value alone in its line keeps the indentation in each of its lines, and vanishes if it is empty.
    fn render_line(&self, line: &str, text: &mut String) {
        let indent = &line[..line.len() - line.trim_start().len()];
        if let Some(value) = line.trim().strip_prefix('@').and_then(|rest| self.value(rest.strip_suffix('@')?)) {
            for part in value.lines() {
                text.push_str(&format!("{indent}{part}\n"));
            }
            return;
        }
        let mut rest = line;
        while let Some((before, after)) = rest.split_once('@') {
            text.push_str(before);
            match after.split_once('@').and_then(|(name, behind)| Some((self.value(name)?, behind))) {
                Some((value, behind)) => {
                    text.push_str(value);
                    rest = behind;
                }
                None => {
                    text.push('@');
                    rest = after;
                }
            }
        }
        text.push_str(rest);
        text.push('\n');
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}
