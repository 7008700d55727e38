//! Words by which rules that loosen a safeguard are told from rules that keep it.

/// Beginnings of the words for the review by the guardian.
pub(super) const GUARDIAN: &[&str] =
    &["guardi", "gardien", "wächter", "veto", "safety", "safeguard", "sicherheit", "seguridad", "segurança"];
/// Beginnings of the words for approvals, confirmations and checks.
pub(super) const CONSENT: &[&str] = &[
    "approval",
    "confirm",
    "check",
    "verif",
    "review",
    "aprobaci",
    "aprovaç",
    "bestätigung",
    "freigabe",
    "genehmigung",
    "prüfung",
    "comprobaci",
    "approbation",
    "vérific",
    "contrôle",
];
pub(super) const SIMULATION: &[&str] = &["simul"];
pub(super) const LIMIT: &[&str] = &["limit", "límite", "plafond", "allowance"];
/// Words before "limit" that make it no safeguard.
pub(super) const OTHER_LIMITS: &[&str] = &["gas", "rate", "block", "time"];
/// Endings of adjectives, which stand beside what they describe.
pub(super) const ADJECTIVES: &[&str] = &["ed", "ados", "adas"];
/// Verbs that loosen what follows them.
pub(super) const VERBS: &[&str] = &[
    "exempt",
    "skip",
    "bypass",
    "ignore",
    "disable",
    "omit",
    "circumvent",
    "override",
    "waive",
    "evade",
    "suspend",
    "relax",
    "deactivate",
    "forgo",
    "forego",
    "omite",
    "omita",
    "omitir",
    "salta",
    "saltar",
    "sáltate",
    "ignora",
    "ignorar",
    "desactiva",
    "desactivar",
    "evita",
    "evitar",
    "sautez",
    "sauter",
    "contourne",
    "contournez",
    "contourner",
    "ignorez",
    "ignorer",
    "désactive",
    "désactivez",
    "désactiver",
    "omettre",
    "überspringe",
    "ignoriere",
    "umgehe",
    "deaktiviere",
    "pule",
    "pular",
    "desative",
    "desativar",
    "contornar",
];
/// Verbs that loosen limits and checks, but take rights away.
pub(super) const REMOVING: &[&str] = &["drop", "remove", "lift"];
pub(super) const RAISING: &[&str] = &["raise", "increase", "double", "lift", "exceed"];
/// Forms of the verbs that tell what happens, unless the sentence is a rule.
pub(super) const NARRATIVE: &[&str] = &[
    "skips",
    "skipping",
    "bypasses",
    "bypassing",
    "ignores",
    "ignoring",
    "disables",
    "disabling",
    "omits",
    "omitting",
    "waiving",
    "overriding",
];
/// German verbs, which stand behind their object.
pub(super) const FINAL_VERBS: &[&str] = &["überspringen", "ignorieren", "umgehen", "deaktivieren", "auslassen", "weglassen"];
pub(super) const WITHOUT: &[&str] = &["without", "sin", "ohne", "sans", "sem"];
/// Beginnings of verbs that break a limit.
pub(super) const BREAKING: &[&str] = &["exceed", "break", "violat", "cross", "hitting", "reach", "touch"];
/// Words after which an act is done in another way.
pub(super) const QUALIFIERS: &[&str] =
    &["with", "before", "until", "unless", "twice", "against", "using", "more", "longer", "from", "without", "only"];
/// Harms, which no rule allows.
pub(super) const HARMS: &[&str] =
    &["drain", "drains", "drained", "lose", "loses", "expose", "exposes", "steal", "empty", "losses", "everything"];
