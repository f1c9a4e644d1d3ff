//! A judge that takes long is asked outside of the writer, and what it says holds for the items that are committed.

use partita_api::{Exception, Operation};
use partita_engine::clock::Clock;
use partita_engine::{Breach, Engine, JudgedWrite, Judgement, WriteJudge};
use partita_store_memory::MemoryStore;
use partita_value::ValueRef;
use partita_value::names::TableName;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

/// Refuses writes that do not add exactly one to `n`, and takes `steps` for each of them.
struct CountingJudge {
    steps: usize,
    generation: AtomicU64,
    threads: Mutex<Vec<ThreadId>>,
    recorded: AtomicU64,
}

fn number(item: Option<partita_value::ItemRef<'_>>) -> u64 {
    match item.and_then(|item| item.get("n")) {
        Some(ValueRef::N(text)) => String::from_utf8_lossy(text).parse().unwrap_or_default(),
        _ => 0,
    }
}

impl WriteJudge for CountingJudge {
    fn of_request(self: Arc<Self>) -> Arc<dyn WriteJudge> {
        self
    }

    fn is_active(&self) -> bool {
        true
    }

    fn generation(&self, _: &mut dyn Iterator<Item = &TableName>) -> u64 {
        self.generation.load(Ordering::SeqCst)
    }

    fn steps(&self, writes: &[JudgedWrite<'_>]) -> usize {
        self.steps * writes.len()
    }

    fn judge(&self, writes: &[JudgedWrite<'_>]) -> Judgement {
        self.threads.lock().unwrap().push(std::thread::current().id());
        // The rules change while the first verdict is reached.
        self.generation.fetch_max(1, Ordering::SeqCst);
        let is_wrong =
            |number_of: &usize| number(writes[*number_of].new) != number(writes[*number_of].old) + 1;
        let mut judgement = Judgement::default();
        for position in (0..writes.len()).filter(is_wrong) {
            let (table, message) = (writes[position].table.clone(), "one more".to_owned());
            judgement.breaches.push(Breach { table, rule: "count", message: message.clone() });
            judgement.refused.push((position, Exception::validation(message)));
        }
        judgement
    }

    fn record(&self, breaches: &[Breach]) {
        self.recorded.fetch_add(breaches.len() as u64, Ordering::SeqCst);
    }
}

async fn call(engine: &Engine<MemoryStore>, operation: &str, body: Value) -> Result<(), String> {
    let request = partita_wire::decode(Operation::from_name(operation).unwrap(), body.to_string().as_bytes());
    let Ok(request) = request else { panic!("{body}") };
    engine.execute(request).await.map(|_| ()).map_err(|exception| format!("{exception:?}"))
}

async fn database(steps: usize) -> (Arc<Engine<MemoryStore>>, Arc<CountingJudge>) {
    let engine = Engine::open(MemoryStore::new(), "us-east-1", Clock::System).unwrap();
    let table = json!({
        "TableName": "Counts", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{ "AttributeName": "k", "KeyType": "HASH" }],
        "AttributeDefinitions": [{ "AttributeName": "k", "AttributeType": "S" }],
    });
    let (generation, threads, recorded) = Default::default();
    let judge = Arc::new(CountingJudge { steps, generation, threads, recorded });
    engine.set_judge(Arc::clone(&judge) as Arc<dyn WriteJudge>);
    call(&engine, "CreateTable", table).await.unwrap();
    (Arc::new(engine), judge)
}

fn put(key: &str, n: u64) -> Value {
    json!({ "TableName": "Counts", "Item": { "k": { "S": key }, "n": { "N": n.to_string() } } })
}

fn add(key: &str) -> Value {
    json!({
        "TableName": "Counts", "Key": { "k": { "S": key } }, "UpdateExpression": "ADD n :one",
        "ExpressionAttributeValues": { ":one": { "N": "1" } },
    })
}

#[tokio::test]
async fn a_judge_that_takes_long_is_asked_outside_of_the_writer() {
    for (steps, is_outside) in [(1, false), (usize::MAX / 200, true)] {
        let (engine, judge) = database(steps).await;
        let together = |second| json!({ "TransactItems": [{ "Put": put("a", 1) }, { "Put": second }] });
        assert!(call(&engine, "TransactWriteItems", together(put("b", 2))).await.is_err());
        call(&engine, "TransactWriteItems", together(put("b", 1))).await.unwrap();
        assert!(call(&engine, "PutItem", put("a", 1)).await.unwrap_err().contains("one more"));
        let batch = json!({ "RequestItems": { "Counts": [{ "PutRequest": { "Item": put("c", 1)["Item"] } }, { "PutRequest": { "Item": put("d", 2)["Item"] } }] } });
        assert!(call(&engine, "BatchWriteItem", batch).await.is_err());
        call(&engine, "PutItem", put("c", 1)).await.unwrap();
        let own = std::thread::current().id();
        let threads = judge.threads.lock().unwrap();
        assert!(threads.iter().all(|thread| (*thread != own) == is_outside), "{steps}: {threads:?}");
    }
}

/// The rules change while the first verdict is reached, so the decision is judged twice.
#[tokio::test]
async fn what_is_judged_again_is_recorded_once() {
    for steps in [1, usize::MAX / 200] {
        let (engine, judge) = database(steps).await;
        assert!(call(&engine, "PutItem", put("a", 2)).await.is_err());
        assert_eq!(judge.recorded.load(Ordering::SeqCst), 1, "{steps}");
        assert_eq!(judge.threads.lock().unwrap().len(), if steps == 1 { 1 } else { 2 });
    }
}

#[tokio::test]
async fn a_verdict_is_about_the_items_that_are_committed() {
    let (engine, _) = database(usize::MAX / 200).await;
    let local = tokio::task::LocalSet::new();
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let engine = Arc::clone(&engine);
            local.spawn_local(async move {
                let mut done = 0;
                for round in 0..20 {
                    // Some writes are wrong whatever is stored, some depend on it.
                    let (operation, body) = match (writer + round) % 3 {
                        0 => ("PutItem", put("a", round)),
                        _ => ("UpdateItem", add("a")),
                    };
                    done += u64::from(call(&engine, operation, body).await.is_ok());
                }
                done
            })
        })
        .collect();
    let mut done = 0;
    for writer in writers {
        done += local.run_until(writer).await.unwrap();
    }
    let Ok(request) =
        partita_wire::decode(Operation::GetItem, br#"{"TableName":"Counts","Key":{"k":{"S":"a"}}}"#)
    else {
        panic!("GetItem");
    };
    let found = partita_wire::encode(&engine.execute(request).await.unwrap());
    let found: Value = serde_json::from_slice(&found).unwrap();
    assert_eq!(found["Item"]["n"]["N"], done.to_string(), "every accepted write added one");
}
