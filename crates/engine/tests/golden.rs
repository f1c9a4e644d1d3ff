//! Golden scripts: requests, their responses, and every row that is written.
//!
//! Each file in `scripts/` consists of blocks: a line `Operation {request}` (or `@advance SECONDS`, `@maintain`), followed by
//! what happened: `= response`, and for every stored row `+ key value`, `- key`, `# counters added` or `x a dropped space`.
//! Keys and values are decoded (`support/row_decoder.rs`). `UPDATE_GOLDEN=1` rewrites the files; read the diff.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support;
use crate::support::row_decoder;

use partita_store::*;
use partita_store_memory::MemoryStore;
use row_decoder::{RowDecoder, mask_ids};
use std::fmt::Write as _;
use std::future::Future;
use std::path::Path;
use std::sync::{Arc, Mutex};
use support::Database;

const CATALOG: Space = Space(0);
const CATALOG_COPIES: Space = Space(u32::MAX - 1);

/// A store that records what is written, a list of writes per decision.
struct Recorder {
    store: MemoryStore,
    log: Arc<Mutex<Vec<Vec<Write>>>>,
}

impl Store for Recorder {
    type Snapshot<'a> = <MemoryStore as Store>::Snapshot<'a>;

    fn snapshot(&self) -> Result<Self::Snapshot<'_>, StoreError> {
        self.store.snapshot()
    }

    fn decide<T: Send + 'static>(
        &self,
        keys: Vec<Vec<u8>>,
        mut decision: impl FnMut(&Rows<'_>) -> Decision<T> + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send {
        let log = Arc::clone(&self.log);
        self.store.decide(keys, move |rows| {
            let decided = decision(rows);
            log.lock().unwrap().push(without_copies(&decided.writes));
            decided
        })
    }

    fn usage(&self) -> Result<Usage, StoreError> {
        self.store.usage()
    }

    fn health(&self) -> Health {
        self.store.health()
    }
}

/// The writes without the second copies of catalog rows.
fn without_copies(writes: &[Write]) -> Vec<Write> {
    let rows_of = |space: Space| {
        let row = move |write: &Write| match write {
            Write::Put { key, value } => {
                key.strip_prefix(&space.prefix()).map(|key| (key.to_vec(), Some(value.clone())))
            }
            Write::Delete { key } => key.strip_prefix(&space.prefix()).map(|key| (key.to_vec(), None)),
            Write::Count { .. } | Write::DropSpace(_) => None,
        };
        writes.iter().filter_map(row).collect::<Vec<_>>()
    };
    assert_eq!(rows_of(CATALOG), rows_of(CATALOG_COPIES));
    let is_copy = |write: &&Write| match write {
        Write::Put { key, .. } | Write::Delete { key } => key.starts_with(&CATALOG_COPIES.prefix()),
        Write::Count { .. } | Write::DropSpace(_) => false,
    };
    writes.iter().filter(|write| !is_copy(write)).cloned().collect()
}

async fn play(script: &str) -> String {
    let log = Arc::new(Mutex::new(Vec::new()));
    let mut decoder = RowDecoder::default();
    let database = Database::new(Recorder { store: MemoryStore::new(), log: Arc::clone(&log) });
    let mut played = String::new();
    let is_outcome = |line: &&str| !["= ", "+ ", "- ", "# ", "x "].iter().any(|mark| line.starts_with(mark));
    for line in script.lines().filter(is_outcome) {
        played.push_str(line);
        played.push('\n');
        match line.split_once(' ').unwrap_or((line, "")) {
            ("" | "//", _) => continue,
            ("@advance", seconds) => database.advance_seconds(seconds.parse().unwrap()),
            ("@maintain", _) => database.maintain().await,
            (operation, body) => {
                let request: serde_json::Value = serde_json::from_str(body).unwrap();
                request["ClientRequestToken"]
                    .as_str()
                    .into_iter()
                    .for_each(|token| decoder.learn_client_token(token));
                let response = mask_ids(&database.run(operation, body).await);
                writeln!(played, "= {response}").unwrap();
            }
        }
        for writes in log.lock().unwrap().drain(..) {
            decoder.print(writes.iter()).iter().for_each(|row| writeln!(played, "{row}").unwrap());
        }
    }
    played
}

#[tokio::test]
async fn scripts_play_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let mut differing = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let script = std::fs::read_to_string(&path).unwrap();
        let played = play(&script).await;
        if played != script {
            if std::env::var_os("UPDATE_GOLDEN").is_some() {
                std::fs::write(&path, &played).unwrap();
            } else {
                let line = script.lines().zip(played.lines()).position(|(a, b)| a != b);
                differing.push(format!("{} from line {}", path.display(), line.unwrap_or(0) + 1));
            }
        }
    }
    assert!(differing.is_empty(), "played differently: {differing:#?}");
}
