//! The questions of a proposed model: applied from a file, asked on the terminal, or printed.

use super::arguments::{PlainFormat, Questions};
use super::file;
use partita_design::draft::{Answers, Draft, Question};
use partita_design::formatting::printable;
use std::io::{BufRead, IsTerminal, Write};

/// Applies the answers, and returns what to print: the model or its open questions.
pub fn settle(mut draft: Draft, arguments: &Questions) -> Result<String, String> {
    answer_all(std::slice::from_mut(&mut draft), arguments)?;
    Ok(match arguments.questions {
        None => draft.text(),
        Some(PlainFormat::Json) => format!("{:#}\n", draft.questions_json()),
        Some(PlainFormat::Text) => {
            draft.questions.iter().map(|question| format!("{}\n", line(question))).collect()
        }
    })
}

/// Applies each answer to the draft that has its question.
pub fn answer_all(drafts: &mut [Draft], arguments: &Questions) -> Result<(), String> {
    if let Some(path) = &arguments.answers {
        let text = file::text(path)?;
        let mut answers: Answers = serde_json::from_str(&text).map_err(|error| {
            format!("{} is not a JSON object of texts, {{\"id\": \"answer\"}}: {error}", path.display())
        })?;
        let last = drafts.len().saturating_sub(1);
        for (number, draft) in drafts.iter_mut().enumerate() {
            let is_own = |id: &String| draft.questions.iter().any(|question| question.id == *id);
            let own: Answers = answers.extract_if(.., |id, _| number == last || is_own(id)).collect();
            draft.answer(&own)?;
        }
    }
    if arguments.ask {
        if !std::io::stdin().is_terminal() {
            return Err("--ask needs a terminal; use --questions json and --answers FILE instead".to_owned());
        }
        for draft in drafts {
            ask(draft, &mut std::io::stdin().lock(), &mut std::io::stderr())?;
        }
    }
    Ok(())
}

/// Asks each question until the answer fits; an empty answer keeps what is assumed.
fn ask(draft: &mut Draft, input: &mut impl BufRead, out: &mut impl Write) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot ask: {error}");
    let mut answers = Answers::new();
    for question in draft.questions.clone() {
        loop {
            write!(out, "{}\n> ", line(&question)).and_then(|()| out.flush()).map_err(failed)?;
            let mut text = String::new();
            let end = input.read_line(&mut text).map_err(failed)? == 0;
            if end || text.trim().is_empty() {
                break;
            }
            let answer = Answers::from([(question.id.clone(), text.trim().to_owned())]);
            match draft.clone().answer(&answer) {
                Ok(()) => {
                    answers.extend(answer);
                    break;
                }
                Err(message) => writeln!(out, "{message}").map_err(failed)?,
            }
        }
    }
    draft.answer(&answers)
}

fn line(question: &Question) -> String {
    let others = if question.choices.is_empty() {
        String::new()
    } else {
        format!(" or {}", question.choices.join(" or "))
    };
    let line = format!("{}: {} [{}{others}]", question.id, question.text, question.assumed);
    printable(&line).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_design::draft::Asked;
    use partita_design::{Source, read};

    #[test]
    fn a_question_is_asked_until_the_answer_fits() {
        let text = "format = 1\n[table]\nname = \"T\"\nkeys = [\"PK\"]\n[entity.A]\nattributes = { a = \"id\" }\nkey = [\"{a}\"]\n";
        let mut draft = Draft { model: read(&Source::new("t", text)).unwrap(), ..Draft::default() };
        draft.ask(Asked::EntityName("A".to_owned()), "What is it called?", "A");
        draft.ask(Asked::Ttl, "Which attribute?", "none");
        let mut out = Vec::new();
        ask(&mut draft, &mut "not a name\nUser\n\n".as_bytes(), &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(
            out.contains("`not a name` is not a name") && out.contains("table.ttl: Which attribute? [none]"),
            "{out}"
        );
        assert_eq!(draft.model.entities[0].name, "User");
        assert_eq!(draft.questions.len(), 1);
    }
}