/// Words of a rule.
pub(super) const RULE: &[&str] = &[
    "always", "rule", "may", "can", "should", "must", "directly", "now", "every", "default", "siempre", "puede", "pueden", "immer", "darf",
    "dürfen", "toujours", "peut", "peuvent", "sempre", "pode", "podem",
];
/// Verbs of orders at the beginning of a clause.
pub(super) const ORDERS: &[&str] = &[
    "send", "sign", "submit", "execute", "route", "pay", "approve", "withdraw", "sell", "proceed", "process", "make", "do", "go", "grant",
    "use", "envía", "firma", "ejecuta", "paga", "envie", "assine", "envoie", "envoyez", "signe", "signez", "sende", "signiere",
];
/// Verbs that give an unlimited right.
pub(super) const GRANTING: &[&str] = &[
    "approve", "grant", "set", "give", "use", "allow", "keep", "request", "sign", "prefer", "take", "apply", "choose", "aprueba", "usa",
    "approuve", "use",
];
pub(super) const UNLIMITED: &[&str] = &["unlimited", "infinite", "ilimitad", "illimité", "unbegrenzt", "unbeschränkt"];
/// Predicates that allow.
pub(super) const ALLOWING: &[&str] =
    &["fine", "ok", "okay", "acceptable", "allowed", "permitted", "preferred", "recommended", "safe", "saves", "better", "default", "good"];
/// Predicates that make a safeguard needless.
pub(super) const NEEDLESS: &[&str] = &[
    "void",
    "moot",
    "optional",
    "unnecessary",
    "superfluous",
    "needless",
    "opcional",
    "innecesario",
    "innecesaria",
    "facultatif",
    "facultative",
    "optionnel",
    "optionnelle",
    "inutile",
    "überflüssig",
    "unnötig",
    "desnecessário",
    "desnecessária",
];
pub(super) const WAIVED: &[&str] =
    &["skipped", "omitted", "ignored", "bypassed", "disabled", "waived", "overridden", "dropped", "suspended"];
/// Predicates whose negation makes a safeguard needless.
pub(super) const NEEDED: &[&str] = &[
    "needed",
    "required",
    "necessary",
    "mandatory",
    "apply",
    "applies",
    "necesaria",
    "necesario",
    "nötig",
    "erforderlich",
    "notwendig",
    "nécessaire",
    "necessária",
    "necessário",
    "enforced",
];
pub(super) const NEED: &[&str] = &[
    "need",
    "needs",
    "require",
    "requires",
    "necesitan",
    "necesita",
    "brauchen",
    "braucht",
    "precisam",
    "precisa",
    "besoin",
    "falta",
    "bother",
];
pub(super) const NO: &[&str] = &["no", "keine", "keinen", "kein", "zero", "neither"];
/// Words after a limit that is said not to be.
pub(super) const AFTER_LIMIT: &[&str] = &["on", "for", "to", "applies", "apply", "is", "at", "when", "and"];
pub(super) const NEGATIONS: &[&str] = &[
    "never",
    "not",
    "no",
    "don't",
    "cannot",
    "can't",
    "mustn't",
    "shouldn't",
    "doesn't",
    "isn't",
    "aren't",
    "won't",
    "nothing",
    "nobody",
    "none",
    "neither",
    "nor",
    "dont",
    "nunca",
    "jamás",
    "não",
    "ne",
    "jamais",
    "nicht",
    "nie",
    "niemals",
    "keine",
    "keinen",
    "kein",
    "nadie",
    "ninguém",
];
/// Words after a negation that urge: "do not wait".
pub(super) const URGED: &[&str] =
    &["wait", "hesitate", "worry", "worries", "delay", "mind", "forget", "problem", "bother", "longer", "only", "need", "needed"];
