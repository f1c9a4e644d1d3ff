//! `partita salvage`: copies what is readable of a damaged data folder into a new one.

use crate::arguments::Salvage;
use std::error::Error;

pub fn run(arguments: &Salvage) -> Result<(), Box<dyn Error>> {
    let salvaged = partita_store_embedded::salvage(&arguments.folder, &arguments.into)?;
    println!("{} rows were copied to {}", salvaged.rows, arguments.into.display());
    if salvaged.lost.is_empty() {
        println!("nothing was lost");
    }
    salvaged.lost.iter().for_each(|what| println!("lost: {what}"));
    Ok(())
}
