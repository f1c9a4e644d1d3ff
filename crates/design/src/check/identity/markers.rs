//! Rules about the markers of unique values: each is an item whose key is a text, made of names and values.

use crate::check::Checker;
use crate::finding::Severity;
use crate::keys::key_mapping::TableOrIndex;
use crate::model::Entity;

impl Checker<'_> {
    pub(super) fn storable_markers(&mut self) {
        for entity in self.model.entities.iter().filter(|entity| !entity.unique.is_empty()) {
            self.text_keys(entity);
            self.marker_names(entity);
            self.marker_values(entity);
        }
    }

    fn text_keys(&mut self, entity: &Entity) {
        let (model, table) = (self.model, TableOrIndex { index: None });
        let mut keys = model.table.keys.iter().enumerate();
        let Some((_, key)) = keys.find(|(position, _)| table.key_is_number(model, *position)) else { return };
        let finding = self.about_entity("P513", Severity::Error, entity);
        let message = format!("{key} is a number, and the markers of unique values have texts as keys");
        let help = format!("make {key} a text, as in \"{}#{{…}}\"", entity.name.to_uppercase());
        self.report(finding.with_message(message).with_help(help));
    }

    /// Names are separated by `#` and commas.
    fn marker_names(&mut self, entity: &Entity) {
        let mut names = entity.unique.iter().flatten().chain([&entity.name]);
        let Some(name) = names.find(|name| name.contains(['#', ','])) else { return };
        let finding = self.about_entity("P513", Severity::Error, entity);
        let message = format!("the name \"{name}\" would make the keys of two markers one");
        self.report(finding.with_message(message).with_help("use a name without # and commas"));
    }

    fn marker_values(&mut self, entity: &Entity) {
        for attribute in entity.unique.iter().flatten().filter_map(|name| entity.attribute(name)) {
            if attribute.kind.is_scalar() {
                continue;
            }
            let finding = self.about_entity("P513", Severity::Error, entity);
            let name = &attribute.name;
            let kind = attribute.kind.described();
            let message = format!("{name} is {kind}, which has no text for the key of a marker");
            let help = format!("keep a text unique, such as a hash of {name} in an attribute of its own");
            self.report(finding.with_message(message).with_help(help));
        }
    }
}
