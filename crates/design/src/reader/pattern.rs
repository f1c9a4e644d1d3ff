//! `[pattern]` and `[write]`: the queries and writes of the application.

use super::Reader;
use super::field::Section;
use crate::model::{Action, Bounds, Order, Pattern, Request, Target, Verb, Write};

impl Reader {
    pub(super) fn pattern(&mut self, name: String, section: &Section<'_>) -> Pattern {
        let known = [
            "in",
            "out",
            "order",
            "range",
            "limit",
            "where",
            "rps",
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
            order: self.order(section),
            range: self.range(section),
            limit: self.whole(section, "limit"),
            filter: self.condition(section, "where"),
            rps: self.number(section, "rps"),
            strong: consistency.as_deref() == Some("strong"),
            hydrate: self.flag(section, "hydrate"),
            fields: self.texts(section, "fields"),
            first_page_only: pages.as_deref() == Some("first"),
            request: self.request(section),
            span: section.span.clone(),
        }
    }

    fn order(&mut self, section: &Section<'_>) -> Option<Order> {
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
        let inner = self.inner(section, "range")?;
        self.only(&inner, &["by", "from", "to"]);
        let by = self.required(&inner, "by", "\"createdAt\"");
        Some(Bounds { by, from: self.text(&inner, "from"), to: self.text(&inner, "to"), span })
    }

    fn request(&mut self, section: &Section<'_>) -> Option<Request> {
        let inner = self.inner(section, "request")?;
        self.only(&inner, &["index", "scan", "condition", "filter"]);
        Some(Request {
            index: self.text(&inner, "index"),
            scan: self.flag(&inner, "scan"),
            condition: self.text(&inner, "condition").unwrap_or_default(),
            filter: self.condition(&inner, "filter"),
            span: inner.span.clone(),
        })
    }

    pub(super) fn write(&mut self, name: String, section: &Section<'_>) -> Write {
        self.only(
            section,
            &["create", "put", "update", "delete", "transact", "batch", "set", "rps", "about"],
        );
        let mut actions = Vec::new();
        for verb in ["create", "put", "update", "delete"] {
            let Some(entity) = self.text(section, verb) else { continue };
            let set = if verb == "update" { self.texts(section, "set") } else { Vec::new() };
            actions.extend(action(&format!("{verb} {entity}")).map(|action| Action { set, ..action }));
        }
        for key in ["transact", "batch"] {
            for text in self.texts(section, key) {
                match action(&text) {
                    Some(action) => actions.push(action),
                    None => self.wrong(
                        section,
                        key,
                        "a list of actions",
                        "[\"create Order\", \"update User set total\"]",
                    ),
                }
            }
        }
        if actions.is_empty() && self.findings.is_empty() {
            let message = format!("{} does not declare what it writes", section.subject);
            let help = "add create, put, update, delete or transact";
            self.fail("P002", section, &section.span.clone(), message, help);
        }
        let transact = section.get("transact").is_some();
        Write { name, actions, transact, rps: self.number(section, "rps"), span: section.span.clone() }
    }
}

fn target(text: &str) -> Target {
    let entity = text.trim_end_matches('*').trim();
    Target { entity: entity.to_owned(), many: text.ends_with('*') }
}

/// `update Order set status, total` or `create OrderItem*`.
fn action(text: &str) -> Option<Action> {
    let (verb, rest) = text.trim().split_once(' ')?;
    let (entity, set) = rest.split_once(" set ").unwrap_or((rest, ""));
    let Target { entity, many } = target(entity.trim());
    let set = set.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
    Some(Action { verb: Verb::parse(verb)?, entity, many, set })
}
