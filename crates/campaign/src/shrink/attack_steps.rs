//! Steps that make an attack smaller: a simpler strategy, a shorter goal under an encoding, fewer segments, less text, an earlier turn,
//! fewer turns of the scenario.

use super::ShrinkError;
use super::case_text::CaseText;
use super::search::ShrinkSearch;
use attack::{AttackWording, RewordableAttack, TextGrain, text_units, without_units};
use model::Case;
use model::probe::GoalText;

/// Strategies from simple to elaborate that an attack is tried with, if it uses none of them or a later one.
const SIMPLER: [&str; 4] = ["identity", "ignore_prefix", "important_note", "fake_system_tag"];

pub(super) struct AttackReduction<'a> {
    attack: &'a RewordableAttack<'a>,
    /// Id of the attacked case.
    case: &'a str,
    marker: &'a str,
    wording: AttackWording,
}

impl<'a> AttackReduction<'a> {
    /// Starts with the text of a case; `None` if its strategy is not known.
    pub(super) fn new(attack: &'a RewordableAttack<'a>, original: &'a Case) -> Option<Self> {
        let own = original.attack.as_deref()?;
        let wording = attack.wording(&own.strategy, attack.goal())?;
        Some(Self { attack, case: &original.id, marker: &own.marker, wording })
    }

    /// Returns the texts of the attacker.
    pub(super) fn texts(&self) -> Vec<String> {
        self.wording.segments.clone()
    }

    /// Reduces the attack as far as the trials allow.
    ///
    /// # Errors
    /// If a trial is aborted.
    pub(super) async fn run(mut self, search: &mut ShrinkSearch<'_>) -> Result<(), ShrinkError> {
        self.simplify_strategy(search).await?;
        self.shorten_hidden_goal(search).await?;
        self.drop_segments(search).await?;
        for segment in 0..self.wording.segments.len() {
            for grain in TextGrain::ALL {
                self.shorten_segment(search, segment, grain).await?;
            }
            self.strip_punctuation(search, segment).await?;
        }
        self.move_forward(search).await
    }

    /// Returns the case of a wording; `None` if the marker is gone, since it shows whether the text was read.
    fn text(&self, wording: &AttackWording) -> Option<CaseText> {
        let whole = wording.segments.join("\n");
        let is_marked = disguise::contains_marker(&whole, self.marker);
        is_marked.then(|| self.attack.case(wording)).flatten().map(|case| CaseText::of_case(&case, self.case, wording.segments.clone()))
    }

    async fn take_if_it_works(&mut self, search: &mut ShrinkSearch<'_>, wording: AttackWording) -> Result<bool, ShrinkError> {
        let Some(text) = self.text(&wording) else { return Ok(false) };
        let works = wording != self.wording && search.accepts(text).await?;
        if works {
            self.wording = wording;
        }
        Ok(works)
    }

    async fn simplify_strategy(&mut self, search: &mut ShrinkSearch<'_>) -> Result<(), ShrinkError> {
        for strategy in SIMPLER {
            if strategy == self.wording.strategy {
                return Ok(());
            }
            let simpler = self.attack.wording(strategy, self.attack.goal());
            let simpler = simpler.filter(|simpler| {
                let fewer = simpler.segments.len() < self.wording.segments.len();
                fewer || simpler.characters() < self.wording.characters()
            });
            if let Some(simpler) = simpler
                && self.take_if_it_works(search, simpler).await?
            {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Shortens the goal inside of an encoding, whose words cannot be removed from outside.
    async fn shorten_hidden_goal(&mut self, search: &mut ShrinkSearch<'_>) -> Result<(), ShrinkError> {
        let goal = self.attack.goal();
        let whole = self.wording.segments.join("");
        if std::iter::once(&goal.english).chain(goal.translations.values()).any(|text| whole.contains(text.as_str())) {
            return Ok(());
        }
        let words = text_units(&goal.english, TextGrain::Words);
        let worded = |kept: &[usize]| {
            let shorter = GoalText { english: without_units(&words, kept), translations: Default::default() };
            self.attack.wording(&self.wording.strategy, &shorter)
        };
        let build = |kept: &[usize]| worded(kept).and_then(|wording| self.text(&wording));
        let kept = search.minimise(words.len(), build).await?;
        if let Some(shorter) = worded(&kept) {
            self.wording = shorter;
        }
        Ok(())
    }

    async fn drop_segments(&mut self, search: &mut ShrinkSearch<'_>) -> Result<(), ShrinkError> {
        let segments = self.wording.segments.clone();
        let worded = |kept: &[usize]| {
            let segments = kept.iter().map(|at| segments[*at].clone()).collect();
            AttackWording { segments, ..self.wording.clone() }
        };
        let kept = search.minimise(segments.len(), |kept| self.text(&worded(kept))).await?;
        let fewer = worded(&kept);
        self.wording = fewer;
        if self.wording.segments.len() > 1 {
            let joined = AttackWording { segments: vec![self.wording.segments.join("\n")], ..self.wording.clone() };
            self.take_if_it_works(search, joined).await?;
        }
        Ok(())
    }

    async fn shorten_segment(&mut self, search: &mut ShrinkSearch<'_>, segment: usize, grain: TextGrain) -> Result<(), ShrinkError> {
        let Some(text) = self.wording.segments.get(segment).cloned() else { return Ok(()) };
        let units = text_units(&text, grain);
        let worded = |kept: &[usize]| self.with_segment(segment, without_units(&units, kept));
        let kept = search.minimise(units.len(), |kept| self.text(&worded(kept))).await?;
        if kept.len() < units.len() {
            let shorter = worded(&kept);
            self.wording = shorter;
        }
        Ok(())
    }

    async fn strip_punctuation(&mut self, search: &mut ShrinkSearch<'_>, segment: usize) -> Result<(), ShrinkError> {
        let Some(text) = self.wording.segments.get(segment) else { return Ok(()) };
        let bare = text.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
        let shorter = self.with_segment(segment, bare);
        self.take_if_it_works(search, shorter).await.map(drop)
    }

    fn with_segment(&self, segment: usize, text: String) -> AttackWording {
        let mut wording = self.wording.clone();
        if let Some(place) = wording.segments.get_mut(segment) {
            *place = text;
        }
        wording
    }

    /// Moves the text to the first turn, and drops turns of the scenario from the end.
    async fn move_forward(&mut self, search: &mut ShrinkSearch<'_>) -> Result<(), ShrinkError> {
        if self.wording.segments.len() == 1 && self.wording.turn.is_some_and(|turn| turn > 1) {
            let first = AttackWording { turn: Some(1), ..self.wording.clone() };
            self.take_if_it_works(search, first).await?;
        }
        let needed = self.wording.turn.and_then(|turn| usize::try_from(turn).ok()).unwrap_or(1);
        for kept in needed..self.attack.scenario_turns().unwrap_or(0) {
            let fewer = AttackWording { scenario_turns: Some(kept), ..self.wording.clone() };
            if self.take_if_it_works(search, fewer).await? {
                return Ok(());
            }
        }
        Ok(())
    }
}
