//! Porter stemmer: strips English endings, so "swapping" matches "swap" and "allowances" matches "allowance".

/// Returns the stem of a lower-case word. Words with other characters than ASCII letters are returned unchanged.
pub fn stem(word: &str) -> String {
    if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let mut stem = StemBuffer(word.as_bytes().to_vec());
    stem.strip_plural();
    stem.strip_past_tense();
    stem.replace_final_y();
    stem.shorten_double_suffix();
    stem.shorten_suffix();
    stem.strip_long_suffix();
    stem.strip_final_e();
    String::from_utf8(stem.0).unwrap_or_else(|_| word.to_owned())
}

struct StemBuffer(Vec<u8>);

impl StemBuffer {
    fn is_consonant(&self, at: usize) -> bool {
        match self.0[at] {
            b'a' | b'e' | b'i' | b'o' | b'u' => false,
            b'y' => at == 0 || !self.is_consonant(at - 1),
            _ => true,
        }
    }

    /// Counts the vowel-consonant sequences in the first `len` letters (Porter's measure).
    fn measure(&self, len: usize) -> usize {
        (1..len).filter(|at| self.is_consonant(*at) && !self.is_consonant(at - 1)).count()
    }

    fn has_vowel(&self, len: usize) -> bool {
        (0..len).any(|at| !self.is_consonant(at))
    }

    fn ends_double(&self) -> bool {
        let len = self.0.len();
        len >= 2 && self.0[len - 1] == self.0[len - 2] && self.is_consonant(len - 1)
    }

    /// Reports whether the first `len` letters end like "hop": consonant, vowel, consonant other than w, x or y.
    fn ends_short(&self, len: usize) -> bool {
        len >= 3
            && self.is_consonant(len - 3)
            && !self.is_consonant(len - 2)
            && self.is_consonant(len - 1)
            && !matches!(self.0[len - 1], b'w' | b'x' | b'y')
    }

    /// Returns the length of the word before `ending`, if it ends so.
    fn len_before(&self, ending: &str) -> Option<usize> {
        self.0.ends_with(ending.as_bytes()).then(|| self.0.len() - ending.len())
    }

    fn replace(&mut self, len: usize, with: &str) {
        self.0.truncate(len);
        self.0.extend_from_slice(with.as_bytes());
    }

    fn strip_plural(&mut self) {
        if let Some(len) = self.len_before("sses").or_else(|| self.len_before("ies")) {
            let keep = if self.0.ends_with(b"sses") { "ss" } else { "i" };
            self.replace(len, keep);
        } else if self.len_before("ss").is_none()
            && let Some(len) = self.len_before("s")
        {
            self.0.truncate(len);
        }
    }

    fn strip_past_tense(&mut self) {
        if let Some(len) = self.len_before("eed") {
            if self.measure(len) > 0 {
                self.replace(len, "ee");
            }
            return;
        }
        let Some(len) = self.len_before("ed").or_else(|| self.len_before("ing")).filter(|len| self.has_vowel(*len)) else { return };
        self.0.truncate(len);
        if ["at", "bl", "iz"].iter().any(|ending| self.len_before(ending).is_some()) {
            self.0.push(b'e');
        } else if self.ends_double() && !matches!(self.0.last(), Some(b'l' | b's' | b'z')) {
            self.0.pop();
        } else if self.measure(self.0.len()) == 1 && self.ends_short(self.0.len()) {
            self.0.push(b'e');
        }
    }

    fn replace_final_y(&mut self) {
        if let Some(len) = self.len_before("y").filter(|len| self.has_vowel(*len)) {
            self.replace(len, "i");
        }
    }

    /// Replaces the first matching ending if the measure of the rest is at least `least`.
    fn replace_first_suffix(&mut self, endings: &[(&str, &str)], least: usize) {
        let found = endings.iter().find_map(|(ending, with)| self.len_before(ending).map(|len| (len, *with)));
        if let Some((len, with)) = found.filter(|(len, _)| self.measure(*len) >= least) {
            self.replace(len, with);
        }
    }

    fn shorten_double_suffix(&mut self) {
        self.replace_first_suffix(
            &[
                ("ational", "ate"),
                ("tional", "tion"),
                ("enci", "ence"),
                ("anci", "ance"),
                ("izer", "ize"),
                ("bli", "ble"),
                ("alli", "al"),
                ("entli", "ent"),
                ("eli", "e"),
                ("ousli", "ous"),
                ("ization", "ize"),
                ("ation", "ate"),
                ("ator", "ate"),
                ("alism", "al"),
                ("iveness", "ive"),
                ("fulness", "ful"),
                ("ousness", "ous"),
                ("aliti", "al"),
                ("iviti", "ive"),
                ("biliti", "ble"),
            ],
            1,
        );
    }

    fn shorten_suffix(&mut self) {
        let endings = [("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", "")];
        self.replace_first_suffix(&endings, 1);
    }

    fn strip_long_suffix(&mut self) {
        let endings = [
            "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "sion", "tion", "ou", "ism", "ate", "iti",
            "ous", "ive", "ize",
        ];
        let Some((ending, len)) = endings.iter().find_map(|ending| self.len_before(ending).map(|len| (*ending, len))) else { return };
        // Keep the "s" of "-sion" and the "t" of "-tion".
        let len = if matches!(ending, "sion" | "tion") { len + 1 } else { len };
        if self.measure(len) > 1 {
            self.0.truncate(len);
        }
    }

    fn strip_final_e(&mut self) {
        if let Some(len) = self.len_before("e") {
            let measure = self.measure(len);
            if measure > 1 || (measure == 1 && !self.ends_short(len)) {
                self.0.truncate(len);
            }
        }
        if self.0.ends_with(b"ll") && self.measure(self.0.len()) > 1 {
            self.0.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::stem;

    #[test]
    fn inflected_forms_share_a_stem() {
        for [a, b] in [
            ["pools", "pool"],
            ["swapping", "swap"],
            ["swapped", "swaps"],
            ["quoted", "quotes"],
            ["compares", "comparing"],
            ["prices", "pricing"],
            ["strategies", "strategy"],
            ["liquidity", "liquidities"],
            ["allowances", "allowance"],
            ["simulated", "simulation"],
            ["deposits", "depositing"],
        ] {
            assert_eq!(stem(a), stem(b), "{a} {b}");
        }
        for [a, b] in [["status", "state"], ["fee", "feed"], ["position", "post"], ["bridge", "bring"], ["pool", "poll"]] {
            assert_ne!(stem(a), stem(b), "{a} {b}");
        }
    }

    #[test]
    fn non_english_words_are_not_stemmed() {
        for word in ["v3", "usdc2", "0xabc", "és", "at"] {
            assert_eq!(stem(word), word);
        }
    }

    #[test]
    fn known_stems() {
        for (word, root) in [("caresses", "caress"), ("ponies", "poni"), ("relational", "relat"), ("hopping", "hop"), ("adoption", "adopt")]
        {
            assert_eq!(stem(word), root);
        }
    }
}
