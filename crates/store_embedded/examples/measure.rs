//! Measures this store on this machine: durable puts, gets and ranges, and the disk's own rate.
//!
//! `cargo run --release --example measure [folder] [seconds per line] [rows]`
//!
//! With `drop` before these: how long removing the rows of a dropped space takes when they are long, and how much puts
//! are slowed down meanwhile.

use std::fs::File;
use std::future::Future;
use std::io::{Seek, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use partita_store::{Decision, Direction, KeyRange, Snapshot, Space, Store, Write};
use partita_store_embedded::{Durability, EmbeddedStore, Options};

const VALUE_BYTES: usize = 1_000;
const LONG_ROWS: u32 = 2_000;
const LONG_ROW_BYTES: usize = 400_000;
const LONGEST_DROP: Duration = Duration::from_secs(120);

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    let only_drop = arguments.next_if(|argument| argument == "drop").is_some();
    let folder = arguments.next().map_or_else(|| std::env::temp_dir().join("partita-measure"), PathBuf::from);
    let time = Duration::from_secs_f64(arguments.next().and_then(|s| s.parse().ok()).unwrap_or(5.0));
    let rows: u64 = arguments.next().and_then(|rows| rows.parse().ok()).unwrap_or(300_000);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder to measure in");
    if only_drop {
        return drop_long_rows(&folder);
    }
    disk(&folder, time);
    for durability in [Durability::Full, Durability::Relaxed] {
        println!("{durability:?}");
        let folder = folder.join(format!("{durability:?}"));
        let store = EmbeddedStore::open(&folder, Options { durability }).expect("a store");
        load(&store, rows);
        reads(&store, rows, time, "reads at rest");
        for callers in [1, 32, 256] {
            puts(&store, rows, callers, time);
        }
        reads_during_puts(&store, rows, time);
        println!("  {:?}", store.usage().expect("usage"));
        let started = Instant::now();
        store.close();
        println!("  closed in {:?}", started.elapsed());
    }
}

/// The disk's own rate: overwriting 4 KB, then fdatasync.
fn disk(folder: &Path, time: Duration) {
    let mut file = File::create(folder.join("disk")).expect("a file");
    file.write_all(&vec![1; 16 << 20]).and_then(|()| file.sync_all()).expect("written");
    let (started, mut syncs) = (Instant::now(), 0_u64);
    while started.elapsed() < time {
        if syncs.is_multiple_of(4_096) {
            file.rewind().expect("rewound");
        }
        file.write_all(&[syncs as u8; 4_096]).and_then(|()| file.sync_data()).expect("synced");
        syncs += 1;
    }
    println!("disk: {:.0} fdatasync/s", syncs as f64 / started.elapsed().as_secs_f64());
}

fn load(store: &EmbeddedStore, rows: u64) {
    let started = Instant::now();
    let mut waiting = std::collections::VecDeque::new();
    for number in 0..rows {
        waiting.push_back(put(store, number));
        if waiting.len() == 4_096 {
            for queued in waiting.drain(..2_048) {
                wait(queued);
            }
        }
    }
    waiting.into_iter().for_each(wait);
    println!("  load: {:.0} rows/s", rows as f64 / started.elapsed().as_secs_f64());
}

fn puts(store: &EmbeddedStore, rows: u64, callers: usize, time: Duration) {
    let (done, longest) = (AtomicU64::new(0), AtomicU64::new(0));
    let started = Instant::now();
    std::thread::scope(|scope| {
        for caller in 0..callers {
            let (done, longest) = (&done, &longest);
            scope.spawn(move || {
                let mut random = Random(caller as u64);
                while started.elapsed() < time {
                    let submitted = Instant::now();
                    wait(put(store, random.next() % rows));
                    done.fetch_add(1, Ordering::Relaxed);
                    longest.fetch_max(submitted.elapsed().as_micros() as u64, Ordering::Relaxed);
                }
            });
        }
    });
    let rate = done.load(Ordering::Relaxed) as f64 / started.elapsed().as_secs_f64();
    println!("  puts, {callers} callers: {rate:.0}/s, longest {} µs", longest.load(Ordering::Relaxed));
}

