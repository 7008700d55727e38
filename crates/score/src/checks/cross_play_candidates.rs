//! References that may pass a case, found without comparing every pair of a surface.

use super::cross_play_case::{CrossPlayCase, ExpectationKind, ReferenceKind};
use model::SeededRng;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// Cases of a surface, grouped by the kind of their reference.
pub(super) struct CandidateIndex<'p, 'w> {
    players: &'p [CrossPlayCase<'w>],
    /// Indices of the cases of each group, ascending.
    groups: Vec<Vec<usize>>,
    /// Groups that may pass an expectation, by its kind.
    known: RefCell<HashMap<ExpectationKind<'p>, Rc<[usize]>>>,
}

impl<'p, 'w> CandidateIndex<'p, 'w> {
    pub(super) fn of(players: &'p [CrossPlayCase<'w>]) -> Self {
        let mut by_kind: HashMap<ReferenceKind<'p>, usize> = HashMap::new();
        let mut groups: Vec<Vec<usize>> = vec![];
        for (n, player) in players.iter().enumerate() {
            let group = *by_kind.entry(player.reference_kind()).or_insert(groups.len());
            if group == groups.len() {
                groups.push(vec![]);
            }
            groups[group].push(n);
        }
        Self { players, groups, known: RefCell::default() }
    }

    /// Returns the other cases whose references may pass this one.
    pub(super) fn of_player(&self, player: usize) -> Candidates<'_> {
        let one = &self.players[player];
        let mut known = self.known.borrow_mut();
        // Whether a group may pass depends on the two kinds only, so the first case of a group stands for all.
        let may_pass = || (0..self.groups.len()).filter(|group| one.may_be_passed_by(&self.players[self.groups[*group][0]])).collect();
        let fitting = known.entry(one.expectation_kind()).or_insert_with(may_pass).clone();
        let all = fitting.iter().map(|group| self.groups[*group].len()).sum();
        let has_itself = fitting.iter().any(|group| self.groups[*group].binary_search(&player).is_ok());
        Candidates { index: &self.groups, player, fitting, all, count: all - usize::from(has_itself), drawn: None }
    }
}

/// Candidates of one case: all of them, or a sample.
pub(super) struct Candidates<'i> {
    index: &'i [Vec<usize>],
    player: usize,
    fitting: Rc<[usize]>,
    /// Number of candidates with the case itself.
    all: usize,
    count: usize,
    drawn: Option<BTreeSet<usize>>,
}

impl Candidates<'_> {
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Draws so many different candidates; there must be more of them.
    pub(super) fn sample(&mut self, size: usize, mut rng: SeededRng) {
        let mut drawn = BTreeSet::new();
        while drawn.len() < size {
            let nth = rng.below(self.all);
            drawn.extend(self.nth(nth).filter(|other| *other != self.player));
        }
        self.drawn = Some(drawn);
    }

    /// Returns the candidates in the order of the cases.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        let chosen: BTreeSet<usize> = match &self.drawn {
            Some(drawn) => drawn.clone(),
            None => self.fitting.iter().flat_map(|group| &self.index[*group]).copied().filter(|other| *other != self.player).collect(),
        };
        chosen.into_iter()
    }

    fn nth(&self, mut nth: usize) -> Option<usize> {
        for group in self.fitting.iter().map(|group| &self.index[*group]) {
            if nth < group.len() {
                return Some(group[nth]);
            }
            nth -= group.len();
        }
        None
    }
}
