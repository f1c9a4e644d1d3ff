//! `partita model keys`.

use super::arguments::{Keys, PlainFormat};
use super::{FINE, Outcome, file, show};
use partita_design::report::keys;

pub fn run(arguments: &Keys) -> Outcome {
    let model = file::model(&arguments.model)?;
    match arguments.format {
        PlainFormat::Text => show(&keys::text(&model)),
        PlainFormat::Json => println!("{:#}", keys::json(&model)),
    }
    Ok(FINE)
}
