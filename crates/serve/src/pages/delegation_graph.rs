//! Drawing of the delegations between agents: from left to right, an agent right of all that delegate to it.

use super::shown;
use maud::{Markup, html};
use model::Agent;

/// Larger graphs are only listed.
const MAX_AGENTS: usize = 60;
const COLUMN: usize = 250;
const ROW: usize = 20;
const NAME: usize = 170;

/// Place of an agent in the drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct GraphPlace {
    column: usize,
    row: usize,
}

impl GraphPlace {
    fn x(self) -> usize {
        self.column * COLUMN + 4
    }

    fn y(self) -> usize {
        self.row * ROW + 16
    }
}

pub(super) fn delegation_graph(agents: &[Agent]) -> Markup {
    let at = |name: &str| agents.iter().position(|agent| agent.name.value == name);
    let edges: Vec<(usize, usize)> =
        agents.iter().enumerate().flat_map(|(from, agent)| agent.delegates_to.iter().filter_map(move |to| Some((from, at(to)?)))).collect();
    if !(2..=MAX_AGENTS).contains(&agents.len()) || edges.is_empty() {
        return html! {};
    }
    let places = places(&columns(agents.len(), &edges));
    let width = places.iter().map(|place| place.x()).max().unwrap_or(0) + NAME + 10;
    let height = places.iter().map(|place| place.y()).max().unwrap_or(0) + 10;
    html! {
        details open {
            summary { (edges.len()) " delegations, from left to right; dashed ones go back" }
            div.wide tabindex="0" role="region" aria-label="Drawing of the delegations" {
                svg.graph width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } role="img" aria-label={ (edges.len()) " delegations between " (agents.len()) " agents; the table lists them" } {
                    @for (from, to) in &edges { (edge(places[*from], places[*to])) }
                    @for (agent, place) in agents.iter().zip(&places) {
                        rect x=(place.x()) y=(place.y() - 12) width=(NAME) height="17" rx="4" {}
                        text x=(place.x() + 5) y=(place.y() + 1) { (shown(&agent.name)) }
                    }
                }
            }
        }
    }
}

fn edge(from: GraphPlace, to: GraphPlace) -> Markup {
    let is_back = to.column <= from.column;
    let (x1, y1, x2, y2) = (from.x() + NAME, from.y() - 4, to.x(), to.y() - 4);
    let bend = COLUMN / 3;
    html! { path class=(if is_back { "edge back" } else { "edge" }) d={ "M " (x1) " " (y1) " C " (x1 + bend) " " (y1) " " (x2.saturating_sub(bend)) " " (y2) " " (x2) " " (y2) } {} }
}

/// Returns the column of each agent: the longest way to it. Ways in a circle end after as many steps as there are agents.
fn columns(agents: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut columns = vec![0; agents];
    let has_circle = (0..agents).all(|_| {
        let mut changed = false;
        for (from, to) in edges.iter().filter(|(from, to)| from != to) {
            if columns[*to] <= columns[*from] {
                columns[*to] = columns[*from] + 1;
                changed = true;
            }
        }
        changed
    });
    // Agents that delegate in a circle have no order.
    if has_circle { (0..agents).map(|agent| usize::from(edges.iter().any(|(_, to)| *to == agent))).collect() } else { columns }
}

fn places(columns: &[usize]) -> Vec<GraphPlace> {
    let mut used = vec![0; columns.iter().max().map_or(0, |last| last + 1)];
    columns
        .iter()
        .map(|column| {
            let row = used[*column];
            used[*column] += 1;
            GraphPlace { column: *column, row }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_stand_right_of_those_that_delegate_to_them() {
        assert_eq!(columns(4, &[(0, 1), (1, 2), (0, 2), (3, 2)]), [0, 1, 2, 0]);
        assert_eq!(columns(2, &[(0, 0)]), [0, 0]);
    }

    #[test]
    fn circles_end() {
        assert_eq!(columns(3, &[(0, 1), (1, 2), (2, 1)]), [0, 1, 1]);
    }

    #[test]
    fn no_two_agents_share_a_place() {
        assert_eq!(places(&[0, 1, 0]).iter().map(|place| (place.x(), place.y())).collect::<Vec<_>>(), [(4, 16), (254, 16), (4, 36)]);
    }
}
