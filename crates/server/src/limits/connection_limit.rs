//! The limit on open connections, and which one is closed when another arrives.
//!
//! When all slots are taken, the connection that has been idle for longest and has no request running is evicted; first
//! among those that never had a successful request.

use crate::clock;
use crate::limits::budget::Budget;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// How long an evicted connection may take to close.
const EVICTION_TIMEOUT: Duration = Duration::from_millis(100);

pub struct ConnectionLimit {
    limit: usize,
    started: Instant,
    budget: &'static Budget,
    open: Mutex<OpenConnections>,
    /// Notified whenever a connection ends.
    slot_freed: Notify,
}

#[derive(Default)]
struct OpenConnections {
    last_id: u64,
    states: HashMap<u64, Arc<ConnectionState>>,
}

struct ConnectionState {
    /// When the client last sent something, in milliseconds since the server started.
    last_activity: AtomicU64,
    has_request: AtomicBool,
    /// Whether a request has succeeded.
    is_proven: AtomicBool,
    is_evicted: AtomicBool,
    evict: Notify,
}

/// A connection's slot, freed when dropped.
pub struct ConnectionSlot {
    id: u64,
    state: Arc<ConnectionState>,
    connections: Arc<ConnectionLimit>,
}

impl ConnectionLimit {
    pub fn new(limit: usize, budget: &'static Budget) -> Arc<ConnectionLimit> {
        Arc::new(ConnectionLimit {
            limit: limit.max(1),
            started: clock::monotonic_now(),
            budget,
            open: Mutex::default(),
            slot_freed: Notify::new(),
        })
    }

    /// A slot for a new connection, for which an idle one may be evicted; `None` if all others have requests running.
    pub async fn acquire(self: &Arc<ConnectionLimit>) -> Option<ConnectionSlot> {
        if let Some(slot) = self.try_acquire() {
            return Some(slot);
        }
        if !self.evict_idle() {
            return None;
        }
        let freed = async {
            loop {
                self.slot_freed.notified().await;
                if let Some(slot) = self.try_acquire() {
                    return slot;
                }
            }
        };
        tokio::time::timeout(EVICTION_TIMEOUT, freed).await.ok()
    }

    fn try_acquire(self: &Arc<ConnectionLimit>) -> Option<ConnectionSlot> {
        let mut open = self.open();
        if open.states.len() >= self.limit {
            return None;
        }
        open.last_id += 1;
        let id = open.last_id;
        let state = Arc::new(ConnectionState::new(self.millis(clock::monotonic_now())));
        open.states.insert(id, Arc::clone(&state));
        self.update_pressure(open.states.len());
        Some(ConnectionSlot { id, state, connections: Arc::clone(self) })
    }

    /// Asks an idle connection to close. Returns whether there was one.
    pub fn evict_idle(&self) -> bool {
        let open = self.open();
        let idle = open.states.values().filter(|state| state.is_evictable());
        let first = idle.min_by_key(|state| {
            (state.is_proven.load(Ordering::Relaxed), state.last_activity.load(Ordering::Relaxed))
        });
        let Some(state) = first else { return false };
        state.is_evicted.store(true, Ordering::Relaxed);
        state.evict.notify_one();
        true
    }

    fn update_pressure(&self, open: usize) {
        self.budget.set_crowded(open > self.limit - self.limit / 8);
    }

    /// Milliseconds since the server started.
    fn millis(&self, now: Instant) -> u64 {
        now.duration_since(self.started).as_millis() as u64
    }

    fn open(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionState {
    fn new(now: u64) -> ConnectionState {
        ConnectionState {
            last_activity: AtomicU64::new(now),
            has_request: AtomicBool::new(false),
            is_proven: AtomicBool::new(false),
            is_evicted: AtomicBool::new(false),
            evict: Notify::new(),
        }
    }

    fn is_evictable(&self) -> bool {
        !self.has_request.load(Ordering::Relaxed) && !self.is_evicted.load(Ordering::Relaxed)
    }
}

impl ConnectionSlot {
    /// The client has sent something.
    pub fn record_activity(&self, now: Instant) {
        self.state.last_activity.store(self.connections.millis(now), Ordering::Relaxed);
    }

    /// The head of a request was read.
    pub fn request_started(&self) {
        self.state.has_request.store(true, Ordering::Relaxed);
    }

    /// The request was answered.
    pub fn request_finished(&self, succeeded: bool) {
        if succeeded {
            self.state.is_proven.store(true, Ordering::Relaxed);
        }
        self.state.has_request.store(false, Ordering::Relaxed);
    }

    /// Resolves when the slot is needed for another connection.
    pub async fn evicted(&self) {
        self.state.evict.notified().await;
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut open = self.connections.open();
        open.states.remove(&self.id);
        self.connections.update_pressure(open.states.len());
        drop(open);
        self.connections.slot_freed.notify_one();
        self.connections.budget.connection_ended();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections(limit: usize) -> Arc<ConnectionLimit> {
        ConnectionLimit::new(limit, Budget::new(1 << 20, || ()))
    }

    async fn is_evicted(slot: &ConnectionSlot) -> bool {
        tokio::time::timeout(Duration::from_millis(1), slot.evicted()).await.is_ok()
    }

    #[tokio::test]
    async fn unproven_connections_are_evicted_first_and_then_the_longest_idle() {
        let connections = connections(3);
        let mut slots = Vec::new();
        for _ in 0..3 {
            slots.push(connections.acquire().await.unwrap());
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
        slots[0].request_finished(true);
        assert!(connections.acquire().await.is_none());
        assert!(is_evicted(&slots[1]).await);
        drop(slots.remove(1));
        let fresh = connections.acquire().await.unwrap();
        fresh.request_started();
        slots[1].record_activity(Instant::now());
        slots[1].request_finished(true);
        assert!(connections.evict_idle());
        assert!(is_evicted(&slots[0]).await && !is_evicted(&slots[1]).await && !is_evicted(&fresh).await);
    }

    #[tokio::test]
    async fn connections_with_running_requests_are_not_evicted() {
        let connections = connections(1);
        let slot = connections.acquire().await.unwrap();
        slot.request_started();
        assert!(connections.acquire().await.is_none() && !is_evicted(&slot).await);
        slot.request_finished(true);
        let closing = async {
            slot.evicted().await;
            drop(slot);
        };
        let (_, next) = tokio::join!(closing, connections.acquire());
        assert!(next.is_some());
    }
}
