//! Findings, completions and symbols in the protocol's JSON.

use super::text_position::Encoding;
use partita_design::editor::{Completion, CompletionKind, Symbol, SymbolKind};
use partita_design::{Finding, Severity};
use serde_json::{Value, json};

pub fn diagnostic(encoding: Encoding, text: &str, finding: &Finding) -> Value {
    let severity = match finding.severity {
        Severity::Error => 1,
        Severity::Warning => 2,
        Severity::Note => 3,
    };
    let help = if finding.help.is_empty() { String::new() } else { format!("\nhelp: {}", finding.help) };
    json!({
        "range": encoding.range(text, &finding.span),
        "severity": severity,
        "code": finding.code,
        "source": "partita",
        "message": format!("{}{help}", finding.message),
    })
}

pub fn completion(encoding: Encoding, text: &str, completion: &Completion) -> Value {
    let kind = match completion.kind {
        CompletionKind::Field => 10,
        CompletionKind::Attribute => 5,
        CompletionKind::Entity => 7,
        CompletionKind::Index => 18,
        CompletionKind::Word => 14,
    };
    json!({
        "label": completion.label,
        "kind": kind,
        "detail": completion.detail,
        "textEdit": { "range": encoding.range(text, &completion.span), "newText": completion.text },
    })
}

pub fn symbol(encoding: Encoding, text: &str, symbol: &Symbol) -> Value {
    let kind = match symbol.kind {
        SymbolKind::Index => 20,
        SymbolKind::Entity => 5,
        SymbolKind::Attribute => 8,
        SymbolKind::Pattern => 12,
        SymbolKind::Write => 6,
    };
    let range = encoding.range(text, &symbol.span);
    json!({ "name": symbol.name, "kind": kind, "range": range, "selectionRange": range })
}
