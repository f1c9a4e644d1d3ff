//! The layout of all stored keys. No other module builds one.
//!
//! ```text
//! space 0  catalog        1 name                     a table's record
//!                         2                          the next free space
//!                         3 space                    a stream's record
//!                         4 space                    a history's record
//! space 1  counters       space                      rows and bytes of a table or index
//! space 2  cursors        space                      the progress of an index's backfill
//! space 3  tokens         hash                       a client request token that was used
//! space 4  token times    time hash                  … by the time it lapses
//! space 5  sequences      space                      the number of a stream's next record, or the last
//!                                                    moment in the history of a table
//! space 6  exchange       1 id                       an export
//!                         2 id                       an import
//!                         3 hash                     a client token of any of these
//!                         4 id                       a bulk operation
//!                         5 id                       that a bulk operation is cancelled
//!                         6 id                       a backup
//!                         7 id                       a restore
//!                         8 id                       the progress of an export, import or bulk operation
//!                         9 id number                a data file of an export or bulk operation
//!                         10 id output number        what a bulk operation has not reported yet
//! space n  table          token sort                 an item
//!          index          token sort… identity       an index entry
//!          collections    token                      bytes of an item collection
//!          expiry         time identity              an item that expires
//!          stream         shard                      the last trimmed record of a shard
//!                         shard number               a change of an item
//!          history        token sort moment          an item before a change
//! space 2³²−2  copies     …                          a second copy of each row of the catalog, at the other end
//! ```
//! `token` is the 16-byte hash of the partition key, `identity` that of an item's whole key, `sort` the
//! order-preserving form of a sort key value (see `partita_value::ordered_key`), times are seconds, moments
//! microseconds, big-endian.

use partita_store::{KeyRange, Space};
use partita_value::{ValueRef, ordered_key};

/// A 16-byte hash of key values: of a partition key, or of the whole key of an item.
pub type Token = [u8; 16];

const CATALOG: Space = Space(0);
const COUNTERS: Space = Space(1);
const CURSORS: Space = Space(2);
const TOKENS: Space = Space(3);
const TOKEN_TIMES: Space = Space(4);
const SEQUENCES: Space = Space(5);
const EXCHANGE: Space = Space(6);
const CATALOG_COPIES: Space = Space(u32::MAX - 1);
/// The first space that is allocated to a table or index.
pub const FIRST_FREE_SPACE: u32 = 16;

const TABLE_RECORD: u8 = 1;
const NEXT_SPACE: u8 = 2;
const STREAM: u8 = 3;
const HISTORY: u8 = 4;

/// The families of rows about exports, imports, bulk operations, backups and restores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExchangeKind {
    Export = 1,
    Import = 2,
    Token = 3,
    BulkOperation = 4,
    BulkCancellation = 5,
    Backup = 6,
    Restore = 7,
    Progress = 8,
    DataFile = 9,
    Report = 10,
}

/// A stored key before it is encoded.
pub enum Key<'a> {
    TableRecord {
        name: &'a str,
    },
    NextSpace,
    Stream {
        space: Space,
    },
    History {
        space: Space,
    },
    Counters {
        of: Space,
    },
    BackfillCursor {
        of: Space,
    },
    ClientToken {
        hash: Token,
    },
    ClientTokenTime {
        lapses_at: u64,
        hash: Token,
    },
    NextSequence {
        of: Space,
    },
    Exchange {
        kind: ExchangeKind,
        id: &'a [u8],
    },
    /// One of several rows that belong to an export or bulk operation.
    ExchangePart {
        kind: ExchangeKind,
        id: &'a [u8],
        output: Option<u8>,
        number: u64,
    },
    Item {
        space: Space,
        token: Token,
        sort: Option<ValueRef<'a>>,
    },
    IndexEntry {
        space: Space,
        token: Token,
        sort: &'a [ValueRef<'a>],
        identity: Token,
    },
    Collection {
        space: Space,
        token: Token,
    },
    Expiry {
        space: Space,
        at: u64,
        identity: Token,
    },
    ShardTrim {
        space: Space,
        shard: u32,
    },
    ChangeRecord {
        space: Space,
        shard: u32,
        sequence: u64,
    },
    /// `item` is a key without its space.
    Past {
        space: Space,
        item: &'a [u8],
        moment: u64,
    },
}

