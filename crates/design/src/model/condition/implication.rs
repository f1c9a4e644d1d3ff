//! Whether conditions can hold together, and so whether one implies another.
//!
//! The values that conditions mention divide the values of each attribute into regions: the mentioned values themselves and the gaps between
//! them. Within a region all values answer every test alike, so it is enough to try one point of each. Too many combinations are not tried:
//! the conditions are then said to be satisfiable, and nothing is implied. Both are safe.

mod point;

use super::{Comparator, Comparison, Condition, Constant, Test};
use crate::model::decimal::Decimal;
use crate::model::text_form::{date_after, is_date};
use crate::model::value_type::ValueType;
use crate::template::FieldTypes;
use point::{Point, Position};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

/// The number of tests that are evaluated before the answer is "not implied".
const MAX_EVALUATIONS: usize = 1 << 13;
/// The number of tests that are evaluated to find the values that an attribute can have.
const MAX_EVALUATIONS_OF_VALUES: usize = 1 << 16;
/// The most texts of `contains` on one attribute that are told apart.
const MAX_CONTENTS: usize = 4;
/// The most choices of a type that are tried one by one.
const MAX_CHOICES: usize = 256;

impl Condition {
    /// Returns whether whatever meets this condition also meets `other`, for attributes of these types.
    pub fn implies(&self, other: &Condition, types: &dyn FieldTypes) -> bool {
        let mut budget = MAX_EVALUATIONS;
        let own = self.conjuncts();
        let known: BTreeSet<&Condition> = own.iter().copied().collect();
        other.conjuncts().into_iter().all(|wanted| {
            if known.contains(wanted) {
                return true;
            }
            let mut parts: Vec<(&Condition, bool)> =
                related(&own, wanted).into_iter().map(|part| (part, true)).collect();
            parts.push((wanted, false));
            can_hold(&parts, types, &mut budget) == Some(false)
        })
    }

    /// Returns whether some item may meet the condition; true if that is too costly to decide.
    pub fn is_satisfiable(&self, types: &dyn FieldTypes) -> bool {
        let parts: Vec<(&Condition, bool)> = self.conjuncts().into_iter().map(|part| (part, true)).collect();
        can_hold(&parts, types, &mut { MAX_EVALUATIONS }) != Some(false)
    }

    /// Returns those of some values that an attribute can have where the condition holds, and those for which that is too costly to decide.
    pub(super) fn possible(
        &self,
        attribute: &str,
        values: Vec<Constant>,
        types: &dyn FieldTypes,
    ) -> Vec<Constant> {
        if !self.is_satisfiable(types) {
            return Vec::new();
        }
        let wanted = Condition::among(attribute, values.clone());
        let mut parts: Vec<(&Condition, bool)> =
            related(&self.conjuncts(), &wanted).into_iter().map(|part| (part, true)).collect();
        parts.push((&wanted, true));
        let mut budget = MAX_EVALUATIONS_OF_VALUES;
        let Some(regions) = regions(&parts, types, &mut budget) else { return values };
        let Some(number) = regions.iter().position(|own| own.attribute == attribute) else { return values };
        let mut search = Search::new(&parts, &regions);
        let is_possible = |value: &Constant| {
            let point = regions[number].point_of(value);
            point.is_some_and(|point| {
                search.points[number] = point..point + 1;
                search.run(&mut budget) != Some(false)
            })
        };
        values.into_iter().filter(is_possible).collect()
    }
}

/// The parts that share attributes with `wanted`, directly or through one another; the others decide nothing.
fn related<'a>(parts: &[&'a Condition], wanted: &Condition) -> Vec<&'a Condition> {
    let attributes: Vec<BTreeSet<&str>> = parts.iter().map(|part| part.attributes()).collect();
    let mut testing: HashMap<&str, Vec<usize>> = HashMap::new();
    for (number, names) in attributes.iter().enumerate() {
        names.iter().for_each(|name| testing.entry(name).or_default().push(number));
    }
    let (mut open, mut found): (Vec<&str>, BTreeSet<usize>) = (Vec::new(), BTreeSet::new());
    open.extend(wanted.attributes());
    while let Some(name) = open.pop() {
        for number in testing.remove(name).unwrap_or_default() {
            if found.insert(number) {
                open.extend(&attributes[number]);
            }
        }
    }
    found.into_iter().map(|number| parts[number]).collect()
}

