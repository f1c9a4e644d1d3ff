//! `partita salvage`: copies what is readable of a damaged data folder into a new one.

use crate::arguments::Salvage;
use crate::serve::MODELS_FOLDER;
use partita_engine::salvage::{describe_row, restore_catalog};
use partita_store::KeyRange;
use partita_store_embedded::{EmbeddedStore, Options};
use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
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
        match lost.keys.as_ref().and_then(KeyRange::row).and_then(describe_row) {
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
    let unreadable = copy_models(&arguments.folder, &arguments.into)?;
    for model in &unreadable {
        println!("lost: the attached model of table {model}: attach it again");
    }
    if salvaged.lost.is_empty() && unreadable.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    if !salvaged.lost.is_empty() {
        let into = arguments.into.display();
        println!(
            "indexes and totals may still count what was lost: partita verify {into} --repair rebuilds them"
        );
    }
    Ok(ExitCode::from(DATA_LOST))
}

/// Copies the models that are attached to tables, so that a salvaged database has the rules it had. Returns the tables whose models are not
/// readable.
fn copy_models(from: &Path, into: &Path) -> io::Result<Vec<String>> {
    let (from, into) = (from.join(MODELS_FOLDER), into.join(MODELS_FOLDER));
    let entries = match fs::read_dir(&from) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    fs::create_dir_all(&into)?;
    let mut unreadable = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        match fs::read(from.join(&name)) {
            Ok(model) => write_synced(&into.join(&name), &model)?,
            Err(_) => unreadable.push(name.to_string_lossy().into_owned()),
        }
    }
    File::open(&into)?.sync_all()?;
    Ok(unreadable)
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
