//! Rows of relational tables: from files, or from the programs `sqlite3` and `psql`.

mod sqlite;

use crate::model::arguments::Copy;
use crate::model::file;
use partita_design::Model;
use partita_design::exchange::csv;
use partita_design::model::Entity;
use partita_design::relational::rows::entity_of;
use serde_json::Value;
use serde_json::value::RawValue;
use sqlite::Encoding;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// The rows of one table.
pub struct TableRows {
    pub name: String,
    format: Format,
    text: String,
}

/// The columns of a row with their values, or why it has none.
pub type Row<'a> = Result<Vec<(&'a str, Option<&'a str>)>, String>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Csv,
    JsonLines,
    /// What `psql` prints.
    Postgresql,
    /// What `sqlite3` prints for the columns of [`sqlite::selected`], in a database of this encoding.
    Sqlite(Encoding),
}

impl TableRows {
    /// Calls `take` with the number of each row, and the row.
    pub fn each(&self, take: impl FnMut(usize, Row<'_>) -> Result<(), String>) -> Result<(), String> {
        match self.format {
            Format::JsonLines => self.each_of_json(take),
            _ => self.each_of_csv(take),
        }
    }

    /// Where a row stands: a file has lines, and a database only an order.
    pub fn place(&self, number: usize) -> String {
        let word = match self.format {
            Format::Csv | Format::JsonLines => "line",
            Format::Postgresql | Format::Sqlite(_) => "row",
        };
        format!("{}, {word} {number}", self.name)
    }

    fn each_of_csv(&self, mut take: impl FnMut(usize, Row<'_>) -> Result<(), String>) -> Result<(), String> {
        let mut records = csv::records(&self.text).into_iter();
        let header = records.next().ok_or_else(|| format!("{} has no header", self.name))?.fields;
        let names: Vec<&str> = header.iter().map(|name| name.as_deref().unwrap_or_default()).collect();
        for (row, record) in records.enumerate() {
            let number = if self.format == Format::Csv { record.line } else { row + 1 };
            let values: Result<Vec<Option<Cow<'_, str>>>, String> = names
                .iter()
                .zip(&record.fields)
                .map(|(name, field)| self.value(name, field.as_deref()))
                .collect();
            let (own, wanted) = (record.fields.len(), names.len());
            take(
                number,
                match &values {
                    _ if own != wanted => Err(format!("the row has {own} fields, and the header {wanted}")),
                    Ok(values) => {
                        Ok(names.iter().copied().zip(values.iter().map(Option::as_deref)).collect())
                    }
                    Err(message) => Err(message.clone()),
                },
            )?;
        }
        Ok(())
    }

    /// The value that a field stands for.
    fn value<'f>(&self, column: &str, field: Option<&'f str>) -> Result<Option<Cow<'f, str>>, String> {
        match (self.format, field) {
            (Format::Sqlite(encoding), Some(field)) => {
                let value = sqlite::value(field, encoding).map_err(|why| format!("`{column}`: {why}"))?;
                Ok(Some(Cow::Owned(value)))
            }
            _ => Ok(field.map(Cow::Borrowed)),
        }
    }

    fn each_of_json(&self, mut take: impl FnMut(usize, Row<'_>) -> Result<(), String>) -> Result<(), String> {
        for (number, line) in self.text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let parsed: Result<BTreeMap<String, &RawValue>, _> = serde_json::from_str(line);
            let members = parsed.map_err(|error| format!("{}: {error}", self.place(number + 1)))?;
            let texts: Vec<(&String, Option<String>)> =
                members.iter().map(|(name, value)| (name, text_of(value))).collect();
            let row = texts.iter().map(|(name, text)| (name.as_str(), text.as_deref())).collect();
            take(number + 1, Ok(row))?;
        }
        Ok(())
    }
}

/// The text of a JSON value as a database writes it into CSV; a number keeps all its digits.
fn text_of(value: &RawValue) -> Option<String> {
    match serde_json::from_str(value.get()) {
        Ok(Value::Null) => None,
        Ok(Value::String(text)) => Some(text),
        _ => Some(value.get().to_owned()),
    }
}

/// The tables that the model has an entity for.
pub fn read(arguments: &Copy, model: &Model) -> Result<Vec<TableRows>, String> {
    let tables = match (&arguments.rows, arguments.from.as_deref()) {
        (Some(folder), None) => from_folder(folder)?,
        (None, Some(address)) => match address.strip_prefix("sqlite:") {
            Some(path) => from_sqlite(path, model)?,
            None if address.starts_with("postgres://") || address.starts_with("postgresql://") => {
                from_postgresql(address, model)?
            }
            None => return Err(format!("`{address}` is neither sqlite:FILE nor postgres://…")),
        },
        _ => return Err("give either --rows FOLDER or --from sqlite:FILE or --from postgres://…".to_owned()),
    };
    if tables.is_empty() {
        Err("there is no table that the model has an entity for".to_owned())
    } else {
        Ok(tables)
    }
}

/// Every `TABLE.csv` and `TABLE.jsonl` of a folder.
fn from_folder(folder: &Path) -> Result<Vec<TableRows>, String> {
    let failed = |error: std::io::Error| format!("cannot read {}: {error}", folder.display());
    let mut tables = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let format = match path.extension().and_then(|extension| extension.to_str()) {
            Some("csv") => Format::Csv,
            Some("jsonl") => Format::JsonLines,
            _ => continue,
        };
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        tables.push(TableRows { name, format, text: file::text(&path)? });
    }
    tables.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(tables)
}

