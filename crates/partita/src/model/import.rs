//! `partita model import`: models from the files of other tools. Every source ends in drafts, one for each table.

mod requests;

use super::arguments::{Import, Origin};
use super::{FINE, Outcome, file, items, questions};
use partita_design::draft::Draft;
use partita_design::exchange::infrastructure::{self, DeclaredTable};
use partita_design::exchange::{library, onetable, workbench};
use partita_design::inference::Inference;
use partita_design::relational;
use std::path::Path;

pub fn run(arguments: &Import) -> Outcome {
    // A log may be larger than the memory.
    let text = if arguments.from == Origin::Requests { String::new() } else { file::text(&arguments.file)? };
    let mut drafts =
        drafts(arguments, &text).map_err(|message| format!("{}: {message}", arguments.file.display()))?;
    let draft = chosen(arguments, &drafts)?;
    match &arguments.out {
        None => print!("{}", questions::settle(draft.clone(), &arguments.questions)?),
        Some(folder) => {
            questions::answer_all(&mut drafts, &arguments.questions)?;
            write_all(folder, &drafts)?;
        }
    }
    Ok(FINE)
}

fn drafts(arguments: &Import, text: &str) -> Result<Vec<Draft>, String> {
    let table = arguments.table.as_deref().unwrap_or("Table");
    Ok(match arguments.from {
        Origin::Workbench => workbench::import(text)?,
        Origin::Onetable => vec![onetable::import(text, table)?],
        Origin::Sql => {
            let queries = arguments.queries.as_deref().map(file::text).transpose()?;
            let observed = relational::Observations { queries: queries.as_deref(), seconds: arguments.over };
            let draft = relational::draft(text, &observed, table)?;
            if arguments.table_per_entity { draft.per_entity() } else { vec![draft] }
        }
        Origin::Requests => vec![requests::draft(arguments)?],
        Origin::Sheet => vec![relational::sheet::draft(text, table)?],
        Origin::Cloudformation | Origin::Cdk => declared(arguments, infrastructure::cloudformation(text)?)?,
        Origin::Terraform => declared(arguments, infrastructure::terraform(text)?)?,
        Origin::Electrodb => library::import(text, "ElectroDB")?,
        Origin::Toolbox => library::import(text, "DynamoDB-Toolbox")?,
        Origin::Dynamoose => library::import(text, "Dynamoose")?,
        Origin::Pynamodb => library::import(text, "PynamoDB")?,
    })
}

/// The drafts of declared tables; with items, the entities are learned from them.
fn declared(arguments: &Import, tables: Vec<DeclaredTable>) -> Result<Vec<Draft>, String> {
    let Some(path) = &arguments.items else {
        return Ok(tables.iter().map(DeclaredTable::draft).collect());
    };
    let named =
        |table: &&DeclaredTable| arguments.table.as_ref().is_none_or(|name| table.schema.table == *name);
    let chosen: Vec<&DeclaredTable> = tables.iter().filter(named).collect();
    let [table] = chosen.as_slice() else {
        return Err("the items are those of one table: name it with --table".to_owned());
    };
    let mut inference = Inference::new(table.schema.clone());
    items::each_in_file(path, &table.schema.table, usize::MAX, |item| inference.add(item, None))?;
    Ok(vec![inference.finish()?])
}

/// The draft to print: the only one, or that of the named table.
fn chosen<'d>(arguments: &Import, drafts: &'d [Draft]) -> Result<&'d Draft, String> {
    let named =
        |draft: &&Draft| arguments.table.as_ref().is_some_and(|table| draft.model.table.name == *table);
    let names: Vec<&str> = drafts.iter().map(|draft| draft.model.table.name.as_str()).collect();
    match drafts {
        [] => Err("there is no table in the file".to_owned()),
        [only] => Ok(only),
        [first, ..] if arguments.out.is_some() => Ok(first),
        several => several.iter().find(named).ok_or_else(|| {
            let names = names.join(", ");
            format!("the file has several tables: {names}; choose one with --table, or write them all with --out FOLDER")
        }),
    }
}

/// Writes each draft to a file of its table's name; files that exist are not replaced.
fn write_all(folder: &Path, drafts: &[Draft]) -> Result<(), String> {
    let mut names: Vec<String> = drafts.iter().map(file_name).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("several tables of the file would be written to {}", pair[0]));
    }
    std::fs::create_dir_all(folder)
        .map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
    for draft in drafts {
        let path = folder.join(file_name(draft));
        let written = std::fs::File::create_new(&path)
            .and_then(|mut out| std::io::Write::write_all(&mut out, draft.text().as_bytes()));
        written.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        println!("{}", path.display());
    }
    Ok(())
}

fn file_name(draft: &Draft) -> String {
    let is_other = |character: char| !character.is_alphanumeric() && !"._-".contains(character);
    format!("{}.toml", draft.model.table.name.replace(is_other, "_"))
}
