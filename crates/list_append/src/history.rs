//! What clients did and saw. Every element is appended by one transaction only, so a list tells who wrote it, in which order.

pub type Key = u32;
pub type Element = u32;

/// What a transaction learnt of a list, as it was before the transaction's own appends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// It was read.
    List(Box<[Element]>),
    /// A condition on its length held.
    Length(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// It has definitely not happened.
    Refused,
    /// The connection broke before the answer: it has happened, or not.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    pub appends: Vec<(Key, Element)>,
    pub observations: Vec<(Key, Seen)>,
    /// When it was first sent and when its answer was there, in nanoseconds of one clock.
    pub begun: u64,
    pub ended: u64,
    pub outcome: Outcome,
}
