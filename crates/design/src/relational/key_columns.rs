//! Columns that keys consist of have a text or a number: binary identifiers become texts, and constraints and indexes of other columns are left out.

use super::schema::{Schema, Table};
use crate::model::value_type::ValueType;

impl Schema {
    /// Binary columns of primary keys, and those that refer to them, become texts: items cannot do without a key.
    pub(super) fn write_identifiers_as_texts(&mut self) {
        let tables = &self.tables;
        let is_binary = |table: &Table, name: &String| {
            table.column(name).is_some_and(|column| column.kind == ValueType::Binary)
        };
        let is_key = |table: &Table, name: &String| {
            table.primary_key.iter().any(|own| own.eq_ignore_ascii_case(name)) && is_binary(table, name)
        };
        let refers = |table: &Table, name: &String| {
            let of = table.reference(name).filter(|_| is_binary(table, name));
            of.and_then(|key| Some((self.table(&key.table)?, &key.to))).is_some_and(|(parent, to)| {
                is_key(parent, to.first().or(parent.primary_key.first()).unwrap_or(name))
            })
        };
        let written = |table: &Table| -> Vec<String> {
            let names = table.columns.iter().map(|column| &column.name);
            names.filter(|name| is_key(table, name) || refers(table, name)).cloned().collect()
        };
        let all: Vec<Vec<String>> = tables.iter().map(written).collect();
        for (table, names) in self.tables.iter_mut().zip(all).filter(|(_, names)| !names.is_empty()) {
            for column in table.columns.iter_mut().filter(|column| names.contains(&column.name)) {
                column.kind = ValueType::String;
            }
            let remark = format!(
                "({}) of {} is binary, and is written as text: keys hold only text and numbers",
                names.join(", "),
                table.name
            );
            self.remarks.push((table.line, remark));
        }
    }

    /// Bytes, maps and lists are in no key, and have no markers of unique values.
    pub(super) fn leave_out_what_no_key_holds(&mut self) {
        for table in &mut self.tables {
            let is_scalar =
                |name: &String| table.columns.iter().any(|own| own.name == *name && own.kind.is_scalar());
            let mut left: Vec<(&str, Vec<String>)> = Vec::new();
            for (kind, keys) in [("unique", &mut table.unique), ("indexed", &mut table.indexes)] {
                let all = std::mem::take(keys).into_iter();
                let (kept, others): (Vec<_>, Vec<_>) = all.partition(|key| key.iter().all(is_scalar));
                *keys = kept;
                left.extend(others.into_iter().map(|key| (kind, key)));
            }
            for (kind, key) in left {
                let (own, columns) = (&table.name, key.join(", "));
                let remark = format!(
                    "({columns}) of {own} is {kind}, which is left out: keys hold only text and numbers"
                );
                self.remarks.push((table.line, remark));
            }
        }
    }
}
