//! ListStreams: in the order of tables and labels.

use crate::Engine;
use partita_api::Exception;
use partita_api::stream::list_streams::{ListStreams, ListStreamsOutput, ListedStream};
use partita_store::Store;
use std::ops::Bound;

impl<S: Store> Engine<S> {
    pub async fn list_streams(&self, request: ListStreams) -> Result<ListStreamsOutput, Exception> {
        let streams = self.catalog.streams();
        let start = request.exclusive_start.clone().map_or(Bound::Unbounded, Bound::Excluded);
        let mut rest = streams
            .range((start, Bound::Unbounded))
            .map(|(name, _)| name)
            .filter(|name| request.table.as_ref().is_none_or(|table| *table == name.table))
            .map(|name| ListedStream { name: name.clone(), arn: name.arn(&self.region) });
        let streams: Vec<_> = rest.by_ref().take(request.limit as usize).collect();
        let last_evaluated = rest.next().and(streams.last()).map(|stream| stream.arn.clone());
        Ok(ListStreamsOutput { streams, last_evaluated })
    }
}
