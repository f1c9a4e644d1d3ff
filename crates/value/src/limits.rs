//! DynamoDB's documented limits.

/// Largest item, attribute names included.
pub const ITEM_BYTES: usize = 409_600;
/// Largest partition key value.
pub const PARTITION_KEY_BYTES: usize = 2_048;
/// Largest sort key value; for keys of several attributes, their total.
pub const SORT_KEY_BYTES: usize = 1_024;
/// Deepest nesting; an attribute's value is level 1.
pub const NESTING_LEVELS: usize = 32;
/// Longest attribute name.
pub const ATTRIBUTE_NAME_BYTES: usize = 65_535;
/// Longest name of an attribute that is part of a key or projected by name.
pub const KEY_NAME_BYTES: usize = 255;
/// Significant digits of a number.
pub const NUMBER_DIGITS: u32 = 38;
/// A page of Query or Scan ends once this many bytes were read.
pub const PAGE_BYTES: usize = 1_048_576;
/// Largest response of BatchGetItem.
pub const BATCH_GET_BYTES: usize = 16 * 1_048_576;
/// Largest request body.
pub const REQUEST_BYTES: usize = 16 * 1_048_576;
/// Keys in one BatchGetItem.
pub const BATCH_GET_KEYS: usize = 100;
/// Requests in one BatchWriteItem.
pub const BATCH_WRITE_REQUESTS: usize = 25;
/// Items in one transaction.
pub const TRANSACTION_ITEMS: usize = 100;
/// Total size of all items in one transaction.
pub const TRANSACTION_BYTES: usize = 4 * 1_048_576;
/// Longest PartiQL statement.
pub const STATEMENT_CHARACTERS: usize = 8_192;
/// Statements in one BatchExecuteStatement.
pub const BATCH_STATEMENTS: usize = 25;
/// Longest `NextToken`.
pub const NEXT_TOKEN_CHARACTERS: usize = 32_768;
/// Longest expression.
pub const EXPRESSION_BYTES: usize = 4_096;
/// Most operators and functions in one expression.
pub const EXPRESSION_OPERATORS: usize = 300;
/// Most operands of one IN.
pub const IN_OPERANDS: usize = 100;
/// Longest `#name` or `:value` placeholder.
pub const PLACEHOLDER_BYTES: usize = 255;
/// Total size of all substituted names and values of a request.
pub const SUBSTITUTION_BYTES: usize = 2 * 1_048_576;
/// Global secondary indexes of a table.
pub const GLOBAL_INDEXES: usize = 20;
/// Local secondary indexes of a table.
pub const LOCAL_INDEXES: usize = 5;
/// Attributes projected by name, summed over all indexes of a table.
pub const PROJECTED_ATTRIBUTES: usize = 100;
/// Attributes in the partition key or the sort key of a global secondary index.
pub const KEY_PART_ATTRIBUTES: usize = 4;
/// Largest item collection of a table with local secondary indexes.
pub const COLLECTION_BYTES: u64 = 10 * 1024 * 1024 * 1024;
/// Tags of one resource.
pub const TAGS: usize = 50;
