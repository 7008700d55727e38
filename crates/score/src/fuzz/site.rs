//! Every place of a shape where one mutation can make a value invalid.

use super::dice::Dice;
use super::shape::{Extra, Kind, Shape};
use super::step::Step;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) way: Vec<Step>,
    pub(super) fault: Fault,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Missing(String),
    Extra,
    Type(Kind),
    Below,
    Above,
    Outside,
    Pattern,
    Short,
    Long,
    Few,
    Many,
    Twice,
}

/// One round through all sites, kind after kind, so that the first ones already show every kind of fault.
/// Wrong types have by far the most sites; without coming back, the rarer kinds would hardly be seen.
pub(super) fn round(shape: &Shape, dice: &mut Dice<'_>) -> Vec<Site> {
    let mut found = Vec::new();
    collect(shape, &mut Vec::new(), &mut found);
    dice.shuffle(&mut found);
    let mut rows: Vec<Vec<Site>> = vec![Vec::new(); Fault::ROWS];
    found.into_iter().for_each(|site| rows[site.fault.row()].push(site));
    rows.retain(|row| !row.is_empty());
    let longest = rows.iter().map(Vec::len).max().unwrap_or(0);
    let turn =
        |at: usize| rows.iter().filter(move |row| at < row.len() || at.is_multiple_of(COMES_BACK)).map(move |row| &row[at % row.len()]);
    (0..longest).flat_map(turn).cloned().collect()
}

/// A kind whose sites are used up takes part in every so many turns.
const COMES_BACK: usize = 3;

impl Fault {
    const ROWS: usize = 12;

    fn row(&self) -> usize {
        match self {
            Self::Missing(_) => 0,
            Self::Extra => 1,
            Self::Type(_) => 2,
            Self::Below => 3,
            Self::Above => 4,
            Self::Outside => 5,
            Self::Pattern => 6,
            Self::Short => 7,
            Self::Long => 8,
            Self::Few => 9,
            Self::Many => 10,
            Self::Twice => 11,
        }
    }
}

fn collect(shape: &Shape, way: &mut Vec<Step>, found: &mut Vec<Site>) {
    let mut add = |fault| found.push(Site { way: way.clone(), fault });
    Kind::ALL.into_iter().filter(|&kind| !shape.allows(kind)).for_each(|kind| add(Fault::Type(kind)));
    match shape {
        Shape::Any | Shape::Null | Shape::Boolean => {}
        Shape::Integer(range) => {
            range.low.iter().for_each(|_| add(Fault::Below));
            range.high.iter().for_each(|_| add(Fault::Above));
        }
        Shape::Number(range) => {
            range.low.iter().for_each(|_| add(Fault::Below));
            range.high.iter().for_each(|_| add(Fault::Above));
        }
        Shape::Text(text) => {
            text.pattern.iter().for_each(|_| add(Fault::Pattern));
            text.max.iter().for_each(|_| add(Fault::Long));
            (text.min > 0).then(|| add(Fault::Short));
        }
        Shape::Choice(_) => add(Fault::Outside),
        Shape::List(list) => {
            list.max.iter().for_each(|_| add(Fault::Many));
            (list.min > 0).then(|| add(Fault::Few));
            (list.unique && list.max.is_none_or(|max| max > 1)).then(|| add(Fault::Twice));
            if list.max != Some(0) {
                inside(&list.item, Step::Item, way, found);
            }
        }
        Shape::Object(object) => {
            let required = object.fields.iter().filter(|field| field.required);
            required.for_each(|field| add(Fault::Missing(field.name.clone())));
            match &object.extra {
                Extra::Free => {}
                Extra::Forbidden => add(Fault::Extra),
                Extra::Shaped(shape) => inside(shape, Step::Key(object.free_name()), way, found),
            }
            for field in &object.fields {
                inside(&field.shape, Step::Key(field.name.clone()), way, found);
            }
        }
        Shape::AnyOf(branches) | Shape::OneOf(branches) => {
            let own = found.len();
            for (i, branch) in branches.iter().enumerate() {
                inside(branch, Step::Branch(i), way, found);
            }
            // A branch's own type is no fault where another branch allows it, and the union has listed the rest.
            let mut index = 0;
            found.retain(|site| {
                index += 1;
                index <= own || !(site.way.len() == way.len() + 1 && matches!(site.fault, Fault::Type(_)))
            });
        }
    }
}

fn inside(shape: &Shape, step: Step, way: &mut Vec<Step>, found: &mut Vec<Site>) {
    way.push(step);
    collect(shape, way, found);
    way.pop();
}
