//! Model files: read, and where they can be read checked, explained and reported.
#![no_main]

use libfuzzer_sys::fuzz_target;
use partita_design::{Source, check, read, report};

fuzz_target!(|text: &str| {
    let source = Source::new("model.toml", text);
    match read(&source) {
        Ok(model) => {
            let checked = check(&model);
            report::text(&checked, &source, true);
            report::json(&checked, &source);
            report::sarif(&checked.findings, &source);
        }
        Err(findings) => {
            assert!(!findings.is_empty(), "a model is refused without a word");
            report::text_of(&findings, &source);
            report::findings_json(&findings, &source);
        }
    }
});
