//! Parts of a text that a reduction removes: lines, sentences, words. Joined, they are the text.

/// Size of the parts of a text, from coarse to fine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextGrain {
    Lines,
    Sentences,
    Words,
}

impl TextGrain {
    /// From coarse to fine.
    pub const ALL: [TextGrain; 3] = [TextGrain::Lines, TextGrain::Sentences, TextGrain::Words];
}

/// Splits a text, each part with the space behind it.
pub fn text_units(text: &str, grain: TextGrain) -> Vec<&str> {
    match grain {
        TextGrain::Lines => text.split_inclusive('\n').collect(),
        TextGrain::Sentences => {
            split_after(text, |before, space| space == '\n' || matches!(before, '.' | '!' | '?' | ':' | '。' | '！' | '？'))
        }
        TextGrain::Words => split_after(text, |_, _| true),
    }
}

/// Splits behind runs of space, where the character before the run and the first one of it say so.
fn split_after(text: &str, ends: impl Fn(char, char) -> bool) -> Vec<&str> {
    let mut units = vec![];
    let (mut start, mut before, mut ending) = (0, ' ', false);
    for (at, c) in text.char_indices() {
        if c.is_whitespace() {
            ending = ending || (at > start && !before.is_whitespace() && ends(before, c));
        } else if ending {
            units.push(&text[start..at]);
            (start, ending) = (at, false);
        }
        before = c;
    }
    if start < text.len() {
        units.push(&text[start..]);
    }
    units
}

/// Returns the text of the kept parts, without space around it.
pub fn without_units(units: &[&str], kept: &[usize]) -> String {
    let text: String = kept.iter().filter_map(|at| units.get(*at)).copied().collect();
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Log of requests. Go on.\n\nUser: Pay 1.5 ETH  to bob!\nNow 付款。 谢谢";

    #[test]
    fn units_join_to_the_text() {
        for text in [TEXT, "", " \n ", "one", " a  b ", "a.b.c", "x\n"] {
            for grain in TextGrain::ALL {
                let units = text_units(text, grain);
                assert_eq!(units.concat(), text, "{grain:?}");
                let all: Vec<usize> = (0..units.len()).collect();
                assert_eq!(without_units(&units, &all), text.trim());
            }
        }
    }

    #[test]
    fn units_are_lines_sentences_and_words() {
        assert_eq!(text_units(TEXT, TextGrain::Lines).len(), 4);
        let sentences = text_units(TEXT, TextGrain::Sentences);
        assert_eq!(sentences, ["Log of requests. ", "Go on.\n\n", "User: ", "Pay 1.5 ETH  to bob!\n", "Now 付款。 ", "谢谢"]);
        assert_eq!(text_units("Pay 1.5 ETH", TextGrain::Words), ["Pay ", "1.5 ", "ETH"]);
        assert_eq!(without_units(&sentences, &[1, 3]), "Go on.\n\nPay 1.5 ETH  to bob!");
    }
}
