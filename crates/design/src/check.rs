//! Checks a model statically: plans every pattern and applies every design rule, without data.

pub(crate) mod aggregates;
mod bounds;
mod conditions;
mod copies;
mod edges;
mod expiry;
mod fate;
pub(crate) mod fit;
mod growth;
mod identity;
mod index_entries;
mod indexes;
mod keys;
mod limits;
mod partitions;
mod patterns;
mod prefixes;
mod remedy;
mod requests;
mod spelling;
mod text_order;
mod usage;
mod value_types;
mod writes;

use crate::capacity::heat::{self, Heat};
use crate::finding::{Finding, Severity};
use crate::keys::key_mapping::KeyMapping;
use crate::keys::keyspace::Keyspace;
use crate::model::{Allowance, Entity, Model, Pattern};
use crate::plan::{self, Plan, Unserved};
use crate::repair;
use crate::template::Template;
use requests::tried::MAX_EFFORT;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use usage::Usage;

/// The result of a check.
pub struct Report<'m> {
    /// The model that was checked.
    pub model: &'m Model,
    /// The findings, in the order of the source.
    pub findings: Vec<Finding>,
    /// The plan of every pattern, by name, or why it is not served.
    pub plans: BTreeMap<&'m str, Result<Plan<'m>, Unserved<'m>>>,
}

impl Report<'_> {
    /// Returns the number of findings of a severity that are not allowed.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|f| f.severity == severity && f.allowed.is_none()).count()
    }

    /// Returns whether there are neither errors nor warnings.
    pub fn is_clean(&self) -> bool {
        !self.findings.iter().any(Finding::is_problem)
    }
}

/// Checks a model. Repairs are tried before they are proposed.
pub fn check(model: &Model) -> Report<'_> {
    let mut report = examine(model);
    repair::settle(model, &mut report.findings);
    report
}

/// Checks a model without trying repairs.
pub(crate) fn examine(model: &Model) -> Report<'_> {
    examine_within(model, MAX_EFFORT)
}

/// Checks a model without trying repairs, and tries declared requests with no more than this effort.
fn examine_within(model: &Model, effort: usize) -> Report<'_> {
    let keys = Keyspace::new(model);
    let plans = plan::plans(&keys);
    let heat = heat::heat(model, &plans);
    let usage = Usage::new(model, &plans);
    let mut checker = Checker {
        model,
        keys,
        plans,
        heat,
        usage,
        findings: Vec::new(),
        reported: HashSet::new(),
        erroneous: HashSet::new(),
        text_sorted: BTreeSet::new(),
    };
    checker.conditions();
    checker.patterns();
    checker.idle_conditions();
    checker.keys();
    checker.value_types();
    checker.identity();
    checker.prefixes();
    checker.partitions();
    checker.edges();
    checker.indexes();
    checker.limits();
    checker.expiry();
    checker.copies();
    checker.writes();
    checker.fit();
    checker.importance();
    checker.tried_requests(effort);
    checker.growth();
    checker.allow();
    let Checker { plans, mut findings, .. } = checker;
    findings.sort_by_key(|finding| (finding.span.start, finding.code));
    findings.dedup();
    Report { model, findings, plans }
}

struct Checker<'m> {
    model: &'m Model,
    keys: Keyspace<'m>,
    plans: BTreeMap<&'m str, Result<Plan<'m>, Unserved<'m>>>,
    heat: BTreeMap<(String, String), Heat>,
    usage: Usage<'m>,
    findings: Vec<Finding>,
    /// Codes and subjects of the findings.
    reported: HashSet<(&'static str, String)>,
    /// Subjects of errors.
    erroneous: HashSet<String>,
    /// Sort keys whose numbers have been reported to sort as text.
    text_sorted: BTreeSet<Template>,
}

impl<'m> Checker<'m> {
    fn report(&mut self, finding: Finding) {
        self.reported.insert((finding.code, finding.subject.clone()));
        if finding.severity == Severity::Error {
            self.erroneous.insert(finding.subject.clone());
        }
        self.findings.push(finding);
    }

    fn about_entity(&self, code: &'static str, severity: Severity, entity: &Entity) -> Finding {
        Finding::new(code, severity, entity.subject(), &entity.span)
    }

    /// A finding about an entity's key in the table or in an index.
    fn about_mapping(&self, code: &'static str, severity: Severity, mapping: &KeyMapping<'_>) -> Finding {
        let index_key = mapping.location.index.and_then(|index| mapping.entity.index_key(&index.name));
        let span = index_key.map_or(&mapping.entity.key_span, |index_key| &index_key.span);
        Finding::new(code, severity, mapping.entity.subject(), span)
    }

