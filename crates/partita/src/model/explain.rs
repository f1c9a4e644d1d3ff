//! `partita model explain`.

use super::arguments::{Explain, Language, PlainFormat};
use super::{FINE, Outcome, file, show};
use partita_design::finding::closest;
use partita_design::report::{explain, sent};

pub fn run(arguments: &Explain) -> Outcome {
    let model = file::model(&arguments.model)?;
    if let Some(name) = &arguments.name {
        let patterns = model.patterns.iter().map(|pattern| pattern.name.as_str());
        let names: Vec<&str> = patterns.chain(model.writes.iter().map(|write| write.name.as_str())).collect();
        if !names.contains(&name.as_str()) {
            let meant = closest(name, names.iter().copied());
            let help = meant.map_or_else(
                || format!("known: {}", names.join(", ")),
                |meant| format!("did you mean {meant}?"),
            );
            return Err(format!("the model has no pattern and no write {name}; {help}"));
        }
    }
    if let Some(language) = arguments.language {
        let language = match language {
            Language::Cli => sent::Language::Cli,
            Language::Python => sent::Language::Python,
            Language::JavaScript => sent::Language::JavaScript,
            Language::Json => sent::Language::Json,
        };
        print!("{}", sent::requests(&model, arguments.name.as_deref(), language));
        return Ok(FINE);
    }
    match arguments.format {
        PlainFormat::Text => show(&explain::text(&model, arguments.name.as_deref())),
        PlainFormat::Json => println!("{:#}", explain::json(&model, arguments.name.as_deref())),
    }
    Ok(FINE)
}
