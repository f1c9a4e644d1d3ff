//! `partita model cost`.

use super::arguments::{Cost, PlainFormat};
use super::{FINE, Outcome, file, show};
use crate::clock;
use partita_design::capacity::cost::cost;
use partita_design::report::cost as report;
use partita_value::calendar::timestamp;

/// Older prices are reported.
const OLD_MONTHS: i64 = 12;

pub fn run(arguments: &Cost) -> Outcome {
    let model = file::model(&arguments.model)?;
    let prices = file::prices(arguments.prices.as_deref())?;
    let cost = cost(&model, &prices);
    match arguments.format {
        PlainFormat::Text => show(&report::text(&model, &cost, &prices)),
        PlainFormat::Json => println!("{:#}", report::json(&cost, &prices)),
    }
    let age = prices.age_in_months(&timestamp(clock::unix_seconds() * 1_000));
    if let Some(age) = age.filter(|age| *age > OLD_MONTHS) {
        eprintln!("partita: the prices are {age} months old; --prices takes a newer file");
    }
    Ok(FINE)
}
