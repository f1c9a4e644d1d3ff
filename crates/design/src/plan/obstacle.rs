//! Why a pattern is not served: what the table or an index that comes closest to serving it lacks.

use crate::keys::key_mapping::TableOrIndex;
use crate::model::Entity;
use crate::model::condition::Condition;
use crate::template::Template;

/// Why the table or an index does not serve an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The entity is not stored there.
    Absent,
    /// The index is sparse, and the pattern does not imply its condition.
    Sparse {
        /// The condition of the index.
        when: Box<Condition>,
        /// Whether the partition key is known.
        is_known: bool,
    },
    /// The partition key is not fully known.
    Partition {
        /// The template of the partition key.
        template: Template,
        /// The fields that are not known.
        missing: Vec<String>,
        /// Whether some fields are known.
        partial: bool,
    },
    /// There is no sort key for the order or the range.
    NoSortKey {
        /// The attribute of the order or the range.
        wanted: String,
    },
    /// The attribute of the range does not follow the known part of the sort key.
    Range {
        /// The attribute.
        by: String,
        /// The fields of the sort key that precede it.
        before: Vec<String>,
    },
    /// The attribute of the order does not follow the known part of the sort key.
    Order {
        /// The attribute.
        by: String,
        /// The fields of the sort key that precede it.
        before: Vec<String>,
    },
    /// The text of a number does not sort as the number.
    Unsorted {
        /// The attribute.
        by: String,
        /// The template of the sort key.
        template: Template,
    },
    /// Texts are followed by a delimiter behind which letters or digits sort: `Anna|` comes before `Ann|`.
    Delimited {
        /// The attribute of the order.
        by: String,
        /// The delimiter.
        delimiter: char,
        /// The template of the sort key.
        template: Template,
    },
    /// A global index cannot be read with strong consistency.
    Consistency,
    /// The index lacks attributes that the pattern needs.
    Projection {
        /// The missing attributes.
        missing: Vec<String>,
    },
    /// Lists of several entities are not stored in one order.
    Interleave {
        /// The attribute of the order.
        by: String,
    },
    /// The entity lacks inputs, so that no key of it answers a question about them.
    Foreign {
        /// The inputs that it lacks.
        inputs: Vec<String>,
    },
    /// The entity lacks an attribute that its list is ordered, bounded or tested by.
    Lacking {
        /// The attribute.
        attribute: String,
        /// What the pattern does with it: `ordered by`.
        purpose: &'static str,
    },
    /// The items that are followed do not hold what the entity is found by.
    Unlinked {
        /// The entity that is followed.
        from: String,
        /// The attributes that it lacks.
        missing: Vec<String>,
    },
    /// The items that are followed may lack a part of what the entity is found by.
    PartlyLinked {
        /// The entity that is followed.
        from: String,
        /// Its attributes that an item may lack.
        optional: Vec<String>,
    },
    /// A call would send more requests than a caller does.
    Scattered {
        /// The number of requests.
        requests: u64,
        /// What they are for, each with its number: their product is that of the requests.
        factors: Vec<(u64, String)>,
    },
    /// The whole sort key is known, and several items can have it in no particular order.
    Tied {
        /// The attribute of the order.
        by: String,
    },
    /// The sort key holds only the start of the time that the order needs.
    Coarse {
        /// The attribute of the order.
        by: String,
        /// The template of the sort key.
        template: Template,
    },
}

impl Obstacle {
    /// How far the proof got; the obstacle that got furthest gives the most helpful message.
    pub(super) fn progress(&self) -> u32 {
        match self {
            Obstacle::Absent => 0,
            Obstacle::Partition { partial: false, .. } => 1,
            Obstacle::Partition { partial: true, .. } => 2,
            Obstacle::Sparse { is_known: false, .. } => 3,
            Obstacle::Sparse { is_known: true, .. } => 4,
            Obstacle::NoSortKey { .. } => 5,
            Obstacle::Range { .. } | Obstacle::Order { .. } => 6,
            Obstacle::Tied { .. } | Obstacle::Coarse { .. } | Obstacle::Interleave { .. } => 7,
            Obstacle::Consistency | Obstacle::Projection { .. } => 8,
            Obstacle::Unsorted { .. } | Obstacle::Delimited { .. } | Obstacle::Scattered { .. } => 9,
            Obstacle::Foreign { .. }
            | Obstacle::Lacking { .. }
            | Obstacle::Unlinked { .. }
            | Obstacle::PartlyLinked { .. } => 10,
        }
    }
}

/// Where the proof failed.
#[derive(Clone, Debug)]
pub struct Unserved<'m> {
    /// The table or index that comes closest to serving the pattern.
    pub location: TableOrIndex<'m>,
    /// The entity that it does not serve.
    pub entity: &'m Entity,
    /// Why it does not.
    pub obstacle: Obstacle,
}
