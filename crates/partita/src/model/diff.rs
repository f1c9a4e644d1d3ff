//! `partita model diff`.

use super::arguments::{Diff, PlainFormat};
use super::{FINE, FOUND, Outcome, file, show};
use partita_design::report::difference::difference;

pub fn run(arguments: &Diff) -> Outcome {
    let (old, new) = (file::model(&arguments.old)?, file::model(&arguments.new)?);
    let prices = file::prices(arguments.prices.as_deref())?;
    let difference = difference(&old, &new, &prices);
    match arguments.format {
        PlainFormat::Text => show(&difference.text(&prices)),
        PlainFormat::Json => println!("{:#}", difference.json(&prices)),
    }
    let (before, after) =
        (difference.before.single_table.on_demand(&prices), difference.after.single_table.on_demand(&prices));
    let dearer = arguments.max_increase.is_some_and(|percent| after > before * (1.0 + percent / 100.0));
    Ok(if difference.is_worse() || dearer { FOUND } else { FINE })
}
