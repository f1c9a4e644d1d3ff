//! `[pattern]`: the queries of the application.

use super::field::Section;
use super::limits::text_or_number;
use super::{MAX_ENTRIES, Reader};
use crate::model::{Bounds, Order, Pattern, Request, Target, Via};
use toml_edit::{Item, TableLike};

impl Reader {
    pub(super) fn pattern(&mut self, name: String, section: &Section<'_>) -> Pattern {
        let known = [
            "in",
            "out",
            "via",
            "order",
            "range",
            "limit",
            "where",
            "rps",
            "rps_in_a_year",
            "peak",
            "importance",
            "consistency",
            "hydrate",
            "fields",
            "pages",
            "request",
            "about",
        ];
        self.only(section, &known);
        let targets = self.texts(section, "out").iter().map(|text| target(text)).collect::<Vec<_>>();
        if targets.is_empty() {
            let message = format!("{} does not declare what it returns", section.subject);
            self.fail(
                "P002",
                section,
                &section.span.clone(),
                message,
                "add out = \"Order\" or out = [\"User\", \"Order*\"]",
            );
        }
        let consistency = self.choice(section, "consistency", &["eventual", "strong"]);
        let pages = self.choice(section, "pages", &["all", "first"]);
        Pattern {
            name,
            about: self.text(section, "about").unwrap_or_default(),
            inputs: self.texts(section, "in"),
            targets,
            via: self.via(section),
            order: self.order(section),
            range: self.range(section),
            limit: self.limit(section),
            filter: self.condition(section, "where"),
            rps: self.number(section, "rps"),
            rps_in_a_year: self.later(section, "rps_in_a_year"),
            peak: self.peak(section),
            importance: self.importance(section),
            strong: consistency.as_deref() == Some("strong"),
            hydrate: self.flag(section, "hydrate"),
            fields: self.texts(section, "fields"),
            first_page_only: pages.as_deref() == Some("first"),
            request: self.request(section),
            span: section.span.clone(),
        }
    }

    /// `"Favorite"`, `["Membership", "Team"]`, or tables with `entity` and `match` instead of names.
    fn via(&mut self, section: &Section<'_>) -> Vec<Via> {
        let Some(item) = section.get("via") else { return Vec::new() };
        if let Some(table) = item.as_table_like() {
            return vec![self.via_table(section, table)];
        }
        let entries = item.as_array().filter(|array| array.iter().any(toml_edit::Value::is_inline_table));
        let Some(entries) = entries else {
            let names = self.texts(section, "via").into_iter();
            return names.map(|entity| Via { entity, matches: Vec::new() }).collect();
        };
        if !self.is_within(section, "via", entries.len(), MAX_ENTRIES) {
            return Vec::new();
        }
        let mut via = Vec::new();
        for entry in entries {
            match (entry.as_str(), entry.as_inline_table()) {
                (Some(name), _) => via.push(Via { entity: name.to_owned(), matches: Vec::new() }),
                (_, Some(table)) => via.push(self.via_table(section, table)),
                _ => self.wrong(section, "via", "entities", "[\"Membership\", \"Team\"]"),
            }
        }
        via
    }

    fn via_table(&mut self, section: &Section<'_>, table: &dyn TableLike) -> Via {
        let inner = Section { table, subject: section.subject.clone(), span: section.span_of("via") };
        self.only(&inner, &["entity", "match"]);
        let entity = self.required(&inner, "entity", "\"Favorite\"");
        let pair = |(name, item): (&str, &Item)| Some((name.to_owned(), item.as_str()?.to_owned()));
        let matches = match inner.get("match") {
            None => Some(Vec::new()),
            Some(item) => match item.as_table_like() {
                Some(table) => table.iter().map(pair).collect(),
                None => {
                    Some(self.texts(&inner, "match").into_iter().map(|name| (name.clone(), name)).collect())
                }
            },
        };
        let matches = matches.unwrap_or_else(|| {
            self.wrong(
                &inner,
                "match",
                "a list of attributes or a table of them",
                "{ userId = \"followedId\" }",
            );
            Vec::new()
        });
        Via { entity, matches }
    }

    fn order(&mut self, section: &Section<'_>) -> Option<Order> {
        let words = section.get("order").and_then(Item::as_array);
        let words: Option<Vec<&str>> =
            words.and_then(|array| array.iter().map(toml_edit::Value::as_str).collect());
        if let Some(words) = words {
            self.wrong(section, "order", "one string", &format!("\"{}\"", words.join(" ")));
            return None;
        }
        let text = self.text(section, "order")?;
        let mut words = text.split_whitespace();
        let by = words.next().unwrap_or_default().to_owned();
        let direction = words.next().unwrap_or("asc").to_lowercase();
        if by.is_empty() || !["asc", "desc"].contains(&direction.as_str()) || words.next().is_some() {
            self.wrong(section, "order", "an attribute and asc or desc", "\"createdAt desc\"");
        }
        Some(Order { by, descending: direction == "desc" })
    }

    fn range(&mut self, section: &Section<'_>) -> Option<Bounds> {
        let item = section.get("range")?;
        let span = section.span_of("range");
        if let Some(by) = item.as_str() {
            return Some(Bounds { by: by.to_owned(), span, ..Bounds::default() });
        }
        if item.as_table_like().is_none() {
            let one = item.as_array().and_then(|array| array.iter().next()?.as_str());
            let example = format!("\"{}\"", one.unwrap_or("createdAt"));
            self.wrong(section, "range", "an attribute, or { by = …, from = …, to = … }", &example);
            return None;
        }
        let inner = self.inner(section, "range")?;
        self.only(&inner, &["by", "from", "to"]);
        let by = self.required(&inner, "by", "\"createdAt\"");
        Some(Bounds { by, from: self.bound(&inner, "from"), to: self.bound(&inner, "to"), span })
    }

    fn bound(&mut self, section: &Section<'_>, key: &str) -> Option<String> {
        let bound = text_or_number(section.get(key)?);
        if bound.is_none() {
            self.wrong(section, key, "a string or a number", "\"2026-01-01\"");
        }
        bound
    }

    fn request(&mut self, section: &Section<'_>) -> Option<Request> {
        let inner = self.inner(section, "request")?;
        self.only(&inner, &["index", "scan", "condition", "filter"]);
        Some(Request {
            index: self.text(&inner, "index"),
            scan: self.flag(&inner, "scan"),
            condition: self.text(&inner, "condition").unwrap_or_default(),
            clauses: self.key_condition(&inner),
            filter: self.condition(&inner, "filter"),
            span: inner.span.clone(),
        })
    }
}

pub(super) fn target(text: &str) -> Target {
    let entity = text.trim_end_matches('*').trim();
    Target { entity: entity.to_owned(), many: text.ends_with('*') }
}
