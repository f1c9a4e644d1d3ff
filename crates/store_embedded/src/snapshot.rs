//! Rows as of one moment: those of the tree, with the pending ones layered over them.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::iter::Peekable;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::sync::Arc;

use partita_store::{Damage, Direction, KeyRange, StoreError};

use crate::tree::root::{RangeItem, Root, StoredRow};
use crate::write::overlay::Row;
use crate::write::pending::Overlays;
use crate::write::store_state::StoreState;

/// See [`partita_store::Snapshot`]. An open snapshot keeps old pages alive: do not hold it for long.
pub struct EmbeddedSnapshot<'a> {
    root: Arc<Root>,
    overlays: Arc<Overlays>,
    /// A store outlives its snapshots.
    _state: PhantomData<&'a StoreState>,
}

impl<'a> EmbeddedSnapshot<'a> {
    pub(crate) fn take(state: &'a StoreState) -> Result<EmbeddedSnapshot<'a>, StoreError> {
        let (overlays, root) = state.pending.consistent_view(&state.environment);
        Ok(EmbeddedSnapshot { root, overlays, _state: PhantomData })
    }
}

impl partita_store::Snapshot for EmbeddedSnapshot<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Cow<'_, [u8]>>, StoreError> {
        match self.overlays.get(key) {
            Some(row) => Ok(row.map(Cow::Borrowed)),
            None if self.overlays.hides_tree_row(key) => Ok(None),
            None => self.root.get(key),
        }
    }

    fn range(
        &self,
        range: &KeyRange,
        direction: Direction,
        visit: impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.walk(range, direction, visit, |damage| Err(StoreError::Damaged(damage)))
    }

    fn range_past_damage(
        &self,
        range: &KeyRange,
        direction: Direction,
        visit: impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
        mut damaged: impl FnMut(Damage) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.walk(range, direction, visit, |damage| Ok(damaged(damage)))
    }
}

impl EmbeddedSnapshot<'_> {
    /// Visits the rows of `range` in order. Damage is passed to `damaged`, which decides whether to continue.
    fn walk(
        &self,
        range: &KeyRange,
        direction: Direction,
        mut visit: impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
        mut damaged: impl FnMut(Damage) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<(), StoreError> {
        let mut overlay_rows = OverlayRows::of(&self.overlays, range, direction);
        let mut ended = false;
        self.root.range(range, direction, |item| {
            let flow = match item {
                RangeItem::Row(row) => {
                    self.visit_stored(&row, &mut overlay_rows, &mut visit, &mut damaged)?
                }
                RangeItem::Lost(damage) => {
                    self.visit_damage(damage, &mut overlay_rows, &mut visit, &mut damaged)?
                }
            };
            ended = flow.is_break();
            Ok(flow)
        })?;
        while !ended && let Some(row) = overlay_rows.next() {
            ended = visit_row(row, &mut visit).is_break();
        }
        Ok(())
    }

    /// Visits the newer rows before a row of the tree, and then the row itself or its newer version.
    fn visit_stored(
        &self,
        row: &StoredRow<'_>,
        overlay_rows: &mut OverlayRows<'_>,
        visit: &mut impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
        damaged: &mut impl FnMut(Damage) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<ControlFlow<()>, StoreError> {
        if overlay_rows.visit_before(row.key, visit).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        match overlay_rows.take(row.key) {
            Some(newer) => Ok(visit_row(newer, visit)),
            None if self.overlays.hides_tree_row(row.key) => Ok(ControlFlow::Continue(())),
            None => match row.value() {
                Ok(value) => Ok(visit(row.key, &value)),
                Err(StoreError::Damaged(damage)) => damaged(damage),
                Err(error) => Err(error),
            },
        }
    }

    /// Visits the newer rows before damaged ones, and then the damage. What was lost in dropped spaces does not matter.
    #[cold]
    fn visit_damage(
        &self,
        damage: Damage,
        overlay_rows: &mut OverlayRows<'_>,
        visit: &mut impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
        damaged: &mut impl FnMut(Damage) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<ControlFlow<()>, StoreError> {
        if let Some(keys) = &damage.keys {
            if overlay_rows.visit_before(overlay_rows.first_of(keys), visit).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            let is_of_one_space = keys.start.first_chunk::<4>() == keys.end.first_chunk::<4>();
            if is_of_one_space && self.overlays.hides_tree_row(&keys.start) {
                return Ok(ControlFlow::Continue(()));
            }
        }
        damaged(damage)
    }
}

fn visit_row(row: &Row, visit: &mut impl FnMut(&[u8], &[u8]) -> ControlFlow<()>) -> ControlFlow<()> {
    match row.value() {
        Some(value) => visit(row.key(), value),
        None => ControlFlow::Continue(()),
    }
}

type Rows<'a> = Peekable<Box<dyn Iterator<Item = &'a Row> + 'a>>;

/// The rows of a range in both overlays, each key once. Empty overlays cost nothing.
struct OverlayRows<'a> {
    overlays: &'a Overlays,
    direction: Direction,
    active: Option<Rows<'a>>,
    frozen: Option<Rows<'a>>,
}

impl<'a> OverlayRows<'a> {
    fn of(overlays: &'a Overlays, range: &'a KeyRange, direction: Direction) -> OverlayRows<'a> {
        let rows = |overlay: &'a crate::write::overlay::Overlay| {
            (overlay.rows() > 0 && range.start < range.end)
                .then(|| overlay.range(range, direction).peekable())
        };
        OverlayRows { overlays, direction, active: rows(&overlays.active), frozen: rows(&overlays.frozen) }
    }

    fn peek(&mut self) -> Option<&'a Row> {
        let active = self.active.as_mut().and_then(|rows| rows.peek().copied());
        let frozen = self.frozen.as_mut().and_then(|rows| {
            while rows.next_if(|row| self.overlays.active.drops(row.key())).is_some() {}
            rows.peek().copied()
        });
        match (active, frozen) {
            (Some(active), Some(frozen)) if self.order(frozen.key(), active.key()).is_lt() => Some(frozen),
            (Some(active), _) => Some(active),
            (None, frozen) => frozen,
        }
    }

    fn next(&mut self) -> Option<&'a Row> {
        let next = self.peek()?;
        // The active overlay's row hides the frozen one of the same key: both are consumed.
        for rows in [&mut self.active, &mut self.frozen].into_iter().flatten() {
            rows.next_if(|row| row.key() == next.key());
        }
        Some(next)
    }

    /// The row of this key, if it is next.
    fn take(&mut self, key: &[u8]) -> Option<&'a Row> {
        if self.peek()?.key() == key { self.next() } else { None }
    }

    /// Visits the rows that come before `key`.
    fn visit_before(
        &mut self,
        key: &[u8],
        visit: &mut impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        while let Some(row) = self.peek()
            && self.order(row.key(), key).is_lt()
        {
            self.next();
            visit_row(row, visit)?;
        }
        ControlFlow::Continue(())
    }

    /// The end of a range at which iteration begins.
    fn first_of<'k>(&self, range: &'k KeyRange) -> &'k [u8] {
        match self.direction {
            Direction::Ascending => &range.start,
            Direction::Descending => &range.end,
        }
    }

    fn order(&self, one: &[u8], other: &[u8]) -> Ordering {
        match self.direction {
            Direction::Ascending => one.cmp(other),
            Direction::Descending => other.cmp(one),
        }
    }
}
