//! UpdateTimeToLive: gives a table an order of expiry, which is made like an index, or takes it away.

use crate::Engine;
use crate::catalog::change_table::{SideWrites, check_created};
use crate::catalog::table::{TableRecord, TimeToLiveRecord};
use crate::table::create_table::Spaces;
use crate::table::delete_table::drop_space;
use partita_api::Exception;
use partita_api::time_to_live::update_time_to_live::{UpdateTimeToLive, UpdateTimeToLiveOutput};
use partita_store::{Space, Store};

/// A change rests for an hour before the next.
const REST_MILLIS: u64 = 3_600_000;

impl<S: Store> Engine<S> {
    pub async fn update_time_to_live(
        &self,
        request: UpdateTimeToLive,
    ) -> Result<UpdateTimeToLiveOutput, Exception> {
        let output =
            UpdateTimeToLiveOutput { attribute: request.attribute.clone(), enabled: request.enabled };
        let (table, now) = (request.table.clone(), self.clock.now_millis());
        self.change_table(&table, move |record, spaces| change(record, spaces, &request, now)).await?;
        self.wake_maintenance();
        Ok(output)
    }
}

fn change(
    record: &mut TableRecord,
    spaces: &mut Spaces,
    request: &UpdateTimeToLive,
    now: u64,
) -> Result<SideWrites, Exception> {
    check_created(record)?;
    check_differs(record, request)?;
    if record.time_to_live_changed_millis.is_some_and(|last| now < last + REST_MILLIS) {
        return Err(Exception::validation(
            "Time to live has been modified multiple times within a fixed interval",
        ));
    }
    record.time_to_live_changed_millis = Some(now);
    match record.time_to_live.take() {
        Some(current) => Ok(SideWrites::of(drop_space(Space(current.space)).into())),
        None => {
            let attribute = request.attribute.clone();
            record.time_to_live =
                Some(TimeToLiveRecord { attribute, space: spaces.take(), backfilling: true });
            Ok(SideWrites::default())
        }
    }
}

/// The request turns on what is off, or off what is on by this attribute.
fn check_differs(record: &TableRecord, request: &UpdateTimeToLive) -> Result<(), Exception> {
    match (&record.time_to_live, request.enabled) {
        (Some(current), _) if current.attribute != request.attribute => Err(Exception::validation(format!(
            "TimeToLive is active on a different AttributeName: current AttributeName is {}",
            current.attribute
        ))),
        (Some(_), true) => Err(Exception::validation("TimeToLive is already enabled")),
        (None, false) => Err(Exception::validation("TimeToLive is already disabled")),
        (Some(_), false) | (None, true) => Ok(()),
    }
}
