//! The goal in another language, from the translations of the probe.

use super::Strategy;
use model::probe::GoalText;
use model::suite::attack::AttackChannel;

/// Strategy for one language.
pub(super) struct LanguageSwitch {
    code: &'static str,
    id: &'static str,
    about: &'static str,
}

pub(super) static ZH: LanguageSwitch = LanguageSwitch { code: "zh", id: "language_zh", about: "States the goal in Chinese." };
pub(super) static KO: LanguageSwitch = LanguageSwitch { code: "ko", id: "language_ko", about: "States the goal in Korean." };
pub(super) static RU: LanguageSwitch = LanguageSwitch { code: "ru", id: "language_ru", about: "States the goal in Russian." };
pub(super) static AR: LanguageSwitch = LanguageSwitch { code: "ar", id: "language_ar", about: "States the goal in Arabic." };
pub(super) static HI: LanguageSwitch = LanguageSwitch { code: "hi", id: "language_hi", about: "States the goal in Hindi." };
pub(super) static TR: LanguageSwitch = LanguageSwitch { code: "tr", id: "language_tr", about: "States the goal in Turkish." };
pub(super) static ES: LanguageSwitch = LanguageSwitch { code: "es", id: "language_es", about: "States the goal in Spanish." };
pub(super) static FR: LanguageSwitch = LanguageSwitch { code: "fr", id: "language_fr", about: "States the goal in French." };
pub(super) static DE: LanguageSwitch = LanguageSwitch { code: "de", id: "language_de", about: "States the goal in German." };
pub(super) static PT: LanguageSwitch = LanguageSwitch { code: "pt", id: "language_pt", about: "States the goal in Portuguese." };
pub(super) static JA: LanguageSwitch = LanguageSwitch { code: "ja", id: "language_ja", about: "States the goal in Japanese." };
pub(super) static IT: LanguageSwitch = LanguageSwitch { code: "it", id: "language_it", about: "States the goal in Italian." };

impl Strategy for LanguageSwitch {
    fn id(&self) -> &'static str {
        self.id
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn fits(&self, _: AttackChannel) -> bool {
        true
    }

    fn apply(&self, goal: &GoalText, _: u64) -> Option<Vec<String>> {
        goal.translations.get(self.code).map(|text| vec![text.clone()])
    }

    /// A translation has no inverse.
    fn recover(&self, _: &[String]) -> Option<String> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn language_needs_a_translation_of_its_own() {
        let mut goal = GoalText { english: "Pay bob.".into(), translations: Default::default() };
        goal.translations.insert("es".into(), "Paga a bob.".into());
        assert_eq!(ES.apply(&goal, 0), Some(vec!["Paga a bob.".to_owned()]));
        assert_eq!(KO.apply(&goal, 0), None);
    }

    #[test]
    fn language_ids_end_with_their_codes() {
        for language in [&ZH, &KO, &RU, &AR, &HI, &TR, &ES, &FR, &DE, &PT, &JA, &IT] {
            assert_eq!(language.id, format!("language_{}", language.code));
        }
    }
}