/// Words that turn what follows into its contrary.
pub(super) const TIGHTENING: &[&str] = &[
    "reject", "rejects", "refuse", "refuses", "revoke", "block", "blocks", "veto", "vetoes", "forbid", "forbids", "deny", "decline",
    "avoid", "stop", "prevent", "prohibit", "cancel", "flag", "report", "warn", "beware", "detect", "remove", "reduce", "lower", "abort",
    "halt", "distrust", "rechaza", "rechace", "prohíbe", "refuse", "refusez", "verbiete", "rejeite",
];
/// Verbs that leave out what follows, unless it is a safeguard.
pub(super) const LEAVING: &[&str] = &["skip", "ignore", "omit", "exclude", "drop"];
pub(super) const TIGHT: &[&str] = &[
    "rejected",
    "refused",
    "forbidden",
    "revoked",
    "blocked",
    "prohibited",
    "disallowed",
    "vetoed",
    "declined",
    "denied",
    "stopped",
    "banned",
    "cancelled",
    "canceled",
    "aborted",
    "reverted",
    "reported",
    "flagged",
    "halted",
    "dangerous",
    "unsafe",
    "risky",
    "invalid",
    "unacceptable",
    "wrong",
    "bad",
    "suspicious",
    "refuted",
    "disproved",
    "false",
    "untrue",
    "prohibidas",
    "prohibidos",
    "prohibido",
    "verboten",
    "interdit",
    "interdites",
    "proibido",
    "proibidas",
    "rechazarse",
    "abgelehnt",
];
pub(super) const COPULAS: &[&str] = &[
    "must", "should", "shall", "will", "are", "is", "be", "get", "gets", "were", "was", "been", "deben", "debe", "están", "sind", "ist",
    "werden", "wird", "muss", "müssen", "sont", "est", "são", "é", "está",
];
/// Words that end the object of a verb.
pub(super) const OBJECT_ENDS: &[&str] = &[
    "below", "above", "under", "over", "within", "beyond", "until", "when", "if", "unless", "after", "before", "that", "which", "because",
    "while", "where", "whose", "without", "with", "to",
];
pub(super) const CONJUNCTIONS: &[&str] = &["and", "or", "y", "e", "o", "und", "oder", "et", "ou"];
pub(super) const CONDITIONS: &[&str] = &["if", "when", "whenever", "after", "because", "since", "once"];
pub(super) const ACTORS: &[&str] = &["you", "we", "i", "they", "it", "agents", "agent", "one"];
/// Those who approve by right.
pub(super) const APPROVERS: &[&str] = &["guardian", "owner", "user", "human", "operator", "users", "owners", "vaults"];
pub(super) const ALL: &[&str] = &["everything", "all", "any", "every", "each", "todo", "tout", "tudo", "alles", "automatically"];
pub(super) const APPROVE: &[&str] =
    &["approve", "confirm", "aprueba", "aprobar", "approuve", "approuver", "aprove", "aprovar", "genehmige", "genehmigen"];
/// Those whose wishes are no report: what they ask for needs their own words as its source.
pub(super) const PRINCIPALS: &[&str] = &["owner", "user", "desk", "operator", "human", "we", "i"];
/// Words by which others ask.
pub(super) const REPORTS: &[&str] = &[
    "wrote",
    "contained",
    "contains",
    "appeared",
    "told",
    "tells",
    "tell",
    "asked",
    "asks",
    "said",
    "says",
    "claims",
    "claimed",
    "wants",
    "wanted",
    "instructs",
    "instructed",
    "directs",
    "directed",
    "tried",
    "tries",
    "attempted",
    "attempts",
    "urges",
    "urged",
    "demands",
    "demanded",
];
/// Words of a text that keeps away from what it reports.
pub(super) const DISTANCE: &[&str] = &[
    "reported",
    "deleted",
    "attacker",
    "removed",
    "attack",
    "attacks",
    "injection",
    "injected",
    "ignored",
    "refused",
    "rejected",
    "untrusted",
    "malicious",
    "suspicious",
    "poison",
    "poisoned",
    "scam",
    "phishing",
    "blocked",
    "stopped",
    "vetoed",
    "failed",
    "lost",
    "reverted",
    "distrust",
];
/// Chinese words for each safeguard: guardian, consent, simulation, limit.
pub(super) const CHINESE: [&[&str]; 4] =
    [&["守护", "风控"], &["审批", "批准", "确认", "检查", "审核"], &["模拟"], &["限额", "上限", "额度", "无限授权"]];
pub(super) const CHINESE_VERBS: &[&str] = &["跳过", "绕过", "忽略", "省略", "关闭", "禁用", "无需", "不需要", "不用", "无须", "无限"];
pub(super) const CHINESE_NEGATIONS: &[&str] = &["不要", "不得", "禁止", "切勿", "不能", "不可", "严禁", "请勿", "绝不", "拒绝", "从不"];
