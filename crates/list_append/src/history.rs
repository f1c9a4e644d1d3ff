//! What clients did and observed. Every element is appended by one transaction only, so that a list shows who wrote it, and in
//! which order.

pub type Key = u32;
pub type Element = u32;

/// What a transaction observed of a list, before its own appends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// It was read.
    List(Box<[Element]>),
    /// A condition on its length held.
    Length(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// It certainly did not happen.
    Refused,
    /// The connection broke before the response: it may have happened.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    pub appends: Vec<(Key, Element)>,
    pub observations: Vec<(Key, Observation)>,
    /// When it was first sent and when its response arrived, in nanoseconds of one clock.
    pub begun: u64,
    pub ended: u64,
    pub outcome: Outcome,
}