/// Returns whether all parts can hold, or fail where that is wanted; `None` if it takes too long.
fn can_hold(parts: &[(&Condition, bool)], types: &dyn FieldTypes, budget: &mut usize) -> Option<bool> {
    Search::new(parts, &regions(parts, types, budget)?).run(budget)
}

/// The regions of every attribute that the parts test, by name; `None` if there are too many. To find them takes a part of the budget, too.
fn regions<'a>(
    parts: &[(&'a Condition, bool)],
    types: &dyn FieldTypes,
    budget: &mut usize,
) -> Option<Vec<Regions<'a>>> {
    let mut tests: BTreeMap<&str, Vec<&Test>> = BTreeMap::new();
    for test in parts.iter().flat_map(|(part, _)| part.tests()) {
        *budget = budget.checked_sub(test.comparison.constants().len().max(1))?;
        tests.entry(&test.attribute).or_default().push(test);
    }
    tests.into_iter().map(|(name, own)| Regions::new(name, &own, types)).collect()
}

/// A condition whose values are found among those that are mentioned, so that points are compared by their numbers.
enum Located {
    Not(Box<Located>),
    All(Vec<Located>),
    Any(Vec<Located>),
    Test {
        /// The number of the attribute.
        attribute: usize,
        test: LocatedTest,
        holds_when_absent: bool,
    },
}

enum LocatedTest {
    Exists,
    Is(Comparator, Option<Position>),
    Between(Option<Position>, Option<Position>),
    Among(HashSet<Position>),
    /// The rank of the prefix, and that of the first text above all that start with it.
    BeginsWith(usize, Option<usize>),
    /// The number of the text; `None` if it is not told apart.
    Contains(Option<usize>),
}

impl Located {
    fn new(condition: &Condition, regions: &[Regions<'_>]) -> Located {
        let all = |parts: &[Condition]| parts.iter().map(|part| Located::new(part, regions)).collect();
        match condition {
            Condition::Not(part) => Located::Not(Box::new(Located::new(part, regions))),
            Condition::All(parts) => Located::All(all(parts)),
            Condition::Any(parts) => Located::Any(all(parts)),
            Condition::Test(test) => {
                let found = regions.binary_search_by(|own| own.attribute.cmp(&test.attribute));
                let attribute = found.unwrap_or(regions.len());
                let located = regions.get(attribute).map_or(LocatedTest::Exists, |own| own.located(test));
                Located::Test { attribute, test: located, holds_when_absent: test.holds_when_absent() }
            }
        }
    }
}

impl LocatedTest {
    /// Whether the values of a point meet the test.
    fn holds(&self, point: Point) -> bool {
        let own = point.position();
        let compare = |position: Option<Position>| own?.compare(position?);
        match self {
            LocatedTest::Exists => true,
            LocatedTest::Is(comparator, position) => comparator.accepts(compare(*position)),
            LocatedTest::Between(from, to) => {
                compare(*from).is_some_and(Ordering::is_ge) && compare(*to).is_some_and(Ordering::is_le)
            }
            LocatedTest::Among(positions) => own.is_some_and(|own| positions.contains(&own)),
            LocatedTest::BeginsWith(from, below) => match own {
                Some(Position::Text(rank)) => rank >= *from && below.is_none_or(|below| rank < below),
                _ => false,
            },
            LocatedTest::Contains(number) => match point {
                Point::Text { contents, .. } | Point::Other { contents } => {
                    number.is_some_and(|number| contents & 1 << number != 0)
                }
                _ => false,
            },
        }
    }
}

struct Search<'r> {
    regions: &'r [Regions<'r>],
    parts: Vec<(Located, bool)>,
    /// The numbers of the points of each attribute that are tried.
    points: Vec<Range<usize>>,
    /// The numbers of the points that are chosen for the first attributes.
    chosen: Vec<usize>,
}