impl Key<'_> {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(64);
        match self {
            Key::TableRecord { name } => {
                bytes.extend(CATALOG.prefix());
                bytes.push(TABLE_RECORD);
                bytes.extend(name.as_bytes());
            }
            Key::NextSpace => {
                bytes.extend(CATALOG.prefix());
                bytes.push(NEXT_SPACE);
            }
            Key::Stream { space } => {
                bytes.extend(CATALOG.prefix());
                bytes.push(STREAM);
                bytes.extend(space.prefix());
            }
            Key::History { space } => {
                bytes.extend(CATALOG.prefix());
                bytes.push(HISTORY);
                bytes.extend(space.prefix());
            }
            Key::Counters { of } => bytes.extend([COUNTERS.prefix(), of.prefix()].concat()),
            Key::BackfillCursor { of } => bytes.extend([CURSORS.prefix(), of.prefix()].concat()),
            Key::ClientToken { hash } => {
                bytes.extend(TOKENS.prefix());
                bytes.extend(hash);
            }
            Key::NextSequence { of } => bytes.extend([SEQUENCES.prefix(), of.prefix()].concat()),
            Key::ClientTokenTime { lapses_at, hash } => timed(&mut bytes, TOKEN_TIMES, *lapses_at, hash),
            Key::Exchange { kind, id } => {
                bytes.extend(EXCHANGE.prefix());
                bytes.push(*kind as u8);
                bytes.extend(*id);
            }
            Key::ExchangePart { kind, id, output, number } => {
                bytes = exchange_parts(*kind, id, *output).start;
                bytes.extend(number.to_be_bytes());
            }
            Key::Item { space, token, sort } => {
                partition(&mut bytes, *space, token);
                sort.iter().for_each(|value| ordered_key::write(*value, &mut bytes));
            }
            Key::IndexEntry { space, token, sort, identity } => {
                partition(&mut bytes, *space, token);
                sort.iter().for_each(|value| ordered_key::write(*value, &mut bytes));
                bytes.extend(identity);
            }
            Key::Collection { space, token } => partition(&mut bytes, *space, token),
            Key::Expiry { space, at, identity } => timed(&mut bytes, *space, *at, identity),
            Key::ShardTrim { space, shard } => {
                bytes.extend(space.prefix());
                bytes.extend(shard.to_be_bytes());
            }
            Key::ChangeRecord { space, shard, sequence } => {
                bytes.extend(space.prefix());
                bytes.extend(shard.to_be_bytes());
                bytes.extend(sequence.to_be_bytes());
            }
            Key::Past { space, item, moment } => {
                bytes.extend(space.prefix());
                bytes.extend(*item);
                bytes.extend(moment.to_be_bytes());
            }
        }
        bytes
    }
}

fn partition(bytes: &mut Vec<u8>, space: Space, token: &Token) {
    bytes.extend(space.prefix());
    bytes.extend(token);
}

fn timed(bytes: &mut Vec<u8>, space: Space, at: u64, hash: &Token) {
    bytes.extend(space.prefix());
    bytes.extend(at.to_be_bytes());
    bytes.extend(hash);
}

/// The prefix of all rows of one partition of a table or index.
pub fn partition_prefix(space: Space, token: &Token) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(64);
    partition(&mut bytes, space, token);
    bytes
}

/// All rows whose keys start with `prefix`.
pub fn rows_beginning_with(prefix: Vec<u8>) -> KeyRange {
    let end = after(&prefix);
    KeyRange { start: prefix, end }
}

/// The first key after all that start with `prefix`.
pub fn after(prefix: &[u8]) -> Vec<u8> {
    // Only a prefix of bytes 255 has no successor; no space has such a number.
    ordered_key::after_prefix(prefix).unwrap_or_else(|| vec![u8::MAX; 5])
}

/// All rows of the catalog.
pub fn whole_catalog() -> KeyRange {
    all_rows(CATALOG)
}

/// The second copies of all rows of the catalog.
pub fn all_catalog_copies() -> KeyRange {
    all_rows(CATALOG_COPIES)
}

/// The key of the second copy of a row of the catalog.
pub fn catalog_copy(key: &[u8]) -> Vec<u8> {
    in_space(CATALOG_COPIES, within_space(key))
}

/// The key of the catalog row of a second copy.
pub fn copied_catalog_row(key: &[u8]) -> Vec<u8> {
    in_space(CATALOG, within_space(key))
}

/// The name of the table whose record has this key.
pub fn table_of_record(key: &[u8]) -> Option<&str> {
    let name = within_space(key).strip_prefix(&[TABLE_RECORD])?;
    if key.starts_with(&CATALOG.prefix()) { std::str::from_utf8(name).ok() } else { None }
}

/// All rows about exports, imports, bulk operations, backups and restores.
pub fn whole_exchange() -> KeyRange {
    all_rows(EXCHANGE)
}

pub fn all_client_tokens() -> KeyRange {
    all_rows(TOKENS)
}

pub fn all_client_token_times() -> KeyRange {
    all_rows(TOKEN_TIMES)
}

/// The first key after the spaces that have a fixed meaning.
pub fn after_fixed_spaces() -> Vec<u8> {
    after(&EXCHANGE.prefix())
}

/// The kinds of rows that each space may have one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SideRow {
    Counters,
    BackfillCursor,
    NextSequence,
}

impl SideRow {
    /// The rows of all spaces.
    pub fn all(self) -> KeyRange {
        all_rows(match self {
            SideRow::Counters => COUNTERS,
            SideRow::BackfillCursor => CURSORS,
            SideRow::NextSequence => SEQUENCES,
        })
    }
}

