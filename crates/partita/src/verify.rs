//! `partita verify`: looks through everything in a data folder and lists what is damaged.

use crate::arguments::Verify;
use crate::progress::Progress;
use partita_engine::verify::Finding;
use partita_store_embedded::{EmbeddedStore, Options, Verified};
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

/// What a damaged folder ends with.
const DAMAGED: u8 = 3;

pub fn run(arguments: &Verify) -> Result<ExitCode, Box<dyn Error>> {
    let verified = pages(&arguments.folder)?;
    println!("{} pages and {} rows read", verified.pages, verified.rows);
    let mut findings = verified.findings;
    if findings.is_empty() {
        findings.extend(tables(&arguments.folder)?.into_iter().map(|finding| finding.to_string()));
    }
    findings.iter().for_each(|finding| println!("damaged: {finding}"));
    if findings.is_empty() {
        println!("nothing is damaged");
        return Ok(ExitCode::SUCCESS);
    }
    println!("{} findings; docs/damage.md says what can be done", findings.len());
    Ok(ExitCode::from(DAMAGED))
}

/// What is below tables: pages, rows, chunks.
fn pages(folder: &Path) -> Result<Verified, Box<dyn Error>> {
    let mut progress = None;
    let mut before = 0;
    let verified = partita_store_embedded::verify(folder, |done, all| {
        progress.get_or_insert_with(|| Progress::new(all)).advance(done - before);
        before = done;
    })?;
    progress.iter().for_each(|progress| {
        progress.finish();
    });
    Ok(verified)
}

/// What tables are made of, of a store whose rows are all readable.
fn tables(folder: &Path) -> Result<Vec<Finding>, Box<dyn Error>> {
    let store = EmbeddedStore::open(folder, Options::default())?;
    let verified = partita_engine::verify::verify(&store)?;
    println!(
        "{} tables, {} items and {} index entries compared",
        verified.tables, verified.items, verified.entries
    );
    store.close();
    Ok(verified.findings)
}