impl<'r> Search<'r> {
    fn new(parts: &[(&Condition, bool)], regions: &'r [Regions<'r>]) -> Search<'r> {
        let parts = parts.iter().map(|(part, wanted)| (Located::new(part, regions), *wanted)).collect();
        let points = regions.iter().map(|regions| 0..regions.points.len()).collect();
        Search { regions, parts, points, chosen: Vec::new() }
    }

    fn run(&mut self, budget: &mut usize) -> Option<bool> {
        let mut open = false;
        for (part, wanted) in &self.parts {
            match self.evaluate(part, budget)? {
                Some(holds) if holds != *wanted => return Some(false),
                Some(_) => {}
                None => open = true,
            }
        }
        let Some(points) = self.points.get(self.chosen.len()).filter(|_| open) else { return Some(true) };
        for point in points.clone() {
            self.chosen.push(point);
            let found = self.run(budget);
            self.chosen.pop();
            if found != Some(false) {
                return found;
            }
        }
        Some(false)
    }

    /// Evaluates a condition on the points chosen so far. The outer `None` is the end of the budget, the inner one an open answer.
    fn evaluate(&self, condition: &Located, budget: &mut usize) -> Option<Option<bool>> {
        match condition {
            Located::Not(part) => Some(self.evaluate(part, budget)?.map(|holds| !holds)),
            Located::All(parts) => self.each(parts, true, budget),
            Located::Any(parts) => self.each(parts, false, budget),
            Located::Test { attribute, test, holds_when_absent } => {
                *budget = budget.checked_sub(1)?;
                let own = |number: &usize| self.regions.get(*attribute)?.points.get(*number).copied();
                Some(self.chosen.get(*attribute).and_then(own).map(|point| match point {
                    Point::Missing => *holds_when_absent,
                    point => test.holds(point),
                }))
            }
        }
    }

    /// All parts, or any: the value `neutral` of a part decides nothing, the other one everything.
    fn each(&self, parts: &[Located], neutral: bool, budget: &mut usize) -> Option<Option<bool>> {
        let mut result = Some(neutral);
        for part in parts {
            match self.evaluate(part, budget)? {
                Some(holds) if holds != neutral => return Some(Some(holds)),
                Some(_) => {}
                None => result = None,
            }
        }
        Some(result)
    }
}

/// The regions into which tests divide the values of an attribute.
struct Regions<'a> {
    attribute: &'a str,
    texts: Vec<String>,
    numbers: Vec<Decimal>,
    /// The ranks of the numbers, as they are written.
    ranks: HashMap<&'a str, usize>,
    contents: Vec<&'a str>,
    points: Vec<Point>,
}

