//! Spaces: each table, index, stream and history has one of its own, a number that its stored keys begin with.

use crate::catalog::catalog_rows;
use crate::key::stored_key::{FIRST_FREE_SPACE, Key};
use partita_store::{Space, Write};

/// Allocates spaces that were never used before.
pub struct Spaces(u32);

impl Spaces {
    /// Continues after the spaces handed out so far. `row` is the stored number of the next one.
    pub fn after(row: Option<&[u8]>) -> Spaces {
        let next = row.and_then(|row| row.first_chunk::<4>()).map(|next| u32::from_be_bytes(*next));
        Spaces(next.unwrap_or(FIRST_FREE_SPACE))
    }

    /// Skips all spaces below `first`.
    pub fn at_least(self, first: u32) -> Spaces {
        Spaces(self.0.max(first))
    }

    /// Allocates the next space.
    pub fn take(&mut self) -> u32 {
        self.0 += 1;
        self.0 - 1
    }

    /// The writes that store the number of the next space.
    pub fn store(&self) -> [Write; 2] {
        catalog_rows::put(Key::NextSpace.to_bytes(), self.0.to_be_bytes().to_vec())
    }
}

/// The writes that remove all rows of a space, its counters and its backfill cursor.
pub fn drop_space(space: Space) -> [Write; 3] {
    [
        Write::DropSpace(space),
        Write::Delete { key: Key::Counters { of: space }.to_bytes() },
        Write::Delete { key: Key::BackfillCursor { of: space }.to_bytes() },
    ]
}
