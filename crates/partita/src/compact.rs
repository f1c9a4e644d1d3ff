//! `partita compact`: makes the data file of a stopped database as small as its rows allow.

use crate::arguments::Compact;
use std::error::Error;

pub fn run(arguments: &Compact) -> Result<(), Box<dyn Error>> {
    let compacted = partita_store_embedded::compact(&arguments.folder)?;
    println!("data.mdb had {} bytes and has {} now", compacted.bytes_before, compacted.bytes_after);
    Ok(())
}