impl<'a> Regions<'a> {
    /// `None` if there are too many.
    fn new(attribute: &'a str, tests: &[&'a Test], types: &dyn FieldTypes) -> Option<Regions<'a>> {
        let kind = types.type_of(attribute);
        let limits = types.number_limits(attribute);
        let mut regions = Regions {
            attribute,
            texts: Vec::new(),
            numbers: Vec::new(),
            ranks: HashMap::new(),
            contents: Vec::new(),
            points: Vec::new(),
        };
        regions.points.extend((!types.is_required(attribute)).then_some(Point::Missing));
        regions.points.extend(types.may_be_null(attribute).then_some(Point::Other { contents: 0 }));
        for test in tests {
            regions.mention(&test.comparison);
        }
        if let Some(ValueType::Choice(choices)) = kind {
            if choices.len() > MAX_CHOICES {
                return None;
            }
            regions.texts.extend(choices.iter().cloned());
        }
        regions.contents.sort_unstable();
        regions.contents.dedup();
        if regions.contents.len() > MAX_CONTENTS {
            return None;
        }
        regions.texts.sort_unstable();
        regions.texts.dedup();
        regions.numbers.extend([limits.0, limits.1].into_iter().flatten().cloned());
        regions.numbers.sort_unstable();
        regions.numbers.dedup();
        regions.ranks = regions.number_ranks(tests);
        match kind {
            None => {
                regions.add_bools();
                regions.add_numbers(false, limits);
                regions.add_texts(None);
                regions.add_containers();
            }
            Some(ValueType::Bool) => regions.add_bools(),
            Some(kind) if kind.is_number() => regions.add_numbers(*kind == ValueType::Int, limits),
            Some(kind) if !kind.is_scalar() => regions.add_containers(),
            Some(kind) => regions.add_texts(Some(kind)),
        }
        Some(regions)
    }

    fn number_ranks(&self, tests: &[&'a Test]) -> HashMap<&'a str, usize> {
        let constants = tests.iter().flat_map(|test| test.comparison.constants());
        let ranked = constants.filter_map(|constant| match constant {
            Constant::Number(text) => Some((text.as_str(), rank_of(&self.numbers, &Decimal::parse(text)?))),
            _ => None,
        });
        ranked.collect()
    }

    fn mention(&mut self, comparison: &'a Comparison) {
        for constant in comparison.constants() {
            match constant {
                Constant::Text(text) => self.texts.push(text.clone()),
                Constant::Number(text) => self.numbers.extend(Decimal::parse(text)),
                Constant::Bool(_) => {}
            }
        }
        match comparison {
            Comparison::BeginsWith(prefix) => {
                self.texts.push(prefix.clone());
                self.texts.extend(after_prefix(prefix));
            }
            Comparison::Contains(part) => self.contents.push(part),
            _ => {}
        }
    }

    fn add_bools(&mut self) {
        self.points.extend([Point::Bool(false), Point::Bool(true)]);
    }

    /// Adds the numbers between the limits, both of which are mentioned.
    fn add_numbers(&mut self, whole: bool, (least, greatest): (Option<&Decimal>, Option<&Decimal>)) {
        let first = least.map_or(0, |least| rank_of(&self.numbers, least));
        let last = greatest.map_or(2 * self.numbers.len(), |greatest| rank_of(&self.numbers, greatest));
        for rank in first..=last {
            let is_possible = !whole
                || match rank % 2 {
                    1 => self.numbers[rank / 2].is_whole(),
                    _ => self.gap_has_whole(rank / 2),
                };
            if is_possible {
                self.points.push(Point::Number { rank });
            }
        }
    }

    /// Returns whether a whole number lies between the mentioned numbers before and after a gap.
    fn gap_has_whole(&self, gap: usize) -> bool {
        let below = gap.checked_sub(1).and_then(|before| self.numbers[before].floor());
        let above = self.numbers.get(gap);
        match (below, above) {
            (Some(below), Some(above)) => {
                Decimal::parse(&(below + 1).to_string()).is_none_or(|next| next < *above)
            }
            _ => true,
        }
    }

    fn add_texts(&mut self, kind: Option<&ValueType>) {
        for rank in 0..=2 * self.texts.len() {
            let exact = (rank % 2 == 1).then(|| self.texts[rank / 2].as_str());
            let is_possible = match (exact, kind) {
                (Some(text), Some(ValueType::Choice(choices))) => choices.has(text),
                (None, Some(ValueType::Choice(_))) => false,
                (Some(text), Some(ValueType::Date)) => is_date(text),
                (None, Some(ValueType::Date)) => self.gap_has_date(rank / 2),
                // Nothing sorts before the empty text.
                (None, _) => rank > 0 || self.texts.first().is_none_or(|first| !first.is_empty()),
                (Some(_), _) => true,
            };
            if !is_possible {
                continue;
            }
            let all = 0..1usize << self.contents.len();
            let certain = self.contents_of(self.start_of_gap(rank / 2));
            let possible = all.filter(|contents| match exact {
                Some(text) => *contents == self.contents_of(text),
                None => certain & !contents == 0 && self.is_consistent(*contents),
            });
            let points: Vec<Point> = possible.map(|contents| Point::Text { rank, contents }).collect();
            self.points.extend(points);
        }
    }

    /// Returns whether a date lies between the mentioned texts before and after a gap.
    fn gap_has_date(&self, gap: usize) -> bool {
        let below = gap.checked_sub(1).map_or("", |before| self.texts[before].as_str());
        let next = date_after(below);
        next.is_some_and(|next| self.texts.get(gap).is_none_or(|above| next < *above))
    }

    /// What all texts between the mentioned ones before and after a gap start with: what these have in common, and one character more of
    /// the first if the second is no larger than the texts that start so.
    fn start_of_gap(&self, gap: usize) -> &str {
        let below = gap.checked_sub(1).and_then(|before| self.texts.get(before));
        let (Some(below), Some(above)) = (below, self.texts.get(gap)) else { return "" };
        let same = below.chars().zip(above.chars()).take_while(|(own, other)| own == other);
        let common: usize = same.map(|(own, _)| own.len_utf8()).sum();
        let next = below[common..].chars().next().map_or(common, |next| common + next.len_utf8());
        let is_start = after_prefix(&below[..next]).is_none_or(|after| *above <= after);
        &below[..if is_start { next } else { common }]
    }

    /// Each text of `contains` is an element of its own, whatever it contains itself.
    fn add_containers(&mut self) {
        let all = 0..1usize << self.contents.len();
        self.points.extend(all.map(|contents| Point::Other { contents }));
    }

    /// Which texts of `contains` a text contains, as bits.
    fn contents_of(&self, text: &str) -> usize {
        let parts = self.contents.iter().enumerate().filter(|(_, part)| text.contains(**part));
        parts.map(|(number, _)| 1 << number).sum()
    }

    /// A text that contains another also contains the parts of that.
    fn is_consistent(&self, contents: usize) -> bool {
        let own = self.contents.iter().enumerate().filter(|(number, _)| contents & 1 << number != 0);
        own.into_iter().all(|(_, part)| self.contents_of(part) & !contents == 0)
            && self.contents_of("") & !contents == 0
    }

    fn located(&self, test: &Test) -> LocatedTest {
        match &test.comparison {
            Comparison::Exists => LocatedTest::Exists,
            Comparison::Is(comparator, constant) => LocatedTest::Is(*comparator, self.position(constant)),
            Comparison::Between(from, to) => LocatedTest::Between(self.position(from), self.position(to)),
            Comparison::Among(constants) => {
                LocatedTest::Among(constants.iter().filter_map(|constant| self.position(constant)).collect())
            }
            Comparison::BeginsWith(prefix) => {
                let above = after_prefix(prefix).map(|after| rank_of(&self.texts, &after));
                LocatedTest::BeginsWith(rank_of(&self.texts, prefix), above)
            }
            Comparison::Contains(part) => {
                LocatedTest::Contains(self.contents.binary_search(&part.as_str()).ok())
            }
        }
    }

    fn position(&self, constant: &Constant) -> Option<Position> {
        match constant {
            Constant::Text(text) => Some(Position::Text(rank_of(&self.texts, text))),
            Constant::Number(text) => self.ranks.get(text.as_str()).copied().map(Position::Number),
            Constant::Bool(own) => Some(Position::Bool(*own)),
        }
    }

    /// The number of the point of a mentioned value; `None` if the attribute cannot have it.
    fn point_of(&self, constant: &Constant) -> Option<usize> {
        let position = self.position(constant)?;
        self.points.iter().position(|point| point.position() == Some(position))
    }
}

/// The rank of a mentioned value.
fn rank_of<T: Ord>(sorted: &[T], value: &T) -> usize {
    sorted.binary_search(value).map_or_else(|gap| 2 * gap, |position| 2 * position + 1)
}

/// The least text above all that start with a prefix; `None` if there is none.
fn after_prefix(prefix: &str) -> Option<String> {
    let mut characters: Vec<char> = prefix.chars().collect();
    while let Some(last) = characters.pop() {
        let next = (u32::from(last) + 1..=u32::from(char::MAX)).find_map(char::from_u32);
        if let Some(next) = next {
            characters.push(next);
            return Some(characters.into_iter().collect());
        }
    }
    None
}
