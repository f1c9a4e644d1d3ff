//! Shared by the tests of both stores: waiting for a future, short keys, and seeded random numbers.
#![allow(dead_code)]

use std::future::Future;
use std::ops::ControlFlow;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use partita_store::{Decision, Direction, KeyRange, Snapshot, Store, StoreError, Write};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Blocks this thread until `future` is ready.
pub fn wait<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// Writes without depending on any row.
pub fn write(store: &impl Store, writes: Vec<Write>) -> Result<(), StoreError> {
    wait(store.decide(Vec::new(), move |_| Decision::commit(writes.clone(), ())))
}

pub fn put(key: &[u8], value: &[u8]) -> Write {
    Write::Put { key: key.to_vec(), value: value.to_vec() }
}

pub fn get(store: &impl Store, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
    Ok(store.snapshot()?.get(key)?.map(|value| value.into_owned()))
}

pub type Row = (Vec<u8>, Vec<u8>);

/// Up to `limit` rows of a range.
pub fn rows(
    snapshot: &impl Snapshot,
    range: &KeyRange,
    direction: Direction,
    limit: usize,
) -> Result<Vec<Row>, StoreError> {
    let mut rows = Vec::new();
    snapshot.range(range, direction, |key, value| {
        rows.push((key.to_vec(), value.to_vec()));
        if rows.len() == limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(rows)
}

/// A key in a space.
pub fn key(space: u32, rest: &[u8]) -> Vec<u8> {
    [&space.to_be_bytes(), rest].concat()
}

/// Reproducible random numbers from a seed.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}
