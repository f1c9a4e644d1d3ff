//! Rows as they were at one moment: those of the tree, under those that are still on their way to it.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::iter::Peekable;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::sync::Arc;

use partita_store::{Damage, Direction, KeyRange, StoreError};

use crate::tree::root::{Part, Root, StoredRow};
use crate::write::overlay::Row;
use crate::write::pending::Layers;
use crate::write::store_state::Shared;

/// See [`partita_store::Snapshot`]. An open one keeps old pages alive: do not hold it long.
pub struct EmbeddedSnapshot<'a> {
    root: Arc<Root>,
    layers: Arc<Layers>,
    /// A store does not end before its snapshots.
    _shared: PhantomData<&'a Shared>,
}

impl<'a> EmbeddedSnapshot<'a> {
    pub(crate) fn take(shared: &'a Shared) -> Result<EmbeddedSnapshot<'a>, StoreError> {
        let (layers, root) = shared.pending.over(&shared.environment);
        Ok(EmbeddedSnapshot { root, layers, _shared: PhantomData })
    }
}

impl partita_store::Snapshot for EmbeddedSnapshot<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Cow<'_, [u8]>>, StoreError> {
        match self.layers.get(key) {
            Some(row) => Ok(row.map(Cow::Borrowed)),
            None if self.layers.drop_from_tree(key) => Ok(None),
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
    /// Shows the rows of `range` in order. What cannot be read is told to `damaged`, which decides whether to go on.
    fn walk(
        &self,
        range: &KeyRange,
        direction: Direction,
        mut visit: impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
        mut damaged: impl FnMut(Damage) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<(), StoreError> {
        let mut over = OverRows::of(&self.layers, range, direction);
        let mut ended = false;
        self.root.range(range, direction, |part| {
            let flow = match part {
                Part::Row(row) => self.show_stored(&row, &mut over, &mut visit, &mut damaged)?,
                Part::Lost(damage) => self.show_damage(damage, &mut over, &mut visit, &mut damaged)?,
            };
            ended = flow.is_break();
            Ok(flow)
        })?;
        while !ended && let Some(row) = over.next() {
            ended = show(row, &mut visit).is_break();
        }
        Ok(())
    }

    /// Shows the newer rows before a row of the tree, and then what became of it.
    fn show_stored(
        &self,
        row: &StoredRow<'_>,
        over: &mut OverRows<'_>,
        visit: &mut impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
        damaged: &mut impl FnMut(Damage) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<ControlFlow<()>, StoreError> {
        if over.show_before(row.key, visit).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        match over.take(row.key) {
            Some(newer) => Ok(show(newer, visit)),
            None if self.layers.drop_from_tree(row.key) => Ok(ControlFlow::Continue(())),
            None => match row.value() {
                Ok(value) => Ok(visit(row.key, &value)),
                Err(StoreError::Damaged(damage)) => damaged(damage),
                Err(error) => Err(error),
            },
        }
    }

    /// Shows the newer rows before damaged ones, and then the damage. What was lost of dropped spaces is of no interest.
    #[cold]
    fn show_damage(
        &self,
        damage: Damage,
        over: &mut OverRows<'_>,
        visit: &mut impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
        damaged: &mut impl FnMut(Damage) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<ControlFlow<()>, StoreError> {
        if let Some(keys) = &damage.keys {
            if over.show_before(over.first_of(keys), visit).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            let is_of_one_space = keys.start.first_chunk::<4>() == keys.end.first_chunk::<4>();
            if is_of_one_space && self.layers.drop_from_tree(&keys.start) {
                return Ok(ControlFlow::Continue(()));
            }
        }
        damaged(damage)
    }
}

fn show(row: &Row, visit: &mut impl FnMut(&[u8], &[u8]) -> ControlFlow<()>) -> ControlFlow<()> {
    match row.value() {
        Some(value) => visit(row.key(), value),
        None => ControlFlow::Continue(()),
    }
}

type Rows<'a> = Peekable<Box<dyn Iterator<Item = &'a Row> + 'a>>;

/// The rows of a range that lie over the tree, from both overlays, each key once. Nothing is made for empty
/// overlays.
struct OverRows<'a> {
    layers: &'a Layers,
    direction: Direction,
    active: Option<Rows<'a>>,
    frozen: Option<Rows<'a>>,
}

impl<'a> OverRows<'a> {
    fn of(layers: &'a Layers, range: &'a KeyRange, direction: Direction) -> OverRows<'a> {
        let rows = |overlay: &'a crate::write::overlay::Overlay| {
            (overlay.rows() > 0 && range.start < range.end)
                .then(|| overlay.range(range, direction).peekable())
        };
        OverRows { layers, direction, active: rows(&layers.active), frozen: rows(&layers.frozen) }
    }

    fn peek(&mut self) -> Option<&'a Row> {
        let active = self.active.as_mut().and_then(|rows| rows.peek().copied());
        let frozen = self.frozen.as_mut().and_then(|rows| {
            while rows.next_if(|row| self.layers.active.drops(row.key())).is_some() {}
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
        // The active overlay's row hides the frozen one's of the same key: both go.
        for rows in [&mut self.active, &mut self.frozen].into_iter().flatten() {
            rows.next_if(|row| row.key() == next.key());
        }
        Some(next)
    }

    /// The row of this key, if it is the next.
    fn take(&mut self, key: &[u8]) -> Option<&'a Row> {
        if self.peek()?.key() == key { self.next() } else { None }
    }

    /// Shows the rows that come before `key`.
    fn show_before(
        &mut self,
        key: &[u8],
        visit: &mut impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        while let Some(row) = self.peek()
            && self.order(row.key(), key).is_lt()
        {
            self.next();
            show(row, visit)?;
        }
        ControlFlow::Continue(())
    }

    /// The end of a range at which its rows begin.
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
