//! Tree of delegations in a transcript.

use model::transcript::ReviewDecision;
use model::{Event, EventKind};
use serde_json::{Value, json};

/// One delegation: an agent and its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DelegationNode {
    pub agent: String,
    pub first: u32,
    pub last: u32,
    pub calls: usize,
    pub transactions: usize,
    pub decided: Option<ReviewDecision>,
    pub children: Vec<DelegationNode>,
}

/// Returns the tree of a transcript; `None` if no agent acted.
pub fn delegation_tree(events: &[Event]) -> Option<DelegationNode> {
    let mut acting = events.iter().filter(|event| event.by != "user").peekable();
    let first = acting.peek()?;
    let mut root = DelegationNode::new(&first.by, first.n);
    // Child indices from the root to the acting agent.
    let mut path: Vec<usize> = vec![];
    for event in acting {
        path.truncate(usize::try_from(event.depth).unwrap_or(usize::MAX));
        let node = path.iter().fold(&mut root, |node, at| &mut node.children[*at]);
        node.add_event(event);
        if let EventKind::Delegated { to, .. } = &event.happened {
            node.children.push(DelegationNode::new(to, event.n));
            path.push(node.children.len() - 1);
        }
    }
    root.extend_to_children();
    Some(root)
}

impl DelegationNode {
    fn new(agent: &str, first: u32) -> Self {
        Self { agent: agent.to_owned(), first, last: first, calls: 0, transactions: 0, decided: None, children: vec![] }
    }

    fn add_event(&mut self, event: &Event) {
        self.last = event.n;
        self.calls += usize::from(matches!(event.happened, EventKind::Called { .. }));
        self.transactions += usize::from(matches!(event.happened, EventKind::Mined { .. }));
        if let EventKind::Decided { decision, .. } = &event.happened {
            self.decided = Some(*decision);
        }
    }

    /// Extends the last event to those of the children.
    fn extend_to_children(&mut self) {
        for node in &mut self.children {
            node.extend_to_children();
            self.last = self.last.max(node.last);
        }
    }

    fn line(&self) -> String {
        let counted = |n: usize, noun: &str| (n > 0).then(|| model::count(n, noun));
        let decided = self.decided.map(|decision| match decision {
            ReviewDecision::Approve => "approved".to_owned(),
            ReviewDecision::Veto => "vetoed".to_owned(),
        });
        let did: Vec<String> =
            [counted(self.calls, "call"), counted(self.transactions, "transaction"), decided].into_iter().flatten().collect();
        let did = if did.is_empty() { "no calls".to_owned() } else { did.join(", ") };
        format!("{}  #{} to #{}, {did}", crate::escape::escape_control(&self.agent), self.first, self.last)
    }

    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.line()];
        for (n, node) in self.children.iter().enumerate() {
            let is_last = n + 1 == self.children.len();
            for (m, line) in node.lines().into_iter().enumerate() {
                let before = match (m, is_last) {
                    (0, true) => "└─ ",
                    (0, false) => "├─ ",
                    (_, true) => "   ",
                    (_, false) => "│  ",
                };
                lines.push(format!("{before}{line}"));
            }
        }
        lines
    }

    pub fn json(&self) -> Value {
        json!({
            "agent": self.agent, "first": self.first, "last": self.last, "calls": self.calls, "transactions": self.transactions,
            "decided": self.decided, "delegated": self.children.iter().map(DelegationNode::json).collect::<Vec<_>>(),
        })
    }
}
