//! Upgrades a folder of an earlier format when it is opened.
//!
//! Every step can be repeated: the format is named last, so an interrupted upgrade starts over.

use std::io;
use std::path::Path;

use crate::folder::format;
use crate::log::format_1;
use crate::log::recovery::OnDamage;
use crate::open_error::OpenError;
use crate::tree::environment::Environment;

pub(crate) fn upgrade(
    folder: &Path,
    from: u32,
    environment: &Environment,
    on_damage: OnDamage,
) -> Result<(), OpenError> {
    let failed = |error: io::Error| OpenError::io(folder, error);
    if from < 2 {
        format_1::drain_log(folder, environment, on_damage)?;
    }
    format::prepare(folder).map_err(failed)?;
    format::finish(folder).map_err(failed)?;
    tracing::info!(from, to = format::CURRENT, "the data folder was upgraded to the current format");
    Ok(())
}
