//! A draft of one table as drafts of a table for each entity, to begin with; `partita model consolidate` leads back.

use super::Draft;
use crate::formatting::list;
use std::collections::BTreeSet;

impl Draft {
    /// Returns a draft for each entity. Patterns and writes of several entities are no longer one request: each becomes a remark.
    pub fn per_entity(&self) -> Vec<Draft> {
        (0..self.model.entities.len()).map(|number| self.of_entity(number)).collect()
    }

    fn of_entity(&self, number: usize) -> Draft {
        let entity = self.model.entities[number].clone();
        let name = entity.name.clone();
        let mut draft = Draft { model: self.model.clone(), about: self.about.clone(), ..Draft::default() };
        let model = &mut draft.model;
        model.lookup = Default::default();
        model.table.name.clone_from(&name);
        model.table.type_attribute = None;
        model.indexes.retain(|index| entity.index_key(&index.name).is_some());
        model.patterns.retain(|pattern| {
            pattern.via.is_empty() && pattern.targets.iter().all(|target| target.entity == name)
        });
        model.writes.retain(|write| write.actions.iter().all(|action| action.entity == name));
        model.entities = vec![entity];
        let subjects: BTreeSet<String> = model
            .patterns
            .iter()
            .map(crate::model::Pattern::subject)
            .chain(model.writes.iter().map(crate::model::Write::subject))
            .collect();
        let own = format!("entity.{name}");
        let is_own = |subject: &str| {
            subjects.contains(subject)
                || subject == own
                || subject.strip_prefix(own.as_str()).is_some_and(|rest| rest.starts_with('.'))
                || (number == 0 && subject.starts_with("table"))
        };
        draft.notes = self.notes.iter().filter(|note| is_own(&note.subject)).cloned().collect();
        draft.questions =
            self.questions.iter().filter(|question| is_own(&question.subject)).cloned().collect();
        draft.remarks = self.remarks.iter().filter(|remark| is_own(&remark.subject)).cloned().collect();
        self.name_what_concerns_several(&name, &mut draft);
        draft
    }

    /// Names what starts with an entity and concerns others too.
    fn name_what_concerns_several(&self, name: &str, draft: &mut Draft) {
        let patterns = self.model.patterns.iter().map(|pattern| {
            let followed = pattern.via.iter().map(|via| via.entity.as_str());
            let targets = pattern.targets.iter().map(|target| target.entity.as_str());
            (pattern.name.as_str(), followed.chain(targets).collect::<Vec<&str>>())
        });
        let writes = self.model.writes.iter().map(|write| {
            (write.name.as_str(), write.actions.iter().map(|action| action.entity.as_str()).collect())
        });
        for (own, entities) in patterns.chain(writes) {
            let others: BTreeSet<&str> = entities.iter().copied().filter(|entity| *entity != name).collect();
            if entities.first() != Some(&name) || others.is_empty() {
                continue;
            }
            let others: Vec<&str> = others.into_iter().collect();
            let text = format!(
                "{own} also concerns {}, which is in another table. It takes a request for each, and is left out here.",
                list(&others)
            );
            draft.remark("table", text);
        }
    }
}
