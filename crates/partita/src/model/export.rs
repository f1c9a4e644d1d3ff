//! `partita model export` and `schema`: conversion to other tools, and the schema for editors.

use super::arguments::{Destination, Export};
use super::{FINE, Outcome, file};
use partita_design::exchange::{onetable, table_definition, workbench};
use partita_design::reader::schema;

pub fn run(arguments: &Export) -> Outcome {
    let model = file::model(&arguments.model)?;
    let exported = match arguments.to {
        Destination::Workbench => workbench::export(&model),
        Destination::Onetable => onetable::export(&model),
        Destination::CreateTable => table_definition::export(&model),
    };
    println!("{:#}", exported.document);
    exported.remarks.iter().for_each(|remark| eprintln!("{remark}"));
    Ok(FINE)
}

pub fn schema() -> Outcome {
    print!("{}", schema::SCHEMA);
    Ok(FINE)
}
