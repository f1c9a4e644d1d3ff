//! `min`, `max`, `precision` and `zone` of an attribute.

use super::Reader;
use super::field::Section;
use crate::model::decimal::Decimal;
use crate::model::limits::{Limits, Precision, Zone};
use crate::model::value_type::ValueType;
use toml_edit::Item;

impl Reader {
    pub(super) fn limits(&mut self, section: &Section<'_>, kind: &ValueType) -> Limits {
        for (key, fits, what) in [
            ("min", kind.is_number(), "numbers"),
            ("max", kind.is_number(), "numbers"),
            ("precision", *kind == ValueType::Timestamp, "timestamps"),
            ("zone", *kind == ValueType::Timestamp, "timestamps"),
        ] {
            if section.get(key).is_some() && !fits {
                let message = format!("`{key}` is a limit of {what}, and the type is {}", kind.print());
                self.fail("P002", section, &section.span_of(key), message, "remove it, or change the type");
            }
        }
        let precision = self.choice(section, "precision", &Precision::names());
        let zone = self.choice(section, "zone", &["utc", "offset"]);
        let limits = Limits {
            min: self.decimal(section, "min"),
            max: self.decimal(section, "max"),
            precision: precision.and_then(|name| Precision::parse(&name)),
            zone: if zone.as_deref() == Some("offset") { Zone::Offset } else { Zone::Utc },
        };
        if let (Some(min), Some(max)) = (&limits.min, &limits.max)
            && min > max
        {
            let message = format!("`min` {min} is above `max` {max}, so that no value fits");
            self.fail("P002", section, &section.span_of("min"), message, "exchange them");
        }
        limits
    }

    /// Reads an exact number; one with more digits than a TOML number keeps is written as a string.
    fn decimal(&mut self, section: &Section<'_>, key: &str) -> Option<Decimal> {
        let number = text_or_number(section.get(key)?).as_deref().and_then(Decimal::parse);
        if number.is_none() {
            self.wrong(section, key, "a number", "0");
        }
        number
    }
}

/// A string, or the text of a number.
pub(super) fn text_or_number(item: &Item) -> Option<String> {
    let whole = item.as_integer().map(|number| number.to_string());
    whole
        .or_else(|| item.as_float().map(|number| number.to_string()))
        .or_else(|| item.as_str().map(str::to_owned))
}
