//! ListTables: names in order, also of tables whose records are damaged.

use crate::Engine;
use partita_api::Exception;
use partita_api::table::list_tables::{ListTables, ListTablesOutput};
use partita_store::Store;
use partita_value::names::TableName;
use std::ops::Bound;

impl<S: Store> Engine<S> {
    pub async fn list_tables(&self, request: ListTables) -> Result<ListTablesOutput, Exception> {
        let tables = self.catalog.all();
        let limit = request.limit as usize;
        let start = request.exclusive_start.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let known = tables.range::<str, _>((start, Bound::Unbounded)).map(|(_, table)| table.name.clone());
        // One more than is told, to know whether there are more.
        let mut names: Vec<_> = known.take(limit + 1).collect();
        let is_behind = |name: &&str| request.exclusive_start.as_deref().is_none_or(|start| *name > start);
        names.extend(self.catalog.lost_tables().filter(is_behind).map(TableName::new));
        names.sort_by(|one, other| one.as_str().cmp(other.as_str()));
        let has_more = names.len() > limit;
        names.truncate(limit);
        let last_evaluated = names.last().filter(|_| has_more).cloned();
        Ok(ListTablesOutput { names, last_evaluated })
    }
}
