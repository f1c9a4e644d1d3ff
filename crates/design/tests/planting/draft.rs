//! A model as sections of fields, so that single values can be replaced before it is written as TOML.

/// SplitMix64: small, and the same on every machine.
#[derive(Clone)]
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut state = self.0;
        for (shift, factor) in [(30, 0xBF58_476D_1CE4_E5B9), (27, 0x94D0_49BB_1331_11EB)] {
            state = (state ^ (state >> shift)).wrapping_mul(factor);
        }
        state ^ (state >> 31)
    }

    /// A number from `from` to `to`, both included.
    pub fn number(&mut self, from: u64, to: u64) -> u64 {
        from + self.next() % (to - from + 1)
    }

    pub fn coin(&mut self) -> bool {
        self.number(0, 1) == 1
    }

    pub fn choose<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.number(0, from.len() as u64 - 1) as usize]
    }

    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.number(0, last as u64) as usize);
        }
    }
}

#[derive(Clone)]
struct Section {
    name: String,
    fields: Vec<(String, String)>,
}

/// Sections in the order in which they are written. Values are TOML.
#[derive(Clone, Default)]
pub struct Draft {
    sections: Vec<Section>,
    /// Whether patterns and writes are inline tables.
    pub inline: bool,
}

impl Draft {
    /// Sets a field, and adds it and its section if they do not exist.
    pub fn set(&mut self, section: &str, field: &str, value: impl Into<String>) {
        let number = self.sections.iter().position(|known| known.name == section).unwrap_or_else(|| {
            self.sections.push(Section { name: section.to_owned(), fields: Vec::new() });
            self.sections.len() - 1
        });
        let fields = &mut self.sections[number].fields;
        match fields.iter_mut().find(|(name, _)| name == field) {
            Some(known) => known.1 = value.into(),
            None => fields.push((field.to_owned(), value.into())),
        }
    }

    /// Sets several fields of a section.
    pub fn add(&mut self, section: &str, fields: &[(&str, &str)]) {
        for (field, value) in fields {
            self.set(section, field, *value);
        }
    }

    pub fn get(&self, section: &str, field: &str) -> Option<&str> {
        let section = self.sections.iter().find(|known| known.name == section)?;
        section.fields.iter().find(|(name, _)| name == field).map(|(_, value)| value.as_str())
    }

    pub fn has(&self, section: &str) -> bool {
        self.sections.iter().any(|known| known.name == section)
    }

    /// Removes a field, if it exists.
    pub fn unset(&mut self, section: &str, field: &str) {
        for known in self.sections.iter_mut().filter(|known| known.name == section) {
            known.fields.retain(|(name, _)| name != field);
        }
    }

    /// Removes the sections whose name starts so.
    pub fn remove(&mut self, start: &str) {
        self.sections.retain(|known| !known.name.starts_with(start));
    }

    /// Replaces text in a field. Panics if it is not there: the planted change would be none.
    pub fn replace(&mut self, section: &str, field: &str, from: &str, to: &str) {
        let value = self.get(section, field).unwrap_or_else(|| panic!("{section} has no {field}"));
        assert!(value.contains(from), "{section}.{field} is {value}, without {from}");
        let value = value.replace(from, to);
        self.set(section, field, value);
    }

    /// Adds a declaration to the attributes of an entity.
    pub fn attribute(&mut self, entity: &str, declaration: &str) {
        let section = format!("entity.{entity}");
        let attributes = self.get(&section, "attributes").unwrap_or("{ }").trim_end_matches(" }").to_owned();
        self.set(&section, "attributes", format!("{attributes}, {declaration} }}"));
    }

    /// Puts the entities into a random order.
    pub fn shuffle_entities(&mut self, random: &mut Random) {
        let (mut entities, others): (Vec<_>, Vec<_>) =
            self.sections.drain(..).partition(|section| section.name.starts_with("entity."));
        random.shuffle(&mut entities);
        self.sections = others;
        self.sections.extend(entities);
    }

    pub fn count(&self, start: &str) -> usize {
        self.sections.iter().filter(|section| section.name.starts_with(start)).count()
    }

    pub fn text(&self) -> String {
        let mut text = "format = 1\n".to_owned();
        let is_inline = |section: &&Section| {
            self.inline && (section.name.starts_with("pattern.") || section.name.starts_with("write."))
        };
        for section in self.sections.iter().filter(|section| !is_inline(section)) {
            text += &format!("[{}]\n", section.name);
            for (name, value) in &section.fields {
                text += &format!("{name} = {value}\n");
            }
        }
        for kind in ["pattern", "write"] {
            let of_kind = |section: &&Section| section.name.split('.').next() == Some(kind);
            let sections: Vec<_> = self.sections.iter().filter(is_inline).filter(of_kind).collect();
            if !sections.is_empty() {
                text += &format!("[{kind}]\n");
            }
            for section in sections {
                let fields: Vec<String> =
                    section.fields.iter().map(|(name, value)| format!("{name} = {value}")).collect();
                let name = section.name.split('.').nth(1).unwrap_or_default();
                text += &format!("{name} = {{ {} }}\n", fields.join(", "));
            }
        }
        text
    }
}
