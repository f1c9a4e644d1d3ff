//! `partita model relations`: a file of rows for each entity of a table, and the SQL that loads them.

use super::arguments::Relations as Arguments;
use super::{FINE, Outcome, file, items};
use crate::client::Client;
use partita_design::exchange::item_json;
use partita_design::item::Item;
use partita_design::relational::relations::{Loader, Relations, Row};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// How many items are named for each reason.
const NAMED: usize = 3;
const UNRECOGNISED: &str = "unrecognised.jsonl";

pub fn run(arguments: &Arguments) -> Outcome {
    let model = file::model(&arguments.model)?;
    let relations = Relations::new(&model);
    let table = arguments.table.as_deref().unwrap_or(&model.table.name);
    let folder = Folder::new(&arguments.out)?;
    let written = Writer::new(&relations, &folder).and_then(|writer| write(arguments, table, writer));
    match written.and_then(|()| folder.keep()) {
        Ok(()) => Ok(FINE),
        Err(failure) => {
            folder.discard();
            Err(failure)
        }
    }
}

/// Writes the items of a file or of a table.
fn write(arguments: &Arguments, table: &str, mut writer: Writer<'_, '_>) -> Result<(), String> {
    match &arguments.items {
        Some(path) => items::each_in_file(path, table, usize::MAX, |item| writer.write(&item))?,
        None => {
            let mut client = Client::new(&arguments.endpoint)?;
            let mut outcome = Ok(());
            items::each(&mut client, table, |item| {
                if outcome.is_ok() {
                    outcome = writer.write(item);
                }
            })?;
            outcome?;
        }
    }
    writer.finish()
}

/// A folder whose files are replaced together, once all of them are written.
struct Folder<'a> {
    path: &'a Path,
    names: RefCell<Vec<String>>,
}

impl<'a> Folder<'a> {
    fn new(path: &'a Path) -> Result<Folder<'a>, String> {
        std::fs::create_dir_all(path)
            .map_err(|error| format!("cannot create {}: {error}", path.display()))?;
        Ok(Folder { path, names: RefCell::default() })
    }

    /// Where a file is until it is kept.
    fn unfinished(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}.unfinished"))
    }

    fn create(&self, name: &str) -> Result<BufWriter<File>, String> {
        let path = self.unfinished(name);
        let file =
            File::create(&path).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        self.names.borrow_mut().push(name.to_owned());
        Ok(BufWriter::new(file))
    }

    fn text(&self, name: &str, text: &str) -> Result<(), String> {
        let mut file = self.create(name)?;
        file.write_all(text.as_bytes()).and_then(|()| file.flush()).map_err(failed)
    }

    fn keep(&self) -> Result<(), String> {
        let names = self.names.borrow();
        let mut kept = names.iter().map(|name| std::fs::rename(self.unfinished(name), self.path.join(name)));
        kept.try_for_each(|kept| kept).map_err(failed)
    }

    /// Removes what was begun. The failure that led here says more than one to remove a file.
    fn discard(&self) {
        for name in self.names.borrow().iter() {
            let _ = std::fs::remove_file(self.unfinished(name));
        }
        // A folder with other files stays.
        let _ = std::fs::remove_dir(self.path);
    }
}

/// Writes each item to the file of its relation as it comes.
struct Writer<'r, 'm> {
    relations: &'r Relations<'m>,
    folder: &'r Folder<'r>,
    files: Vec<BufWriter<File>>,
    rows: Vec<u64>,
    unrecognised: BufWriter<File>,
    strangers: u64,
    /// How many there are for each reason, and the first of them.
    reasons: BTreeMap<String, (u64, Vec<String>)>,
    markers: u64,
}

impl<'r, 'm> Writer<'r, 'm> {
    fn new(relations: &'r Relations<'m>, folder: &'r Folder<'r>) -> Result<Writer<'r, 'm>, String> {
        let files: Result<Vec<BufWriter<File>>, String> = relations
            .relations
            .iter()
            .map(|relation| {
                let mut file = folder.create(&relation.file())?;
                line(&mut file, &relation.header())?;
                Ok(file)
            })
            .collect();
        let loaders = [
            ("load-postgresql.sql", Loader::PostgreSql),
            ("load-sqlite.sql", Loader::Sqlite),
            ("load-duckdb.sql", Loader::DuckDb),
        ];
        folder.text("schema.sql", &relations.schema())?;
        loaders.into_iter().try_for_each(|(name, loader)| folder.text(name, &relations.load(loader)))?;
        Ok(Writer {
            relations,
            folder,
            files: files?,
            rows: vec![0; relations.relations.len()],
            unrecognised: folder.create(UNRECOGNISED)?,
            strangers: 0,
            reasons: BTreeMap::new(),
            markers: 0,
        })
    }

    fn write(&mut self, item: &Item) -> Result<(), String> {
        match self.relations.row(item) {
            Row::Of(number, row) => {
                self.rows[number] += 1;
                line(&mut self.files[number], &row)
            }
            Row::Marker => {
                self.markers += 1;
                Ok(())
            }
            Row::Unrecognised { key, reason } => {
                self.strangers += 1;
                let (count, first) = self.reasons.entry(reason).or_default();
                *count += 1;
                if first.len() < NAMED {
                    first.push(key);
                }
                let item = serde_json::Value::Object(item_json::encode(item));
                line(&mut self.unrecognised, &item.to_string())
            }
        }
    }

    fn finish(mut self) -> Result<(), String> {
        let mut files = self.files.iter_mut().chain([&mut self.unrecognised]);
        files.try_for_each(Write::flush).map_err(failed)?;
        for (relation, rows) in self.relations.relations.iter().zip(&self.rows) {
            let copy = relation.entity.copies.as_ref().map(|original| format!(", copies of {original}"));
            println!("{}: {rows} rows{}", relation.entity.name, copy.unwrap_or_default());
        }
        println!("{} markers of unique values are left out", self.markers);
        let path = self.folder.path.join(UNRECOGNISED);
        println!("{} items fit no relation: {}", self.strangers, path.display());
        for (reason, (count, first)) in &self.reasons {
            let more = if *count > first.len() as u64 { ", …" } else { "" };
            println!("  {count}: {reason} ({}{more})", first.join(", "));
        }
        Ok(())
    }
}

fn failed(error: std::io::Error) -> String {
    format!("cannot write the relations: {error}")
}

fn line(file: &mut BufWriter<File>, text: &str) -> Result<(), String> {
    writeln!(file, "{text}").map_err(failed)
}
