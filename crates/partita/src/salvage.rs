//! `partita salvage`: copies what is readable of a damaged data folder into a new one.

use crate::arguments::Salvage;
use partita_engine::salvage::{restore_catalog, told_row};
use partita_store::KeyRange;
use partita_store_embedded::{EmbeddedStore, Options};
use std::error::Error;
use std::process::ExitCode;

/// The exit code if something was lost.
const DATA_LOST: u8 = 3;

pub fn run(arguments: &Salvage) -> Result<ExitCode, Box<dyn Error>> {
    let salvaged = partita_store_embedded::salvage(&arguments.folder, &arguments.into)?;
    println!("{} rows were copied to {}", salvaged.rows, arguments.into.display());
    if salvaged.lost.is_empty() {
        println!("nothing was lost");
    }
    for lost in &salvaged.lost {
        match lost.keys.as_ref().and_then(KeyRange::row).and_then(told_row) {
            Some(row) => println!("lost: {row}: {}", lost.what),
            None => println!("lost: {}", lost.what),
        }
    }
    let store = EmbeddedStore::open(&arguments.into, Options::default())?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    for row in runtime.block_on(restore_catalog(&store))? {
        println!("restored from its second copy: {row}");
    }
    store.close();
    if salvaged.lost.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let into = arguments.into.display();
    println!(
        "indexes and totals may still count what was lost: partita verify {into} --repair rebuilds them"
    );
    Ok(ExitCode::from(DATA_LOST))
}
