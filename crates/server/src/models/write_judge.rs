//! The engine's judge of writes: the attached models. Each judges the changes of its own table. A migration's own writes are not judged
//! in tables that are in transition from one model to another.

use super::model_watch::broken;
use super::{ModelWatch, Models, Origin};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use partita_design::audit::judge::Change;
use partita_design::item::{Item, Value};
use partita_engine::{Breach, JudgedWrite, Judgement, WriteJudge};
use partita_value::names::TableName;
use partita_value::{ItemRef, MapRef, ValueRef};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

tokio::task_local! {
    static ORIGIN: Origin;
}

/// Executes a request for whoever sent it.
pub async fn execute_for<T>(origin: Origin, execution: impl Future<Output = T>) -> T {
    ORIGIN.scope(origin, execution).await
}

/// The judge of what a migration writes.
struct MigrationJudge {
    models: Arc<Models>,
}

impl WriteJudge for MigrationJudge {
    fn of_request(self: Arc<Self>) -> Arc<dyn WriteJudge> {
        self
    }

    fn is_active(&self) -> bool {
        self.models.is_active()
    }

    fn generation(&self, tables: &mut dyn Iterator<Item = &TableName>) -> u64 {
        self.models.generation(tables)
    }

    fn steps(&self, writes: &[JudgedWrite<'_>]) -> usize {
        self.models.steps_for(Origin::Migration, writes)
    }

    fn judge(&self, writes: &[JudgedWrite<'_>]) -> Judgement {
        self.models.judge_for(Origin::Migration, writes)
    }

    fn record(&self, breaches: &[Breach]) {
        self.models.record(breaches);
    }
}

impl WriteJudge for Models {
    fn of_request(self: Arc<Self>) -> Arc<dyn WriteJudge> {
        match ORIGIN.try_get() {
            Ok(Origin::Migration) => Arc::new(MigrationJudge { models: self }),
            Ok(Origin::Application | Origin::Maintenance) | Err(_) => self,
        }
    }

    fn is_active(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    fn generation(&self, tables: &mut dyn Iterator<Item = &TableName>) -> u64 {
        let attached = self.attached();
        tables.filter_map(|table| attached.changes.get(table.as_str()).copied()).max().unwrap_or_default()
    }

    fn steps(&self, writes: &[JudgedWrite<'_>]) -> usize {
        self.steps_for(Origin::Application, writes)
    }

    fn judge(&self, writes: &[JudgedWrite<'_>]) -> Judgement {
        self.judge_for(Origin::Application, writes)
    }

    fn record(&self, breaches: &[Breach]) {
        for breach in breaches {
            if let Some(watch) = self.watch(breach.table.as_str()) {
                watch.record(breach.rule, &breach.message);
            }
        }
    }
}

impl Models {
    /// The models that judge some writes.
    fn judges(&self, origin: Origin, writes: &[JudgedWrite<'_>]) -> Vec<Arc<ModelWatch>> {
        let tables: BTreeSet<&str> = writes.iter().map(|write| write.table.as_str()).collect();
        let is_judged = |watch: &Arc<ModelWatch>| origin != Origin::Migration || watch.former().is_none();
        tables.into_iter().filter_map(|table| self.watch(table)).filter(is_judged).collect()
    }

    fn steps_for(&self, origin: Origin, writes: &[JudgedWrite<'_>]) -> usize {
        let own = |watch: &Arc<ModelWatch>| {
            let own = writes.iter().filter(|write| write.table.as_str() == watch.table());
            watch.steps(own.map(|write| [Some(write.key), write.old, write.new]))
        };
        self.judges(origin, writes).iter().map(own).sum()
    }

    fn judge_for(&self, origin: Origin, writes: &[JudgedWrite<'_>]) -> Judgement {
        let mut judgement = Judgement::default();
        for watch in self.judges(origin, writes) {
            let own = |number: &usize| writes[*number].table.as_str() == watch.table();
            let numbers: Vec<usize> = (0..writes.len()).filter(own).collect();
            let changes: Vec<Change> = numbers.iter().map(|number| change(&writes[*number])).collect();
            for (position, violation) in watch.judge(&changes) {
                let number = numbers[position];
                let is_first = judgement.refused.last().is_none_or(|(last, _)| *last != number);
                if watch.is_enforced() && is_first {
                    judgement.refused.push((number, broken(violation.rule, &violation.message)));
                }
                let (table, rule, message) =
                    (writes[number].table.clone(), violation.rule, violation.message);
                judgement.breaches.push(Breach { table, rule, message });
            }
        }
        judgement
    }
}

fn change(write: &JudgedWrite<'_>) -> Change {
    Change { key: item(write.key), old: write.old.map(item), new: write.new.map(item) }
}

fn item(item: ItemRef<'_>) -> Item {
    map(item.attributes())
}

fn map(entries: MapRef<'_>) -> Item {
    entries.into_iter().map(|(name, own)| (text(name), value(own))).collect()
}

fn value(value_ref: ValueRef<'_>) -> Value {
    match value_ref {
        ValueRef::Null => Value::Null,
        ValueRef::Bool(flag) => Value::Bool(flag),
        ValueRef::S(bytes) => Value::String(text(bytes)),
        ValueRef::N(bytes) => Value::Number(text(bytes)),
        ValueRef::B(bytes) => Value::Binary(STANDARD.encode(bytes)),
        ValueRef::Ss(set) => Value::StringSet(set.into_iter().map(text).collect()),
        ValueRef::Ns(set) => Value::NumberSet(set.into_iter().map(text).collect()),
        ValueRef::Bs(set) => Value::BinarySet(set.into_iter().map(|bytes| STANDARD.encode(bytes)).collect()),
        ValueRef::L(list) => Value::List(list.into_iter().map(value).collect()),
        ValueRef::M(entries) => Value::Map(map(entries)),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
