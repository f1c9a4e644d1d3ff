//! `partita load`: loads tables and items into a database from a dump, a file of items, or another database.

mod from_endpoint;
mod from_file;
mod writer_pool;

use crate::arguments::Load;
use crate::transfer::checkpoint::Checkpoint;
use std::error::Error;

pub fn run(arguments: &Load) -> Result<(), Box<dyn Error>> {
    if arguments.endpoint.endpoint.is_none() {
        return Err("--endpoint names the database to load".into());
    }
    let source = arguments.source.to_string_lossy();
    let is_endpoint = source == "aws" || source.starts_with("http://") || source.starts_with("https://");
    let loaded =
        if is_endpoint { from_endpoint::run(arguments, &source)? } else { from_file::run(arguments)? };
    println!("{} items of {} tables", loaded.items, loaded.tables);
    // This must come last: without a checkpoint, everything is loaded.
    Ok(loaded.checkpoint.remove()?)
}

/// What a load has done, including before an interruption, and its checkpoint.
struct Loaded {
    tables: u64,
    items: u64,
    checkpoint: Checkpoint,
}
