//! Starts and ends a table's stream.

use crate::catalog::Catalog;
use crate::catalog::spaces::Spaces;
use crate::catalog::table::{StreamRecord, TableRecord};
use crate::stream::Stream;
use crate::stream::stream_options::StreamOptions;
use partita_api::table::StreamViewType;
use partita_value::calendar::DateTime;
use partita_value::names::StreamName;

/// Enables a stream on a table.
pub fn start_stream(
    record: &mut TableRecord,
    view: StreamViewType,
    spaces: &mut Spaces,
    now: u64,
    options: &StreamOptions,
    catalog: &Catalog,
) -> Stream {
    let is_taken = |name: &StreamName| catalog.stream(name).is_some();
    let stream = Stream::new(record, view, spaces.take(), now, options, is_taken);
    record.stream = Some(StreamRecord { view, label: stream.label.clone() });
    record.latest_stream_label = Some(stream.label.clone());
    stream
}

/// The record of a table's stream after it is disabled: it gets no more records and stays readable.
pub fn ended_stream(record: &TableRecord, now: u64, catalog: &Catalog) -> Option<Stream> {
    let label = record.stream.as_ref()?.label.clone();
    let stream = catalog.stream(&StreamName { table: record.name.clone(), label })?;
    Some(Stream { ended_at_millis: Some(now), ..Stream::clone(&stream) })
}

/// A stream is named by the moment it was enabled: `2026-11-15T18:44:54.123`.
pub fn stream_label(millis: u64) -> String {
    DateTime::from_unix_millis(millis).to_rfc3339_without_zone()
}

#[cfg(test)]
mod tests {
    use super::stream_label;

    #[test]
    fn stream_labels_are_dates() {
        assert_eq!(stream_label(0), "1970-01-01T00:00:00.000");
        assert_eq!(stream_label(951_782_400_000), "2000-02-29T00:00:00.000");
        assert_eq!(stream_label(1_794_768_294_123), "2026-11-15T18:44:54.123");
    }
}
