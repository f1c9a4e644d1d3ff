//! Model files: parsed and, if valid, checked and reported.

use partita_design::{Source, check, read, report};

pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let source = Source::new("model.toml", text);
    match read(&source) {
        Ok(model) => {
            let checked = check(&model);
            report::text(&checked, &source, true);
            report::json(&checked, &source);
            report::sarif(&checked.findings, &source);
        }
        Err(findings) => {
            assert!(!findings.is_empty(), "a model is rejected without a finding");
            report::text_of(&findings, &source);
            report::findings_json(&findings, &source);
        }
    }
}
