//! `partita model import`, `export` and `schema`: conversion from and to other tools, and the schema for editors.

use super::arguments::{Destination, Export, Import, Origin};
use super::{FINE, Outcome, file};
use partita_design::{definition, emission, onetable, schema, workbench};

pub fn import(arguments: &Import) -> Outcome {
    let text = file::text(&arguments.file)?;
    let (model, tool) = match arguments.from {
        Origin::Workbench => (workbench::import(&text), "NoSQL Workbench"),
        Origin::Onetable => (onetable::import(&text, &arguments.table), "OneTable"),
    };
    let model = model.map_err(|message| format!("{}: {message}", arguments.file.display()))?;
    let comment = format!("Imported from {tool}. Add the patterns and writes, then: partita model check");
    print!("{}", emission::toml(&model, &comment));
    Ok(FINE)
}

pub fn export(arguments: &Export) -> Outcome {
    let model = file::model(&arguments.model)?;
    let document = match arguments.to {
        Destination::Workbench => workbench::export(&model),
        Destination::Onetable => onetable::export(&model),
        Destination::CreateTable => definition::create_table(&model),
    };
    println!("{document:#}");
    Ok(FINE)
}

pub fn schema() -> Outcome {
    print!("{}", schema::SCHEMA);
    Ok(FINE)
}