fn reads(store: &EmbeddedStore, rows: u64, time: Duration, name: &str) {
    let mut random = Random(7);
    let (started, mut gets) = (Instant::now(), 0_u64);
    while started.elapsed() < time / 2 {
        let snapshot = store.snapshot().expect("a snapshot");
        assert!(snapshot.get(&key(random.next() % rows)).expect("read").is_some());
        gets += 1;
    }
    let get = started.elapsed().as_secs_f64() / gets as f64 * 1e6;
    let (started, mut ranges) = (Instant::now(), 0_u64);
    while started.elapsed() < time / 2 {
        let snapshot = store.snapshot().expect("a snapshot");
        let mut left = 10;
        let range = KeyRange { start: key(random.next() % rows), end: key(u64::MAX) };
        let ten = snapshot.range(&range, Direction::Ascending, |_, _| {
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        ten.expect("read");
        ranges += 1;
    }
    let range = started.elapsed().as_secs_f64() / ranges as f64 * 1e6;
    println!("  {name}: get {get:.2} µs, range of 10 {range:.2} µs");
}

fn reads_during_puts(store: &EmbeddedStore, rows: u64, time: Duration) {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for caller in 0..32 {
            let done = &done;
            scope.spawn(move || {
                let mut random = Random(caller);
                while !done.load(Ordering::Relaxed) {
                    wait(put(store, random.next() % rows));
                }
            });
        }
        reads(store, rows, time, "reads with 32 writers");
        done.store(true, Ordering::Relaxed);
    });
}

fn drop_long_rows(folder: &Path) {
    let store = EmbeddedStore::open(&folder.join("drop"), Options::default()).expect("a store");
    for row in 0..LONG_ROWS {
        let key = [&2_u32.to_be_bytes()[..], &row.to_be_bytes()].concat();
        wait(write(&store, Write::Put { key, value: vec![7; LONG_ROW_BYTES] }));
    }
    let used = || store.usage().expect("usage").used_bytes;
    let (full, started) = (used(), Instant::now());
    wait(write(&store, Write::DropSpace(Space(2))));
    let mut puts = Vec::new();
    while used() > full / 100 && started.elapsed() < LONGEST_DROP {
        let submitted = Instant::now();
        wait(put(&store, puts.len() as u64));
        puts.push(submitted.elapsed());
    }
    println!("drop: {full} bytes in use, {} after {:?}", used(), started.elapsed());
    puts.sort_unstable();
    let part = |thousandths: usize| puts[(puts.len() - 1) * thousandths / 1_000];
    println!("  {} puts: median {:?}, p99 {:?}, longest {:?}", puts.len(), part(500), part(990), part(1_000));
    let closing = Instant::now();
    store.close();
    println!("  closed in {:?}", closing.elapsed());
}

/// Scattered over the key order, as hashed partition keys are.
fn key(number: u64) -> Vec<u8> {
    let position = if number == u64::MAX { u64::MAX } else { number.wrapping_mul(0x9E37_79B9_7F4A_7C15) };
    [&1_u32.to_be_bytes()[..], &position.to_be_bytes(), &[0; 20]].concat()
}

fn put(store: &EmbeddedStore, number: u64) -> impl Future<Output = ()> {
    let at = key(number);
    let decided = store.decide(vec![at.clone()], move |rows| {
        let first = rows[0].as_ref().and_then(|row| row.first()).copied().unwrap_or(0);
        let value = vec![first.wrapping_add(1); VALUE_BYTES];
        Decision::commit(vec![Write::Put { key: at.clone(), value }], ())
    });
    async { decided.await.expect("written") }
}

fn write(store: &EmbeddedStore, write: Write) -> impl Future<Output = ()> {
    let decided = store.decide(Vec::new(), move |_| Decision::commit(vec![write.clone()], ()));
    async { decided.await.expect("written") }
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed ^ (mixed >> 29)
    }
}

struct Unpark(std::thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn wait<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}
