//! Golden scripts: requests, what is answered, and every row that is written for it.
//!
//! Each file in `scripts/` holds blocks of a line `Operation {request}` (or `@advance SECONDS`,
//! `@maintain`), followed by what happened: `= answer`, and for every stored row `+ key bytes`,
//! `- key`, `# key rows bytes` or `x space`. `UPDATE_GOLDEN=1` writes the files anew; read the diff.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support;

use partita_store::*;
use partita_store_memory::MemoryStore;
use std::fmt::Write as _;
use std::future::Future;
use std::path::Path;
use std::sync::{Arc, Mutex};
use support::Database;

/// The space of backups, exports and imports.
const CATALOG: u32 = 0;
const CATALOG_COPIES: u32 = u32::MAX - 1;
const EXCHANGE: u32 = 6;

/// A store that notes down what is written.
struct Recorder {
    store: MemoryStore,
    log: Arc<Mutex<Vec<String>>>,
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
            log.lock().unwrap().extend(without_copies(&decided.writes).map(describe));
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

/// The writes without the second copies of the catalog's rows, of which each row there has one.
fn without_copies(writes: &[Write]) -> impl Iterator<Item = &Write> {
    let space = |write: &Write| match write {
        Write::Put { key, .. } | Write::Delete { key } => u32::from_be_bytes(*key.first_chunk().unwrap()),
        Write::Count { .. } | Write::DropSpace(_) => u32::MAX,
    };
    let shown = |wanted: u32| {
        let of_space = writes.iter().filter(move |write| space(write) == wanted).map(describe);
        of_space.map(move |line| line.replacen(&format!("{wanted}:"), "", 1)).collect::<Vec<_>>()
    };
    assert_eq!(shown(CATALOG), shown(CATALOG_COPIES));
    writes.iter().filter(move |write| space(write) != CATALOG_COPIES)
}

fn describe(write: &Write) -> String {
    let key = |key: &[u8]| {
        let (space, rest) = key.split_first_chunk::<4>().unwrap();
        let space = u32::from_be_bytes(*space);
        // The ids of backups and exports end with something random, behind a time.
        let known = if space == EXCHANGE { &rest[..rest.len() - 8] } else { rest };
        let hex: String = known.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{space}:{hex}")
    };
    match write {
        Write::Put { key: at, value } => format!("+ {} {}", key(at), value.len()),
        Write::Delete { key: at } => format!("- {}", key(at)),
        Write::Count { key: at, add } => format!("# {} {:+} {:+}", key(at), add.rows, add.bytes),
        Write::DropSpace(space) => format!("x {}", space.0),
    }
}

/// Ids are random, and are as long as each other.
fn mask_ids(answer: &str) -> String {
    mask(&mask(answer, "\"TableId\":\"", 36), "/backup/", 23)
}

fn mask(answer: &str, marker: &str, length: usize) -> String {
    match answer.find(marker) {
        Some(at) => {
            let start = at + marker.len();
            format!("{}…{}", &answer[..start], &answer[start + length..])
        }
        None => answer.to_owned(),
    }
}

async fn play(script: &str) -> String {
    let log = Arc::new(Mutex::new(Vec::new()));
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
                let answer = mask_ids(&database.run(operation, body).await);
                writeln!(played, "= {answer}").unwrap();
            }
        }
        for row in log.lock().unwrap().drain(..) {
            writeln!(played, "{row}").unwrap();
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