/// The kind and the id in the key of a row about an export, an import and so on.
pub fn exchange_kind_and_id(key: &[u8]) -> Option<(ExchangeKind, &[u8])> {
    use ExchangeKind::*;
    let (kind, id) = within_space(key).split_first()?;
    let kinds =
        [Export, Import, Token, BulkOperation, BulkCancellation, Backup, Restore, Progress, DataFile, Report];
    kinds.into_iter().find(|known| *known as u8 == *kind).map(|kind| (kind, id))
}

/// The records of all tables.
pub fn all_table_records() -> KeyRange {
    catalog_rows(TABLE_RECORD)
}

/// The records of all streams.
pub fn all_streams() -> KeyRange {
    catalog_rows(STREAM)
}

/// The records of all histories.
pub fn all_histories() -> KeyRange {
    catalog_rows(HISTORY)
}

fn catalog_rows(kind: u8) -> KeyRange {
    let mut prefix = CATALOG.prefix().to_vec();
    prefix.push(kind);
    rows_beginning_with(prefix)
}

/// The records of a shard from this number on.
pub fn changes_from(space: Space, shard: u32, sequence: u64) -> KeyRange {
    let start = Key::ChangeRecord { space, shard, sequence }.to_bytes();
    KeyRange { start, end: after(&Key::ShardTrim { space, shard }.to_bytes()) }
}

/// The number in the key of a change.
pub fn sequence_of(key: &[u8]) -> Option<u64> {
    key.last_chunk::<8>().map(|number| u64::from_be_bytes(*number))
}

/// A key without its space.
pub fn within_space(key: &[u8]) -> &[u8] {
    key.get(4..).unwrap_or_default()
}

/// The same key in another space.
pub fn in_space(space: Space, within: &[u8]) -> Vec<u8> {
    [&space.prefix()[..], within].concat()
}

/// The item and the moment in a key of a history.
pub fn item_and_moment(key: &[u8]) -> Option<(&[u8], u64)> {
    let (item, moment) = within_space(key).split_last_chunk::<8>()?;
    Some((item, u64::from_be_bytes(*moment)))
}

/// All rows of a space.
pub fn all_rows(space: Space) -> KeyRange {
    rows_beginning_with(space.prefix().to_vec())
}

/// A range of the keys of one space, translated to another space.
pub fn moved(range: &KeyRange, from: Space, to: Space) -> KeyRange {
    let is_within = range.end.starts_with(&from.prefix());
    KeyRange {
        start: in_space(to, within_space(&range.start)),
        end: if is_within { in_space(to, within_space(&range.end)) } else { all_rows(to).end },
    }
}

/// All records of one family.
pub fn all_exchanges(kind: ExchangeKind) -> KeyRange {
    rows_beginning_with(Key::Exchange { kind, id: &[] }.to_bytes())
}

/// The rows of one kind, and of one output, that belong to an export or bulk operation.
pub fn exchange_parts(kind: ExchangeKind, id: &[u8], output: Option<u8>) -> KeyRange {
    let mut prefix = Key::Exchange { kind, id }.to_bytes();
    prefix.extend(output);
    rows_beginning_with(prefix)
}

/// Exports, imports or bulk operations that started before a time; ids start with the time.
pub fn exchanges_begun_before(kind: ExchangeKind, millis: u64) -> KeyRange {
    let end = Key::Exchange { kind, id: exchange_time(millis).as_bytes() }.to_bytes();
    KeyRange { end, ..all_exchanges(kind) }
}

/// A time in the form that ids start with.
pub fn exchange_time(millis: u64) -> String {
    format!("{millis:014}")
}

/// The smallest key after this one, where a page resumes.
pub fn next_key_after(key: &[u8]) -> Vec<u8> {
    [key, &[0]].concat()
}

/// One of `total` equal parts of a table's or index's rows, by token.
pub fn segment(space: Space, number: u32, total: u32) -> KeyRange {
    let boundary = |part: u32| {
        let token = (u128::MAX / u128::from(total)).saturating_mul(u128::from(part));
        partition_prefix(space, &token.to_be_bytes())
    };
    let end = if number + 1 >= total { after(&space.prefix()) } else { boundary(number + 1) };
    KeyRange { start: boundary(number), end }
}

/// The expiry entries with times from `oldest` on and before `now`.
pub fn expired_between(space: Space, oldest: u64, now: u64) -> KeyRange {
    let at = |seconds: u64| [&space.prefix()[..], &seconds.to_be_bytes()].concat();
    KeyRange { start: at(oldest), end: at(now) }
}

/// Client tokens that have lapsed.
pub fn lapsed_before(now: u64) -> KeyRange {
    expired_between(TOKEN_TIMES, 0, now)
}

/// The hash in a key that ends with one.
pub fn trailing_token(key: &[u8]) -> Option<Token> {
    key.last_chunk::<16>().copied()
}
