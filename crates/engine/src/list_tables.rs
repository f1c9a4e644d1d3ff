//! ListTables: names in order.

use crate::Engine;
use partita_api::list_tables::{ListTables, ListTablesOutput};
use partita_store::Store;
use std::ops::Bound;

impl<S: Store> Engine<S> {
    pub fn list_tables(&self, request: &ListTables) -> ListTablesOutput {
        let tables = self.catalog.all();
        let start = request.exclusive_start.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let mut rest = tables.range::<str, _>((start, Bound::Unbounded)).map(|(_, table)| table.name.clone());
        let names: Vec<_> = rest.by_ref().take(request.limit as usize).collect();
        let last_evaluated = rest.next().and(names.last().cloned());
        ListTablesOutput { names, last_evaluated }
    }
}
