//! Phrases by meaning and language. A phrase is searched as whole words in any case and disguise; `*` at an end allows more letters.

mod arabic;
mod chinese;
mod english;
mod french;
mod german;
mod hindi;
mod italian;
mod japanese;
mod korean;
mod particles;
mod portuguese;
mod russian;
mod spanish;
mod turkish;

/// Meaning of a phrase or mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Concept {
    /// Imperative of moving funds.
    Pay,
    /// Word that is such an imperative only at the start of a clause: also a noun.
    PayOrNoun,
    /// Imperative of giving rights: approvals, signatures, roles.
    Grant,
    /// Imperative of trading or changing positions.
    Trade,
    /// Imperative of giving away information.
    Disclose,
    /// Imperative in a language other than English that moves funds, gives rights or changes limits.
    ForeignAct,
    /// Polite request or obligation in a language other than English.
    ForeignPlea,
    /// Particle of a destination in a language other than English.
    Toward,
    /// Imperative of changing a setting. Also an ordinary verb.
    Adjust,
    /// Data of the owner that is not secret but not public.
    PrivateData,
    /// Mail address or URL.
    Destination,
    /// Preference for one tool over the others.
    Steer,
    /// Credential or prompt.
    Secret,
    /// Token or funds.
    Asset,
    /// Dispensation from a check or limit.
    Waive,
    /// Word that loosens something.
    Relax,
    /// Check, limit or review that protects the owner.
    Control,
    /// Obligation to pay in the passive voice.
    PassivePay,
    /// Request to hide something from the owner.
    Conceal,
    /// Claim that instructions are replaced.
    Override,
    /// Address to the agent that reads the text.
    Reader,
    /// Obligation: must, should, has to.
    Duty,
    /// Claim that the payee or its account has changed.
    Redirect,
    /// Request to decode and obey.
    Decode,
    /// Validity for all future tasks.
    Standing,
    /// Amount without bound: everything, the full balance.
    Everything,
    /// Fee, deposit or refund that is demanded.
    Demand,
    /// Pressure of time.
    Urgency,
    /// Word of a report about attacks.
    Report,
    /// Word of ROT13 or reversed English.
    Scrambled,
    /// Imitation of a chat template or of the end of a task.
    Template,
    Address,
    Number,
    Quote,
    Code,
}

/// Phrases of one meaning.
pub(crate) type PhraseTable = (Concept, &'static [&'static str]);

pub(crate) const LEXICON: &[&[PhraseTable]] = &[
    english::PHRASES,
    particles::PHRASES,
    chinese::PHRASES,
    japanese::PHRASES,
    korean::PHRASES,
    russian::PHRASES,
    arabic::PHRASES,
    hindi::PHRASES,
    turkish::PHRASES,
    spanish::PHRASES,
    french::PHRASES,
    german::PHRASES,
    portuguese::PHRASES,
    italian::PHRASES,
];

/// Negations as the normal form has them: `l` is folded to `i`.
pub(crate) const NEGATIONS: &[&str] = &["not", "never", "no", "nobody", "don", "t", "didn", "cannot", "refused", "without", "instead"];
