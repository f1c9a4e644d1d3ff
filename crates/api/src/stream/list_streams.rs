//! ListStreams: the streams of one table or of all tables, a page at a time.

use partita_value::names::StreamName;

/// The request of ListStreams.
#[derive(Clone, Debug)]
pub struct ListStreams {
    /// Only streams of this table.
    pub table: Option<String>,
    /// The stream after which the page starts.
    pub exclusive_start: Option<StreamName>,
    /// The maximum number of streams to return.
    pub limit: u32,
}

/// The response to ListStreams.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListStreamsOutput {
    /// The page of streams.
    pub streams: Vec<ListedStream>,
    /// The ARN of the last stream of the page, if there are more.
    pub last_evaluated: Option<String>,
}

/// A stream of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedStream {
    /// The stream.
    pub name: StreamName,
    /// Its ARN.
    pub arn: String,
}
