//! Rows that are in the log and not yet in the tree, which readers layer over the tree.
//!
//! Two overlays: the **active** one, which the writer adds to, and at times a **frozen** one, which the applier writes to
//! the tree. Every freeze starts a new generation. Readers take both overlays and then the tree's root: if no generation
//! has started in between, nothing of the active overlay can be in the tree, and what the tree has of the frozen one
//! the reader sees in the overlay anyway.

use crate::clock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use partita_store::{Space, StoreError};

use crate::Pace;
use crate::log::appender::AppendedRecord;
use crate::tree::environment::Environment;
use crate::tree::root::Root;
use crate::write::batch::Batch;
use crate::write::overlay::Overlay;

/// How far the tree may lag behind the log.
pub(crate) struct Pacing {
    /// From this size on, the active overlay is written to the tree.
    due: Size,
    /// However small, it waits no longer than this.
    due_after: Duration,
    /// At this size, writers wait for the applier.
    full: Size,
    /// How long a group of writes is delayed when the overlay is almost full.
    max_delay: Duration,
    /// How long the log waits for a segment when the disk is full. The applier runs twice a second.
    segment_timeout: Duration,
}

struct Size {
    bytes: usize,
    rows: usize,
    log_bytes: usize,
}

impl Pacing {
    pub fn of(pace: Pace) -> Pacing {
        let normal = Pacing {
            due: Size { bytes: 16 << 20, rows: 16_384, log_bytes: 64 << 20 },
            due_after: Duration::from_millis(500),
            full: Size { bytes: 48 << 20, rows: 65_536, log_bytes: 192 << 20 },
            max_delay: Duration::from_millis(40),
            segment_timeout: Duration::from_secs(2),
        };
        match pace {
            Pace::Normal => normal,
            Pace::Eager => Pacing {
                due: Size { bytes: 1, rows: 1, ..normal.due },
                full: Size { bytes: 2_000, rows: 20, ..normal.full },
                max_delay: Duration::from_micros(50),
                ..normal
            },
            Pace::Manual => Pacing {
                due: Size { bytes: 1, rows: 1, log_bytes: 1 },
                full: Size { bytes: usize::MAX, rows: usize::MAX, log_bytes: usize::MAX },
                max_delay: Duration::ZERO,
                segment_timeout: Duration::ZERO,
                ..normal
            },
            Pace::Lazy => Pacing {
                due: Size { bytes: usize::MAX, rows: usize::MAX, log_bytes: usize::MAX },
                due_after: Duration::from_secs(1 << 20),
                full: Size { bytes: usize::MAX, rows: usize::MAX, log_bytes: usize::MAX },
                ..normal
            },
        }
    }
}

pub(crate) struct Pending {
    pacing: Pacing,
    overlays: RwLock<Arc<Overlays>>,
    generation: AtomicU64,
    /// Held while the overlays are changed.
    progress: Mutex<Progress>,
    changed: Condvar,
}

#[derive(Clone, Default)]
pub(crate) struct Overlays {
    generation: u64,
    pub active: Arc<Overlay>,
    pub frozen: Arc<Overlay>,
    /// The spaces whose rows are being removed from the tree, in order; usually none.
    dropped: Arc<[Space]>,
}

impl Overlays {
    /// The row as changed since it was written to the tree (`None` inside if deleted), or `None` if unchanged.
    pub fn get(&self, key: &[u8]) -> Option<Option<&[u8]>> {
        self.active.get(key).or_else(|| self.frozen.get(key))
    }

    /// Whether the tree's row of this key belongs to a dropped space.
    pub fn hides_tree_row(&self, key: &[u8]) -> bool {
        let recorded =
            |space: &[u8; 4]| self.dropped.binary_search(&Space(u32::from_be_bytes(*space))).is_ok();
        (!self.dropped.is_empty() && key.first_chunk().is_some_and(recorded))
            || self.active.drops(key)
            || self.frozen.drops(key)
    }
}

