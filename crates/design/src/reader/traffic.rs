//! `[traffic]`, and what patterns, writes and expectations say about rates, importance and growth.

use super::Reader;
use super::field::Section;
use crate::capacity::traffic::least_peak;
use crate::model::{Expectations, Importance, Traffic, YearAhead};

/// The end of the names of fields that hold what is expected in a year.
pub(super) const IN_A_YEAR: &str = "_in_a_year";

impl Reader {
    pub(super) fn traffic(&mut self, root: &Section<'_>) -> Traffic {
        let Some(mut section) = self.inner(root, "traffic") else { return Traffic::default() };
        section.subject = "traffic".to_owned();
        self.only(&section, &["peak", "idle_hours", "sudden", "about"]);
        let (peak, idle_hours) = (self.peak(&section), self.number(&section, "idle_hours"));
        if idle_hours.is_some_and(|hours| hours > 23.0) {
            self.wrong(&section, "idle_hours", "at most 23 hours of a day", "10");
        }
        let least = least_peak(idle_hours.unwrap_or_default());
        if peak.is_some_and(|peak| peak < least - 0.05) {
            let wanted = format!(
                "at least {least:.1}: the traffic of a day is concentrated in the hours that are not idle"
            );
            self.wrong(&section, "peak", &wanted, "5");
        }
        Traffic { peak, idle_hours, sudden: self.flag(&section, "sudden"), span: section.span }
    }

    /// The peak as a multiple of the mean.
    pub(super) fn peak(&mut self, section: &Section<'_>) -> Option<f64> {
        let peak = self.number(section, "peak");
        if peak.is_some_and(|peak| peak < 1.0) {
            self.wrong(section, "peak", "a multiple of the mean, at least 1", "5");
        }
        peak
    }

    pub(super) fn importance(&mut self, section: &Section<'_>) -> Importance {
        let word = self.choice(section, "importance", &Importance::NAMES);
        word.as_deref().map_or(Importance::default(), Importance::parse)
    }

    /// A figure in a year, which needs that of today.
    pub(super) fn later(&mut self, section: &Section<'_>, key: &str) -> Option<f64> {
        self.needs_present(section, key);
        self.number(section, key)
    }

    fn later_whole(&mut self, section: &Section<'_>, key: &str) -> Option<u64> {
        self.needs_present(section, key);
        self.whole(section, key)
    }

    pub(super) fn in_a_year(&mut self, section: &Section<'_>) -> YearAhead {
        YearAhead {
            count: self.later_whole(section, "count_in_a_year"),
            average: self.later(section, "average_in_a_year"),
            max: self.later_whole(section, "max_in_a_year"),
            bytes: self.later_whole(section, "bytes_in_a_year"),
            max_bytes: self.later_whole(section, "max_bytes_in_a_year"),
        }
    }

    /// Reports a largest number below the average.
    pub(super) fn sensible(&mut self, section: &Section<'_>, expect: &Expectations) {
        let (average, max) = (expect.average.unwrap_or_default(), expect.max.map(|max| max as f64));
        if max.is_some_and(|max| max < average) {
            self.wrong(section, "max", "at least the average", "1000");
        }
    }

    fn needs_present(&mut self, section: &Section<'_>, key: &str) {
        let now = key.trim_end_matches(IN_A_YEAR);
        if section.get(key).is_some() && section.get(now).is_none() {
            let message = format!("`{key}` needs `{now}`, the figure of today");
            self.fail("P002", section, &section.span_of(key), message, &format!("add {now} = 1000"));
        }
    }
}
