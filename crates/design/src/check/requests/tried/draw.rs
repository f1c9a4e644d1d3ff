//! Draws the values of items: of one that meets a condition, and of others that differ from it in one or two attributes.

use crate::item::Attributes;
use crate::model::condition::Condition;
use std::collections::BTreeSet;

/// How many items that meet the condition for different reasons are varied.
const MAX_BASES: usize = 4;
/// How often the condition is evaluated to find one of them.
const MAX_EVALUATIONS: usize = 1_000;

/// The values of an attribute that are tried, the common one first; `None` is its absence.
pub(super) struct Candidates<'a> {
    pub name: &'a str,
    pub values: Vec<Option<String>>,
    /// Whether the condition or a bound of the request concerns it, so that its values matter together with those of others.
    pub is_joined: bool,
}

/// The attributes whose values are drawn, and the condition that one of the items is to meet.
pub(super) struct Draw<'a> {
    pub candidates: Vec<Candidates<'a>>,
    pub condition: &'a Condition,
}

/// The number of the value of each attribute.
type Drawn = Vec<usize>;

impl Draw<'_> {
    /// Returns the values of different items, those with few changes first.
    pub fn items(&self, most: usize) -> Vec<Attributes> {
        let bases = self.bases();
        let singles = bases.iter().flat_map(|base| {
            let changed = self.changes().map(move |change| with(base, &[change]));
            std::iter::once(base.clone()).chain(changed)
        });
        let pairs = bases.iter().flat_map(|base| self.pairs().map(move |pair| with(base, &pair)));
        let mut seen = BTreeSet::new();
        let new = singles.chain(pairs).filter(|drawn| seen.insert(drawn.clone()));
        new.take(most).map(|drawn| self.attributes(&drawn)).collect()
    }

    /// Every value of every attribute.
    fn changes(&self) -> impl Iterator<Item = (usize, usize)> {
        let numbered = self.candidates.iter().enumerate();
        numbered.flat_map(|(attribute, own)| (0..own.values.len()).map(move |value| (attribute, value)))
    }

    /// Every two values of attributes that matter together.
    fn pairs(&self) -> impl Iterator<Item = [(usize, usize); 2]> {
        let joined = |attribute: usize| self.candidates[attribute].is_joined;
        let first = self.changes().filter(move |(attribute, _)| joined(*attribute));
        first.flat_map(move |one| {
            let later = self.changes().filter(move |(attribute, _)| *attribute > one.0 && joined(*attribute));
            later.map(move |other| [one, other])
        })
    }

    /// The items that are varied: one that meets the condition, and others that do so with values with which it does not.
    fn bases(&self) -> Vec<Drawn> {
        let common = vec![0; self.candidates.len()];
        let Some(base) = self.meeting(None) else { return vec![common] };
        let mut bases = vec![base.clone()];
        for change in self.changes().filter(|(attribute, _)| self.is_tested(*attribute)) {
            if bases.len() == MAX_BASES {
                break;
            }
            if !self.condition.holds(&self.attributes(&with(&base, &[change]))) {
                bases.extend(self.meeting(Some(change)).filter(|other| !bases.contains(other)));
            }
        }
        bases
    }

    /// The first values that meet the condition, one of which may be given.
    fn meeting(&self, given: Option<(usize, usize)>) -> Option<Drawn> {
        let mut drawn = with(&vec![0; self.candidates.len()], given.as_slice());
        let tested = (0..self.candidates.len()).filter(|attribute| self.is_tested(*attribute));
        let open: Vec<usize> =
            tested.filter(|attribute| given.is_none_or(|(own, _)| own != *attribute)).collect();
        let known: BTreeSet<&str> = (0..self.candidates.len())
            .filter(|attribute| !open.contains(attribute))
            .map(|attribute| self.candidates[attribute].name)
            .collect();
        self.completes(&mut drawn, &open, &known, &mut { MAX_EVALUATIONS }).then_some(drawn)
    }

    /// Chooses values of the attributes that are open, one after the other: a part of the condition whose attributes are all known must hold.
    fn completes(
        &self,
        drawn: &mut Drawn,
        open: &[usize],
        known: &BTreeSet<&str>,
        evaluations: &mut usize,
    ) -> bool {
        let Some(left) = evaluations.checked_sub(1) else { return false };
        *evaluations = left;
        let is_open = |name: &str| open.iter().any(|attribute| self.candidates[*attribute].name == name);
        let attributes = self.attributes(drawn);
        let is_decided = |part: &&Condition| {
            !part.attributes().into_iter().any(|name| !known.contains(name) && is_open(name))
        };
        if !self.condition.conjuncts().into_iter().filter(is_decided).all(|part| part.holds(&attributes)) {
            return false;
        }
        let Some((next, rest)) = open.split_first() else { return true };
        let own = &self.candidates[*next];
        let known = known.iter().copied().chain([own.name]).collect();
        (0..own.values.len()).any(|value| {
            drawn[*next] = value;
            self.completes(drawn, rest, &known, evaluations)
        })
    }

    fn is_tested(&self, attribute: usize) -> bool {
        self.condition.mentions(self.candidates[attribute].name)
    }

    fn attributes(&self, drawn: &[usize]) -> Attributes {
        let values = self.candidates.iter().zip(drawn);
        let present = values.filter_map(|(own, value)| {
            Some((own.name.to_owned(), own.values.get(*value)?.as_ref()?.clone()))
        });
        present.collect()
    }
}

fn with(drawn: &[usize], changes: &[(usize, usize)]) -> Drawn {
    let mut drawn = drawn.to_vec();
    changes.iter().for_each(|(attribute, value)| drawn[*attribute] = *value);
    drawn
}