#[derive(Default)]
struct Progress {
    /// The last record in the active overlay.
    sequence: u64,
    /// The size of the active overlay's records in the log.
    log_bytes: usize,
    since: Option<Instant>,
    closing: bool,
    /// Why the applier fails, if it does.
    applier_error: Option<StoreError>,
}

/// What the applier has to do next.
pub(crate) enum ApplierWork {
    /// Write these rows to the tree; the last one is from the record with this sequence.
    Apply(Arc<Overlay>, u64),
    /// Nothing for now.
    Idle,
    Stop,
}

impl Pending {
    /// `dropped` are the spaces whose rows are still to be removed from the tree.
    pub fn new(pacing: Pacing, dropped: Vec<Space>) -> Pending {
        let overlays = Overlays { dropped: dropped.into(), ..Overlays::default() };
        Pending {
            pacing,
            overlays: RwLock::new(Arc::new(overlays)),
            generation: AtomicU64::new(0),
            progress: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    pub fn segment_timeout(&self) -> Duration {
        self.pacing.segment_timeout
    }

    /// The tree and the overlays over it, as of one moment.
    pub fn consistent_view(&self, environment: &Environment) -> (Arc<Overlays>, Arc<Root>) {
        loop {
            let overlays = self.overlays();
            let root = environment.root();
            if self.generation.load(Ordering::SeqCst) == overlays.generation {
                return (overlays, root);
            }
        }
    }

    /// Makes a logged batch visible to readers.
    pub fn publish(&self, batch: &Batch, appended: &AppendedRecord) {
        let mut progress = self.lock();
        let overlays = self.overlays();
        let active = Arc::new(overlays.active.with(batch));
        progress.sequence = appended.sequence;
        progress.log_bytes += appended.bytes;
        let first = progress.since.is_none();
        progress.since.get_or_insert_with(clock::monotonic_now);
        let wake = first || self.is_due(&progress, &active);
        self.set_overlays(Overlays { active, ..Overlays::clone(&overlays) });
        drop(progress);
        if wake {
            self.changed.notify_all();
        }
    }

    /// Applies backpressure: waits until there is capacity for more, or fails with the reason why there is none. If the
    /// applier falls behind, writers are slowed down gradually, so that they hardly ever have to be stopped.
    pub fn wait_for_capacity(&self) -> Result<(), StoreError> {
        let mut progress = self.lock();
        let mut delay_end = None;
        loop {
            let filled = self.pacing.filled(&progress, &self.overlays().active);
            // On a full disk what gets here frees space, so it is accepted while there is memory for it.
            if let Some(applier_error) = &progress.applier_error
                && (filled >= 1.0 || !matches!(applier_error, StoreError::Full(_)))
            {
                return Err(applier_error.clone());
            }
            if filled <= 0.0 {
                return Ok(());
            }
            let end = *delay_end.get_or_insert_with(|| {
                clock::monotonic_now() + self.pacing.max_delay.mul_f64(filled.min(1.0))
            });
            let left = end.saturating_duration_since(clock::monotonic_now());
            progress = if filled >= 1.0 {
                self.changed.wait(progress).unwrap_or_else(PoisonError::into_inner)
            } else if left.is_zero() {
                return Ok(());
            } else {
                self.changed.wait_timeout(progress, left).unwrap_or_else(PoisonError::into_inner).0
            };
        }
    }

    /// Waits until the applier has something to do, at most for `timeout`.
    pub fn next_work(&self, timeout: Option<Duration>) -> ApplierWork {
        let mut progress = self.lock();
        let until = timeout.map(|timeout| clock::monotonic_now() + timeout);
        loop {
            let overlays = self.overlays();
            if progress.closing && overlays.active.is_empty() {
                return ApplierWork::Stop;
            }
            if progress.closing || self.is_due(&progress, &overlays.active) {
                return self.freeze(&mut progress, &overlays);
            }
            let due = progress.since.map(|since| since + self.pacing.due_after);
            let wake = [until, due].into_iter().flatten().min();
            progress = match wake.map(|wake| wake.saturating_duration_since(clock::monotonic_now())) {
                None => self.changed.wait(progress).unwrap_or_else(PoisonError::into_inner),
                Some(_) if until.is_some_and(|until| until <= clock::monotonic_now()) => {
                    return ApplierWork::Idle;
                }
                Some(time) => {
                    self.changed.wait_timeout(progress, time).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// The frozen overlay is in the tree.
    pub fn applied(&self) {
        let mut progress = self.lock();
        progress.applier_error = None;
        let overlays = self.overlays();
        let mut dropped = [&overlays.dropped, overlays.frozen.dropped()].concat();
        dropped.sort_unstable();
        self.set_overlays(Overlays {
            frozen: Arc::default(),
            dropped: dropped.into(),
            ..Overlays::clone(&overlays)
        });
        drop(progress);
        self.changed.notify_all();
    }

    /// The tree has no more rows of dropped spaces.
    pub fn removed(&self) {
        let _changing = self.lock();
        self.set_overlays(Overlays { dropped: Arc::default(), ..Overlays::clone(&self.overlays()) });
    }

    /// The frozen overlay could not be written. Waits a while, and returns whether to retry.
    pub fn failed(&self, error: StoreError, pause: Duration) -> bool {
        let mut progress = self.lock();
        progress.applier_error = Some(error);
        self.changed.notify_all();
        let until = clock::monotonic_now() + pause;
        while !progress.closing && clock::monotonic_now() < until {
            let left = until.saturating_duration_since(clock::monotonic_now());
            progress = self.changed.wait_timeout(progress, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        !progress.closing
    }

    /// Why the applier fails, if it does.
    pub fn applier_error(&self) -> Option<StoreError> {
        self.lock().applier_error.clone()
    }

    /// Nothing more will be published: the applier is to finish.
    pub fn close(&self) {
        self.lock().closing = true;
        self.changed.notify_all();
    }

    /// The approximate size of what is pending.
    pub fn bytes(&self) -> u64 {
        let overlays = self.overlays();
        (overlays.active.bytes() + overlays.frozen.bytes()) as u64
    }

    fn freeze(&self, progress: &mut Progress, overlays: &Overlays) -> ApplierWork {
        let frozen = Arc::clone(&overlays.active);
        progress.log_bytes = 0;
        progress.since = None;
        let generation = overlays.generation + 1;
        // Long before the tree has the first of these rows: a reader that could see them there sees this first.
        self.generation.store(generation, Ordering::SeqCst);
        self.set_overlays(Overlays {
            generation,
            active: Arc::default(),
            frozen: Arc::clone(&frozen),
            dropped: Arc::clone(&overlays.dropped),
        });
        self.changed.notify_all();
        ApplierWork::Apply(frozen, progress.sequence)
    }

    fn is_due(&self, progress: &Progress, active: &Overlay) -> bool {
        self.pacing.due.is_reached(progress, active)
            || progress.since.is_some_and(|since| since.elapsed() >= self.pacing.due_after)
    }

    fn overlays(&self) -> Arc<Overlays> {
        Arc::clone(&self.overlays.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn set_overlays(&self, overlays: Overlays) {
        let overlays = Arc::new(overlays);
        let old =
            std::mem::replace(&mut *self.overlays.write().unwrap_or_else(PoisonError::into_inner), overlays);
        // Outside the lock: freeing a large overlay takes a while.
        drop(old);
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pacing {
    /// How far the active overlay is between due (0) and full (1).
    fn filled(&self, progress: &Progress, active: &Overlay) -> f64 {
        let part = |size: usize, due: usize, full: usize| {
            size.saturating_sub(due) as f64 / full.saturating_sub(due).max(1) as f64
        };
        part(active.bytes(), self.due.bytes, self.full.bytes)
            .max(part(active.rows(), self.due.rows, self.full.rows))
            .max(part(progress.log_bytes, self.due.log_bytes, self.full.log_bytes))
    }
}

impl Size {
    fn is_reached(&self, progress: &Progress, active: &Overlay) -> bool {
        active.bytes() >= self.bytes || active.rows() >= self.rows || progress.log_bytes >= self.log_bytes
    }
}
