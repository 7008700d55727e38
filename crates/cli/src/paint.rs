//! Colours of text output.

use crate::args::ColorMode;
use owo_colors::{OwoColorize, Style};

#[derive(Debug, Clone, Copy)]
pub(crate) struct TextPainter {
    on: bool,
}

impl TextPainter {
    /// `terminal` says if the result goes to a terminal.
    pub(crate) fn new(color: ColorMode, terminal: bool, no_color: bool) -> Self {
        let on = match color {
            ColorMode::Always => true,
            ColorMode::Never => false,
            ColorMode::Auto => terminal && !no_color,
        };
        Self { on }
    }

    pub(crate) fn off() -> Self {
        Self { on: false }
    }

    fn style(self, text: &str, style: Style) -> String {
        if self.on { text.style(style).to_string() } else { text.to_owned() }
    }

    pub(crate) fn bad(self, text: &str) -> String {
        self.style(text, Style::new().red().bold())
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.style(text, Style::new().green())
    }

    pub(crate) fn unsure(self, text: &str) -> String {
        self.style(text, Style::new().yellow())
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.style(text, Style::new().dimmed())
    }

    pub(crate) fn strong(self, text: &str) -> String {
        self.style(text, Style::new().bold())
    }
}
