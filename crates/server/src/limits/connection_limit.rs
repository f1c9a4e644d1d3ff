//! The connections that are open: how many there may be, and who goes when another comes.
//!
//! When all places are taken, the connection goes that has been silent for longest and has no request under way; first
//! among those that have never been answered a request that was in order.

use crate::clock;
use crate::limits::budget::Budget;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// How long someone may take to leave.
const LEAVING: Duration = Duration::from_millis(100);

pub struct Connections {
    most: usize,
    begun: Instant,
    budget: &'static Budget,
    open: Mutex<Open>,
    /// Told whenever one ends.
    left: Notify,
}

#[derive(Default)]
struct Open {
    numbers: u64,
    seats: HashMap<u64, Arc<Seat>>,
}

/// What is known of a connection.
struct Seat {
    /// Milliseconds of the server's life at which the client was heard last.
    heard: AtomicU64,
    under_way: AtomicBool,
    /// Whether a request was in order.
    proven: AtomicBool,
    told_to_leave: AtomicBool,
    leave: Notify,
}

/// A connection's place, for as long as it lives.
pub struct Place {
    number: u64,
    seat: Arc<Seat>,
    connections: Arc<Connections>,
}

impl Connections {
    pub fn new(most: usize, budget: &'static Budget) -> Arc<Connections> {
        let begun = clock::monotonic_now();
        Arc::new(Connections {
            most: most.max(1),
            begun,
            budget,
            open: Mutex::default(),
            left: Notify::new(),
        })
    }

    /// A place for one that has come; none if all are taken by requests under way.
    pub async fn place(self: &Arc<Connections>) -> Option<Place> {
        if let Some(place) = self.free_place() {
            return Some(place);
        }
        if !self.tell_one_to_leave() {
            return None;
        }
        let freed = async {
            loop {
                self.left.notified().await;
                if let Some(place) = self.free_place() {
                    return place;
                }
            }
        };
        tokio::time::timeout(LEAVING, freed).await.ok()
    }

    fn free_place(self: &Arc<Connections>) -> Option<Place> {
        let mut open = self.open();
        if open.seats.len() >= self.most {
            return None;
        }
        open.numbers += 1;
        let number = open.numbers;
        let seat = Arc::new(Seat::new(self.millis(clock::monotonic_now())));
        open.seats.insert(number, Arc::clone(&seat));
        self.judge(open.seats.len());
        Some(Place { number, seat, connections: Arc::clone(self) })
    }

    /// Whether there was one that could go.
    pub fn tell_one_to_leave(&self) -> bool {
        let open = self.open();
        let idle = open.seats.values().filter(|seat| seat.may_leave());
        let first =
            idle.min_by_key(|seat| (seat.proven.load(Ordering::Relaxed), seat.heard.load(Ordering::Relaxed)));
        let Some(seat) = first else { return false };
        seat.told_to_leave.store(true, Ordering::Relaxed);
        seat.leave.notify_one();
        true
    }

    fn judge(&self, open: usize) {
        self.budget.set_crowded(open > self.most - self.most / 8);
    }

    /// Milliseconds of the server's life.
    fn millis(&self, now: Instant) -> u64 {
        now.duration_since(self.begun).as_millis() as u64
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    fn new(now: u64) -> Seat {
        Seat {
            heard: AtomicU64::new(now),
            under_way: AtomicBool::new(false),
            proven: AtomicBool::new(false),
            told_to_leave: AtomicBool::new(false),
            leave: Notify::new(),
        }
    }

    fn may_leave(&self) -> bool {
        !self.under_way.load(Ordering::Relaxed) && !self.told_to_leave.load(Ordering::Relaxed)
    }
}

impl Place {
    /// The client has sent something.
    pub fn heard(&self, now: Instant) {
        self.seat.heard.store(self.connections.millis(now), Ordering::Relaxed);
    }

    /// A request has begun, whose head was read.
    pub fn begins(&self) {
        self.seat.under_way.store(true, Ordering::Relaxed);
    }

    /// It is answered; `in_order` if it was.
    pub fn ends(&self, in_order: bool) {
        if in_order {
            self.seat.proven.store(true, Ordering::Relaxed);
        }
        self.seat.under_way.store(false, Ordering::Relaxed);
    }

    /// Resolves when the place is needed for another.
    pub async fn needed(&self) {
        self.seat.leave.notified().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.connections.open();
        open.seats.remove(&self.number);
        self.connections.judge(open.seats.len());
        drop(open);
        self.connections.left.notify_one();
        self.connections.budget.connection_ended();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections(most: usize) -> Arc<Connections> {
        Connections::new(most, Budget::new(1 << 20, || ()))
    }

    async fn is_needed(place: &Place) -> bool {
        tokio::time::timeout(Duration::from_millis(1), place.needed()).await.is_ok()
    }

    #[tokio::test]
    async fn the_silent_leave_first_and_the_unproven_before_them() {
        let connections = connections(3);
        let mut places = Vec::new();
        for _ in 0..3 {
            places.push(connections.place().await.unwrap());
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
        places[0].ends(true);
        assert!(connections.place().await.is_none());
        assert!(is_needed(&places[1]).await);
        drop(places.remove(1));
        let fresh = connections.place().await.unwrap();
        fresh.begins();
        places[1].heard(Instant::now());
        places[1].ends(true);
        assert!(connections.tell_one_to_leave());
        assert!(is_needed(&places[0]).await && !is_needed(&places[1]).await && !is_needed(&fresh).await);
    }

    #[tokio::test]
    async fn requests_under_way_are_finished() {
        let connections = connections(1);
        let place = connections.place().await.unwrap();
        place.begins();
        assert!(connections.place().await.is_none() && !is_needed(&place).await);
        place.ends(true);
        let leaving = async {
            place.needed().await;
            drop(place);
        };
        let (_, next) = tokio::join!(leaving, connections.place());
        assert!(next.is_some());
    }
}