    fn about_pattern(&self, code: &'static str, severity: Severity, pattern: &Pattern) -> Finding {
        Finding::new(code, severity, pattern.subject(), &pattern.span)
    }

    fn has(&self, code: &'static str, subject: &str) -> bool {
        self.reported.contains(&(code, subject.to_owned()))
    }

    fn has_error(&self, subject: &str) -> bool {
        self.erroneous.contains(subject)
    }

    /// The keys of every entity in the table and every index.
    fn mappings(&self) -> Vec<KeyMapping<'m>> {
        self.keys.all_mappings().cloned().collect()
    }

    /// The keys that are made for their table or index, or are attributes. Not those of an index that holds items only because they have its key
    /// attributes for another index.
    fn made_mappings(&self) -> Vec<KeyMapping<'m>> {
        let is_made = |mapping: &&KeyMapping<'m>| !mapping.is_implied || mapping.is_semantic(self.model);
        self.keys.all_mappings().filter(is_made).cloned().collect()
    }

    fn heat_of(&self, mapping: &KeyMapping<'_>) -> Heat {
        let key = (mapping.location.name().to_owned(), mapping.entity.name.clone());
        self.heat.get(&key).copied().unwrap_or_default()
    }

    /// Marks the findings that the model allows, and reports allowances that match none.
    fn allow(&mut self) {
        let model = self.model;
        let broken = self.findings.iter().any(|finding| finding.severity == Severity::Error);
        let mut found: HashMap<(String, Option<&str>), Vec<usize>> = HashMap::new();
        for (number, finding) in self.findings.iter().enumerate() {
            let code = finding.code.to_ascii_uppercase();
            found.entry((code.clone(), None)).or_default().push(number);
            found.entry((code, Some(&finding.subject))).or_default().push(number);
        }
        // Among allowances of the same finding, the last one gives the reason.
        let mut last = HashMap::new();
        for (number, allow) in model.allowances.iter().enumerate() {
            last.insert(allowance_key(allow), number);
        }
        let (mut reasons, mut unused) = (Vec::new(), Vec::new());
        for (number, allow) in model.allowances.iter().enumerate() {
            let what = allowance_key(allow);
            match found.get(&what) {
                None => unused.push(allow),
                Some(numbers) if last.get(&what) == Some(&number) => {
                    reasons.extend(numbers.iter().map(|number| (*number, &allow.reason)));
                }
                Some(_) => {}
            }
        }
        for (number, reason) in reasons {
            self.findings[number].allowed = Some(reason.clone());
        }
        for allow in unused {
            // An error can hide other findings: the allowed one may reappear once the error is fixed.
            let severity = if broken { Severity::Note } else { Severity::Warning };
            let subject = allow.on.as_ref().map(|on| format!(" on {on}")).unwrap_or_default();
            self.report(
                Finding::new("P006", severity, "allow", &allow.span)
                    .with_message(format!("{}{subject} is allowed, but does not occur", allow.code))
                    .with_help("remove this allowance"),
            );
        }
    }
}

fn allowance_key(allow: &Allowance) -> (String, Option<&str>) {
    (allow.code.to_ascii_uppercase(), allow.on.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    #[test]
    fn a_request_that_is_not_tried_has_a_note() {
        let text = "format = 1\n[table]\nname = \"Tab\"\nkeys = [\"PK\", \"SK\"]\n[entity.Order]\nattributes = { userId = \"id\", orderId = \"id\" }\n\
                    key = [\"USER#{userId}\", \"ORDER#{orderId}\"]\n[pattern]\n\
                    orders = { in = [\"userId\"], out = \"Order*\", request = { condition = \"PK = 'USER#{userId}' AND SK BETWEEN 'ORDER#' AND 'ORDER#~'\" } }\n";
        let model = crate::read(&Source::new("t.toml", text)).unwrap_or_default();
        let found = |effort: usize| {
            let findings = examine_within(&model, effort).findings.into_iter();
            let own = findings.filter(|finding| finding.code == "P132");
            own.map(|finding| (finding.severity, finding.message.contains("is not tried")))
                .collect::<Vec<_>>()
        };
        for effort in [0, 200] {
            assert_eq!(found(effort), [(Severity::Note, true)], "{effort}");
        }
        assert_eq!(found(MAX_EFFORT), [(Severity::Error, false)]);
    }
}
