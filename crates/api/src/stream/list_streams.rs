//! ListStreams: the streams there are, of one table or of all, a page at a time.

use partita_value::names::StreamName;

#[derive(Clone, Debug)]
pub struct ListStreams {
    pub table: Option<String>,
    pub exclusive_start: Option<StreamName>,
    pub limit: u32,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListStreamsOutput {
    pub streams: Vec<ListedStream>,
    /// The ARN of the last stream listed, if there are more.
    pub last_evaluated: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ListedStream {
    pub name: StreamName,
    pub arn: String,
}