fn from_sqlite(path: &str, model: &Model) -> Result<Vec<TableRows>, String> {
    // How values are written must not depend on the settings of the user.
    let settings = ["-init", "/dev/null", "-readonly", "-bail", "-csv", "-header", "-nullvalue", ""];
    let query = |sql: &str| run(Command::new("sqlite3").args(settings).args([path, sql]));
    let encoding = Encoding::of(&query("PRAGMA encoding")?)?;
    let names = query(
        r#"SELECT name, '"' || replace(name, '"', '""') || '"' FROM sqlite_master WHERE type = 'table' ORDER BY name"#,
    )?;
    let mut tables = Vec::new();
    for Known { name, quoted, entity } in known(&names, model) {
        // Generated columns are columns too; `hidden = 1` marks those of virtual tables that are no data.
        let columns = query(&format!(
            "SELECT name, type FROM pragma_table_xinfo('{}') WHERE hidden <> 1",
            name.replace('\'', "''")
        ))?;
        let columns = names_and_types(&columns);
        let text = query(&format!("SELECT {} FROM {quoted}", sqlite::selected(&columns, entity)?));
        let text = text.map_err(|why| format!("{name}: {why}"))?;
        // Of an empty table, sqlite3 does not even print the header.
        let header = || columns.iter().map(|(name, _)| self::quoted(name)).collect::<Vec<_>>().join(",");
        let text = if text.is_empty() { header() } else { text };
        tables.push(TableRows { name, format: Format::Sqlite(encoding), text });
    }
    Ok(tables)
}

fn from_postgresql(address: &str, model: &Model) -> Result<Vec<TableRows>, String> {
    let query = |sql: &str| {
        let copy = format!("COPY ({sql}) TO STDOUT WITH (FORMAT csv, HEADER)");
        // How values are written must not depend on the settings of the database or of the user.
        let settings =
            "-c datestyle=ISO -c intervalstyle=postgres -c bytea_output=hex -c extra_float_digits=1";
        run(Command::new("psql")
            .env("PGTZ", "UTC")
            .env("PGCLIENTENCODING", "UTF8")
            .env("PGOPTIONS", settings)
            .args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", address, "-c", &copy]))
    };
    // Of tables with one name, those of the search path are meant.
    let names = query(
        "WITH own AS (SELECT * FROM pg_tables WHERE schemaname = ANY (current_schemas(false))) \
         SELECT tablename, format('%I.%I', schemaname, tablename) FROM pg_tables \
         WHERE schemaname <> ALL ('{pg_catalog,information_schema}') \
         AND (schemaname IN (SELECT schemaname FROM own) OR tablename NOT IN (SELECT tablename FROM own)) ORDER BY 1, 2",
    )?;
    let mut tables: Vec<TableRows> = Vec::new();
    for Known { name, quoted, .. } in known(&names, model) {
        if tables.iter().any(|other| other.name == name) {
            return Err(format!("several schemas have a table {name}: copy them one by one, from files"));
        }
        let columns = query(&format!(
            "SELECT attname, atttypid::regtype FROM pg_attribute WHERE attrelid = '{}'::regclass AND attnum > 0 \
             AND NOT attisdropped ORDER BY attnum",
            quoted.replace('\'', "''")
        ))?;
        let text = query(&format!("SELECT {} FROM {quoted}", selected(&columns)));
        let text = text.map_err(|why| format!("{name}: {why}"))?;
        tables.push(TableRows { name, format: Format::Postgresql, text });
    }
    Ok(tables)
}

/// The columns of a list of names and types for a SELECT: amounts of money as numbers, and arrays as JSON, which
/// tells numbers from text.
fn selected(columns: &str) -> String {
    let column = |(name, kind): (String, String)| {
        let name = quoted(&name);
        match kind.as_str() {
            "money" => format!("{name}::numeric AS {name}"),
            array if array.ends_with("[]") => format!("to_json({name}) AS {name}"),
            _ => name,
        }
    };
    names_and_types(columns).into_iter().map(column).collect::<Vec<_>>().join(", ")
}

/// The columns that are listed below a header, with their types.
fn names_and_types(columns: &str) -> Vec<(String, String)> {
    let column = |record: csv::Record| {
        let mut fields = record.fields.into_iter();
        Some((fields.next()??, fields.next()?.unwrap_or_default()))
    };
    csv::records(columns).into_iter().skip(1).filter_map(column).collect()
}

/// A table of a database that the model has an entity for.
struct Known<'m> {
    name: String,
    /// The name as SQL has it.
    quoted: String,
    entity: &'m Entity,
}

/// The tables of a list of names and quoted names, below its header, that the model has an entity for.
fn known<'m>(names: &str, model: &'m Model) -> Vec<Known<'m>> {
    let known = |record: csv::Record| {
        let mut fields = record.fields.into_iter().flatten();
        let (name, quoted) = (fields.next()?, fields.next()?);
        let entity = entity_of(model, &name)?;
        Some(Known { name, quoted, entity })
    };
    csv::records(names).into_iter().skip(1).filter_map(known).collect()
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// What a program prints.
fn run(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| {
        format!("cannot run {program}: {error}; write the rows of each table to TABLE.csv and give the folder as --rows")
    })?;
    if !output.status.success() {
        return Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("{program} prints text that is not UTF-8"))
}
