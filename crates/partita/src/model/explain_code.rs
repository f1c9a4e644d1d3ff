//! `partita model explain-code`.

use super::arguments::ExplainCode;
use super::{FINE, Outcome};
use partita_design::code::{CODES, document, find};

pub fn run(arguments: &ExplainCode) -> Outcome {
    if arguments.all {
        print!("{}", document());
        return Ok(FINE);
    }
    let Some(wanted) = &arguments.code else {
        for code in CODES.iter() {
            println!("{}  {:7}  {}", code.code, code.severity.name(), code.title);
        }
        return Ok(FINE);
    };
    let code = find(wanted)
        .ok_or_else(|| format!("there is no code {wanted}; `partita model explain-code` lists all codes"))?;
    println!("{}: {} ({})\n\n{}", code.code, code.title, code.severity.name(), code.page);
    Ok(FINE)
}
