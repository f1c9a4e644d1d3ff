//! `partita model growth`.

use super::arguments::{Cost, PlainFormat};
use super::{FINE, Outcome, file, show};
use partita_design::report::growth;

pub fn run(arguments: &Cost) -> Outcome {
    let model = file::model(&arguments.model)?;
    let prices = file::prices(arguments.prices.as_deref())?;
    match arguments.format {
        PlainFormat::Text => show(&growth::text(&model, &prices)),
        PlainFormat::Json => println!("{:#}", growth::json(&model, &prices)),
    }
    Ok(FINE)
}
