//! `partita compact`: shrinks the data file of a stopped database to the size of its rows.

use crate::arguments::Compact;
use std::error::Error;

pub fn run(arguments: &Compact) -> Result<(), Box<dyn Error>> {
    let compacted = partita_store_embedded::compact(&arguments.folder)?;
    println!("data.mdb had {} bytes and has {} now", compacted.bytes_before, compacted.bytes_after);
    Ok(())
}
