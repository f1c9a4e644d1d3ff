//! UpdateTimeToLive: gives a table an order of expiry, which is made like an index, or takes it away.

use crate::Engine;
use crate::change_table::{SideWrites, check_created};
use crate::create_table::Spaces;
use crate::delete_table::drop_space;
use crate::table::{TableRecord, TimeToLiveRecord};
use partita_api::Exception;
use partita_api::update_time_to_live::{UpdateTimeToLive, UpdateTimeToLiveOutput};
use partita_store::{Space, Store};

impl<S: Store> Engine<S> {
    pub async fn update_time_to_live(
        &self,
        request: UpdateTimeToLive,
    ) -> Result<UpdateTimeToLiveOutput, Exception> {
        let output =
            UpdateTimeToLiveOutput { attribute: request.attribute.clone(), enabled: request.enabled };
        let table = request.table.clone();
        self.change_table(&table, move |record, spaces| change(record, spaces, &request)).await?;
        self.wake_maintenance();
        Ok(output)
    }
}

fn change(
    record: &mut TableRecord,
    spaces: &mut Spaces,
    request: &UpdateTimeToLive,
) -> Result<SideWrites, Exception> {
    check_created(record)?;
    match (&record.time_to_live, request.enabled) {
        (Some(current), true) if current.attribute == request.attribute => {
            Err(Exception::validation("TimeToLive is already enabled"))
        }
        (Some(current), _) if current.attribute != request.attribute => Err(Exception::validation(format!(
            "TimeToLive is active on a different AttributeName: current AttributeName is {}",
            current.attribute
        ))),
        (Some(current), _) => {
            let dropped = drop_space(Space(current.space)).into();
            record.time_to_live = None;
            Ok(SideWrites::of(dropped))
        }
        (None, true) => {
            let attribute = request.attribute.clone();
            record.time_to_live =
                Some(TimeToLiveRecord { attribute, space: spaces.take(), backfilling: true });
            Ok(SideWrites::default())
        }
        (None, false) => Err(Exception::validation("TimeToLive is already disabled")),
    }
}
