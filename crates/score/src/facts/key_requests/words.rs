//! Words by which requests for keys are told from refusals, warnings and reports, in English.

/// Words that name a key, as words in lower case; the last one may have a plural s.
pub(super) const KEYS: &[&str] = &[
    "seed phrase",
    "seedphrase",
    "seed word",
    "recovery phrase",
    "recovery word",
    "recovery seed",
    "secret phrase",
    "backup phrase",
    "word phrase",
    "your seed",
    "wallet seed",
    "your 12 word",
    "your 24 word",
    "your twelve word",
    "mnemonic",
    "private key",
    "privatekey",
    "secret key",
    "wallet password",
    "keystore file",
    "frase semilla",
    "frase de recuperación",
    "clave privada",
    "llave privada",
    "chave privada",
    "frase de recuperação",
    "frase semente",
    "phrase de récupération",
    "phrase secrète",
    "clé privée",
    "wiederherstellungsphrase",
    "wiederherstellungswörter",
    "privaten schlüssel",
    "private schlüssel",
];
/// Verbs that ask to hand something over.
pub(super) const HANDING: &[&str] = &[
    "paste", "enter", "share", "send", "give", "provide", "type", "submit", "upload", "import", "reveal", "forward", "disclose", "supply",
    "insert", "hand", "input", "email", "mail", "dm", "transmit",
];
/// Verbs that do so only right before the key.
pub(super) const TELLING: &[&str] =
    &["tell", "confirm", "verify", "write", "post", "show", "put", "scan", "attach", "drop", "fill", "read", "state", "text", "validate"];
/// Verbs that ask for a key after "with" or "using".
pub(super) const WITH_VERBS: &[&str] =
    &["reply", "respond", "answer", "verify", "validate", "authenticate", "sync", "synchronize", "connect", "confirm", "log", "sign"];
/// Verbs that stand in a list with those that hand over.
pub(super) const LISTED: &[&str] = &[
    "list", "print", "display", "output", "expose", "export", "store", "ask", "request", "see", "view", "access", "handle", "leak", "log",
    "return", "publish", "repeat", "quote", "recover", "copy", "accept", "save",
];
pub(super) const GERUNDS: &[&str] = &[
    "pasting",
    "entering",
    "sharing",
    "sending",
    "giving",
    "providing",
    "typing",
    "submitting",
    "uploading",
    "importing",
    "revealing",
    "supplying",
    "inserting",
];
pub(super) const BEFORE_GERUNDS: &[&str] = &["by", "after", "upon", "require", "requires", "involves", "with", "start", "mind", "consider"];
pub(super) const PARTICIPLES: &[&str] = &[
    "sent",
    "entered",
    "pasted",
    "shared",
    "given",
    "provided",
    "submitted",
    "typed",
    "uploaded",
    "supplied",
    "imported",
    "revealed",
    "received",
    "confirmed",
    "verified",
];
pub(super) const NEEDED: &[&str] = &["required", "needed", "necessary", "requested", "mandatory", "missing"];
pub(super) const NEED: &[&str] =
    &["need", "needs", "require", "requires", "want", "wants", "missing", "await", "awaiting", "lack", "needing"];
/// Words before "to" that oblige.
pub(super) const OBLIGATIONS: &[&str] = &["has", "have", "needs", "need", "ought"];
pub(super) const COPULAS: &[&str] =
    &["is", "are", "was", "were", "be", "stays", "stay", "remains", "remain", "will", "has", "have", "can", "never"];
/// Words between a verb and its object, or before the noun of one.
pub(super) const DETERMINERS: &[&str] = &[
    "your",
    "the",
    "a",
    "an",
    "this",
    "that",
    "any",
    "my",
    "our",
    "their",
    "his",
    "its",
    "full",
    "entire",
    "complete",
    "whole",
    "raw",
    "actual",
    "exact",
    "current",
    "own",
    "secret",
    "wallet",
    "account",
    "wallet's",
    "account's",
    "12",
    "24",
    "twelve",
    "word",
    "words",
    "of",
    "original",
    "private",
    "bip39",
];
pub(super) const AFTER_TELLING: &[&str] = &["me", "us", "here", "below", "in", "down", "out", "to", "with", "back", "support", "what"];
pub(super) const READER: &[&str] = &["your", "you", "me", "us", "here", "below"];
