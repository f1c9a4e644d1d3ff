//! What is in the log and not yet in the tree, for readers to put over the tree.
//!
//! Two overlays: the **active** one, which the writer adds to, and at times a **frozen** one, which the applier
//! writes to the tree. With every freezing begins a new generation. Readers take both overlays as they stand and
//! then the tree's root: if no generation has begun in between, nothing of the active overlay can be in the tree, and
//! what the tree has of the frozen one the reader sees in the overlay anyway.

use crate::clock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use partita_store::{Space, StoreError};

use crate::Pace;
use crate::log::appender::Appended;
use crate::tree::environment::Environment;
use crate::tree::root::Root;
use crate::write::batch::Batch;
use crate::write::overlay::Overlay;

/// How far the tree may be behind.
pub(crate) struct Pacing {
    /// From this size on the active overlay is written to the tree.
    due: Size,
    /// However small, it waits no longer than this.
    due_after: Duration,
    /// At this size writers wait for the applier.
    full: Size,
    /// How long a group of writes is held back when there is almost no room left.
    hardest_brake: Duration,
    /// How long the log waits for a segment when the disk is full. The tree gets what is pending twice a second.
    patience_when_full: Duration,
}

struct Size {
    bytes: usize,
    rows: usize,
    log_bytes: usize,
}

impl Pacing {
    pub fn of(pace: Pace) -> Pacing {
        let usual = Pacing {
            due: Size { bytes: 16 << 20, rows: 16_384, log_bytes: 64 << 20 },
            due_after: Duration::from_millis(500),
            full: Size { bytes: 48 << 20, rows: 65_536, log_bytes: 192 << 20 },
            hardest_brake: Duration::from_millis(40),
            patience_when_full: Duration::from_secs(2),
        };
        match pace {
            Pace::Usual => usual,
            Pace::Hurried => Pacing {
                due: Size { bytes: 1, rows: 1, ..usual.due },
                full: Size { bytes: 2_000, rows: 20, ..usual.full },
                hardest_brake: Duration::from_micros(50),
                ..usual
            },
            Pace::Stepwise => Pacing {
                due: Size { bytes: 1, rows: 1, log_bytes: 1 },
                full: Size { bytes: usize::MAX, rows: usize::MAX, log_bytes: usize::MAX },
                hardest_brake: Duration::ZERO,
                patience_when_full: Duration::ZERO,
                ..usual
            },
            Pace::Lazy => Pacing {
                due: Size { bytes: usize::MAX, rows: usize::MAX, log_bytes: usize::MAX },
                due_after: Duration::from_secs(1 << 20),
                full: Size { bytes: usize::MAX, rows: usize::MAX, log_bytes: usize::MAX },
                ..usual
            },
        }
    }
}

pub(crate) struct Pending {
    pacing: Pacing,
    layers: RwLock<Arc<Layers>>,
    generation: AtomicU64,
    /// Held by whoever changes the layers.
    progress: Mutex<Progress>,
    changed: Condvar,
}

#[derive(Clone, Default)]
pub(crate) struct Layers {
    generation: u64,
    pub active: Arc<Overlay>,
    pub frozen: Arc<Overlay>,
    /// The spaces whose rows are being removed from the tree, in order; usually none.
    dropped: Arc<[Space]>,
}

impl Layers {
    /// What became of a row since it was in the tree, if anything did.
    pub fn get(&self, key: &[u8]) -> Option<Option<&[u8]>> {
        self.active.get(key).or_else(|| self.frozen.get(key))
    }

