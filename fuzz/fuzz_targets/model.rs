//! Model files: parsed and, if valid, checked and reported.
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
            assert!(!findings.is_empty(), "a model is rejected without a finding");
            report::text_of(&findings, &source);
            report::findings_json(&findings, &source);
        }
    }
});
