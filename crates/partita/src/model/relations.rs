//! `partita model relations`: a file of rows for each entity of a table, and the SQL that loads them.

use super::arguments::Relations as Arguments;
use super::{FINE, Outcome, file, items};
use crate::client::Client;
use partita_design::exchange::item_json;
use partita_design::item::Item;
use partita_design::relational::relations::{Loader, Relations, Row};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// How many reasons are named.
const NAMED: usize = 10;
const UNRECOGNISED: &str = "unrecognised.jsonl";

pub fn run(arguments: &Arguments) -> Outcome {
    let model = file::model(&arguments.model)?;
    let relations = Relations::new(&model);
    let mut writer = Writer::new(&relations, &arguments.out)?;
    let table = arguments.table.as_deref().unwrap_or(&model.table.name);
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
    writer.finish()?;
    Ok(FINE)
}

/// Writes each item to the file of its relation as it comes.
struct Writer<'r, 'm> {
    relations: &'r Relations<'m>,
    folder: &'r Path,
    files: Vec<BufWriter<File>>,
    rows: Vec<u64>,
    unrecognised: BufWriter<File>,
    strangers: u64,
    reasons: Vec<String>,
    markers: u64,
}

impl<'r, 'm> Writer<'r, 'm> {
    fn new(relations: &'r Relations<'m>, folder: &'r Path) -> Result<Writer<'r, 'm>, String> {
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
        let files: Result<Vec<BufWriter<File>>, String> = relations
            .relations
            .iter()
            .map(|relation| {
                let mut file = create(folder, &relation.file())?;
                line(&mut file, &relation.header())?;
                Ok(file)
            })
            .collect();
        let loaders = [
            ("load-postgresql.sql", Loader::PostgreSql),
            ("load-sqlite.sql", Loader::Sqlite),
            ("load-duckdb.sql", Loader::DuckDb),
        ];
        text(folder, "schema.sql", &relations.schema())?;
        loaders.into_iter().try_for_each(|(name, loader)| text(folder, name, &relations.load(loader)))?;
        Ok(Writer {
            relations,
            folder,
            files: files?,
            rows: vec![0; relations.relations.len()],
            unrecognised: create(folder, UNRECOGNISED)?,
            strangers: 0,
            reasons: Vec::new(),
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
            Row::Unrecognised(reason) => {
                self.strangers += 1;
                if self.reasons.len() < NAMED {
                    self.reasons.push(reason);
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
        let path = self.folder.join(UNRECOGNISED);
        println!("{} items fit no relation: {}", self.strangers, path.display());
        self.reasons.iter().for_each(|reason| println!("  {reason}"));
        Ok(())
    }
}

fn failed(error: std::io::Error) -> String {
    format!("cannot write the relations: {error}")
}

fn create(folder: &Path, name: &str) -> Result<BufWriter<File>, String> {
    let path = folder.join(name);
    let file = File::create(&path).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(BufWriter::new(file))
}

fn text(folder: &Path, name: &str, text: &str) -> Result<(), String> {
    let mut file = create(folder, name)?;
    file.write_all(text.as_bytes()).and_then(|()| file.flush()).map_err(failed)
}

fn line(file: &mut BufWriter<File>, text: &str) -> Result<(), String> {
    writeln!(file, "{text}").map_err(failed)
}