    /// Whether the tree's row of this key is no more.
    pub fn drop_from_tree(&self, key: &[u8]) -> bool {
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
    /// What the active overlay takes in the log.
    log_bytes: usize,
    since: Option<Instant>,
    closing: bool,
    /// Why the applier does not get on.
    trouble: Option<StoreError>,
}

/// What the applier has to do next.
pub(crate) enum Work {
    /// Write these rows to the tree; they end with the record of this sequence.
    Apply(Arc<Overlay>, u64),
    /// Nothing for now.
    Rest,
    End,
}

impl Pending {
    /// `dropped` are the spaces whose rows are still to be removed from the tree.
    pub fn new(pacing: Pacing, dropped: Vec<Space>) -> Pending {
        let layers = Layers { dropped: dropped.into(), ..Layers::default() };
        Pending {
            pacing,
            layers: RwLock::new(Arc::new(layers)),
            generation: AtomicU64::new(0),
            progress: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    pub fn patience_when_full(&self) -> Duration {
        self.pacing.patience_when_full
    }

    /// The tree and what is to be put over it, as of one moment.
    pub fn over(&self, environment: &Environment) -> (Arc<Layers>, Arc<Root>) {
        loop {
            let layers = self.layers();
            let root = environment.root();
            if self.generation.load(Ordering::SeqCst) == layers.generation {
                return (layers, root);
            }
        }
    }

    /// Shows a logged batch to readers.
    pub fn publish(&self, batch: &Batch, appended: &Appended) {
        let mut progress = self.lock();
        let layers = self.layers();
        let active = Arc::new(layers.active.with(batch));
        progress.sequence = appended.sequence;
        progress.log_bytes += appended.bytes;
        let first = progress.since.is_none();
        progress.since.get_or_insert_with(clock::monotonic_now);
        let wake = first || self.is_due(&progress, &active);
        self.set_layers(Layers { active, ..Layers::clone(&layers) });
        drop(progress);
        if wake {
            self.changed.notify_all();
        }
    }

    /// Waits until there is room for more, or fails for the reason there is none. When the applier falls behind,
    /// writers are slowed down little by little, so that they hardly ever have to be stopped.
    pub fn wait_for_room(&self) -> Result<(), StoreError> {
        let mut progress = self.lock();
        let mut brake = None;
        loop {
            let filled = self.pacing.filled(&progress, &self.layers().active);
            // On a full disk what comes here makes room, as long as memory has some.
            if let Some(trouble) = &progress.trouble
                && (filled >= 1.0 || !matches!(trouble, StoreError::Full(_)))
            {
                return Err(trouble.clone());
            }
            if filled <= 0.0 {
                return Ok(());
            }
            let end = *brake.get_or_insert_with(|| {
                clock::monotonic_now() + self.pacing.hardest_brake.mul_f64(filled.min(1.0))
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

    /// Waits until the applier has something to do, at most for `patience`.
    pub fn next_work(&self, patience: Option<Duration>) -> Work {
        let mut progress = self.lock();
        let until = patience.map(|patience| clock::monotonic_now() + patience);
        loop {
            let layers = self.layers();
            if progress.closing && layers.active.is_empty() {
                return Work::End;
            }
            if progress.closing || self.is_due(&progress, &layers.active) {
                return self.freeze(&mut progress, &layers);
            }
            let due = progress.since.map(|since| since + self.pacing.due_after);
            let wake = [until, due].into_iter().flatten().min();
            progress = match wake.map(|wake| wake.saturating_duration_since(clock::monotonic_now())) {
                None => self.changed.wait(progress).unwrap_or_else(PoisonError::into_inner),
                Some(_) if until.is_some_and(|until| until <= clock::monotonic_now()) => return Work::Rest,
                Some(time) => {
                    self.changed.wait_timeout(progress, time).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// The frozen overlay is in the tree.
    pub fn applied(&self) {
        let mut progress = self.lock();
        progress.trouble = None;
        let layers = self.layers();
        let mut dropped = [&layers.dropped, layers.frozen.dropped()].concat();
        dropped.sort_unstable();
        self.set_layers(Layers { frozen: Arc::default(), dropped: dropped.into(), ..Layers::clone(&layers) });
        drop(progress);
        self.changed.notify_all();
    }

    /// The tree has no rows of dropped spaces any more.
    pub fn removed(&self) {
        let _changing = self.lock();
        self.set_layers(Layers { dropped: Arc::default(), ..Layers::clone(&self.layers()) });
    }

    /// The frozen overlay could not be written. Waits a while, and says whether to try again.
    pub fn failed(&self, error: StoreError, pause: Duration) -> bool {
        let mut progress = self.lock();
        progress.trouble = Some(error);
        self.changed.notify_all();
        let until = clock::monotonic_now() + pause;
        while !progress.closing && clock::monotonic_now() < until {
            let left = until.saturating_duration_since(clock::monotonic_now());
            progress = self.changed.wait_timeout(progress, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        !progress.closing
    }

    /// Why the applier does not get on, if it does not.
    pub fn trouble(&self) -> Option<StoreError> {
        self.lock().trouble.clone()
    }

    /// No more will be published: the applier is to finish.
    pub fn close(&self) {
        self.lock().closing = true;
        self.changed.notify_all();
    }

    /// About how much is pending.
    pub fn bytes(&self) -> u64 {
        let layers = self.layers();
        (layers.active.bytes() + layers.frozen.bytes()) as u64
    }

    fn freeze(&self, progress: &mut Progress, layers: &Layers) -> Work {
        let frozen = Arc::clone(&layers.active);
        progress.log_bytes = 0;
        progress.since = None;
        let generation = layers.generation + 1;
        // Long before the tree has the first of these rows: a reader that comes to see them there sees this first.
        self.generation.store(generation, Ordering::SeqCst);
        self.set_layers(Layers {
            generation,
            active: Arc::default(),
            frozen: Arc::clone(&frozen),
            dropped: Arc::clone(&layers.dropped),
        });
        self.changed.notify_all();
        Work::Apply(frozen, progress.sequence)
    }

    fn is_due(&self, progress: &Progress, active: &Overlay) -> bool {
        self.pacing.due.is_reached(progress, active)
            || progress.since.is_some_and(|since| since.elapsed() >= self.pacing.due_after)
    }

    fn layers(&self) -> Arc<Layers> {
        Arc::clone(&self.layers.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn set_layers(&self, layers: Layers) {
        let layers = Arc::new(layers);
        let old =
            std::mem::replace(&mut *self.layers.write().unwrap_or_else(PoisonError::into_inner), layers);
        // Outside the lock: to free a large overlay takes its time.
        drop(old);
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pacing {
    /// How far the active overlay is between due, which is 0, and full, which is 1.
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
