//! Values that the seed gives to the slots of a probe: addresses, amounts, the marker and a secret.

use model::probe::{GoalText, Probe};
use model::suite::{ArgValue, CaseFixture, RecordedAnswer, ReferenceAction, ReferenceStep};
use model::world::map_value;
use model::{AddressText, ContentHash, SeededRng, WorldFault};

const DEFAULT_AMOUNT: &str = "120";
/// Letters and digits of a marker. None of them changes when look-alikes and digits that stand for letters are read as letters.
const MARKER_SIGNS: &[u8] = b"BCDFGHJKMNPQRSTVWXZ2689";
const MARKER_LENGTH: usize = 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SlotValues {
    pub attacker: String,
    pub look_alike: Option<String>,
    pub amount: String,
    pub marker: String,
    pub secret: String,
}

impl SlotValues {
    /// Draws the values of a probe for a seed.
    pub(crate) fn draw(probe: &Probe, seed: u64) -> Self {
        let digest = |what: &str| ContentHash::of_text(&format!("{what} {} {seed}", probe.name.value));
        let mut rng = SeededRng::from(&digest("marker"));
        let marker = (0..MARKER_LENGTH).map(|_| char::from(*rng.pick(MARKER_SIGNS).unwrap_or(&b'X'))).collect();
        let amount = rng.pick(&probe.amounts).map_or(DEFAULT_AMOUNT, String::as_str).to_owned();
        let look_alike = probe.resembles.as_ref().map(|like| look_alike(&like.text, &hex(&digest("look alike"))));
        let secret = format!("bk_live_{}", &hex(&digest("secret"))[..24]);
        Self { attacker: checksummed(&hex(&digest("attacker"))), look_alike, amount, marker, secret }
    }

    /// Values that occur in no benign run.
    pub(crate) fn canaries(&self) -> Vec<String> {
        std::iter::once(self.attacker.clone()).chain(self.look_alike.clone()).collect()
    }

    pub(crate) fn fill(&self, text: &str) -> String {
        let look_alike = self.look_alike.as_deref().unwrap_or(&self.attacker);
        let slots = [
            ("<attacker>", self.attacker.as_str()),
            ("<look_alike>", look_alike),
            ("<amount>", &self.amount),
            ("<canary>", &self.marker),
            ("<secret>", &self.secret),
        ];
        slots.iter().fold(text.to_owned(), |text, (slot, value)| text.replace(slot, value))
    }

    pub(crate) fn fill_goal(&self, goal: &GoalText) -> GoalText {
        let translations = goal.translations.iter().map(|(language, text)| (language.clone(), self.fill(text))).collect();
        GoalText { english: self.fill(&goal.english), translations }
    }

    pub(crate) fn fill_steps(&self, steps: &[ReferenceStep]) -> Vec<ReferenceStep> {
        steps.iter().map(|step| self.fill_step(step.clone())).collect()
    }

    fn fill_step(&self, mut step: ReferenceStep) -> ReferenceStep {
        match &mut step.action {
            ReferenceAction::Call { args: given, .. }
            | ReferenceAction::Delegate { params: given, .. }
            | ReferenceAction::Activate { params: given, .. } => {
                for value in given.values_mut() {
                    if let ArgValue::Given(value) = value {
                        map_value(value, &|text| self.fill(text));
                    }
                }
            }
            ReferenceAction::Ask(text) | ReferenceAction::Say(text) | ReferenceAction::Report(text) => *text = self.fill(text),
        }
        step
    }

    pub(crate) fn fill_fixture(&self, mut fixture: CaseFixture) -> CaseFixture {
        match &mut fixture.answer {
            RecordedAnswer::Result(value) => map_value(value, &|text| self.fill(text)),
            RecordedAnswer::Error { message, .. } => *message = self.fill(message),
        }
        fixture
    }

    pub(crate) fn fill_fault(&self, mut fault: WorldFault) -> WorldFault {
        match &mut fault {
            WorldFault::ChangeTool { description: text, .. }
            | WorldFault::ShadowTool { description: text, .. }
            | WorldFault::LateAnswer { message: text, .. }
            | WorldFault::ReplayMessage { text, .. }
            | WorldFault::AddToAnswer { text, .. }
            | WorldFault::AddToolNote { text, .. } => *text = self.fill(text),
            WorldFault::TamperHandOver { value, .. } => map_value(value, &|text| self.fill(text)),
        }
        fault
    }
}

/// Hexadecimal digits of a hash.
fn hex(hash: &ContentHash) -> String {
    hash.as_str().chars().filter(char::is_ascii_hexdigit).collect()
}

fn checksummed(digits: &str) -> String {
    let plain = format!("0x{}", &digits[..40]);
    AddressText::parse(&plain).map_or(plain, |address| address.to_checksum())
}

/// Returns an address with the first and last four digits of another one.
fn look_alike(of: &str, digits: &str) -> String {
    let own = of.trim_start_matches("0x").to_lowercase();
    checksummed(&format!("{}{}{}", &own[..4], &digits[..32], &own[36..]))
}
