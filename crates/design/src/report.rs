//! Reports: findings as text, JSON and SARIF; plans, costs and differences explained.

pub mod cost;
pub mod difference;
pub mod explain;
pub mod growth;
pub mod keys;
pub mod sent;

use crate::capacity::basis::Estimate;
use crate::check::Report;
use crate::code;
use crate::finding::{Finding, Severity};
use crate::formatting::{format_quantity, plural};
use crate::model::Model;
use crate::plan::Plan;
use crate::repair::{Repair, Replacement, replacement};
use crate::source::Source;
use serde_json::{Value, json};

/// Formats findings with excerpts of the source.
pub fn text_of(findings: &[Finding], source: &Source) -> String {
    let mut text = String::new();
    for finding in findings {
        let level = if finding.allowed.is_some() { "allowed" } else { finding.severity.name() };
        text.push_str(&format!("{level}[{}] {}: {}\n", finding.code, finding.subject, finding.message));
        text.push_str(&source.excerpt(&finding.span));
        if let Some(reason) = &finding.allowed {
            text.push_str(&format!("  = allowed: {reason}\n"));
        } else if !finding.help.is_empty() {
            // A fix is what `check --fix` writes.
            let label = if finding.repair.is_some() { "fix" } else { "help" };
            text.push_str(&format!("  = {label}: {}\n", finding.help));
        }
        text.push('\n');
    }
    text
}

/// Formats a whole report: the findings, with or without notes, and one line for each pattern.
pub fn text(report: &Report<'_>, source: &Source, notes: bool) -> String {
    let visible: Vec<Finding> =
        report.findings.iter().filter(|finding| finding.is_problem() || notes).cloned().collect();
    let mut text = text_of(&visible, source);
    let width = report.plans.keys().map(|name| name.len()).max().unwrap_or_default();
    for pattern in &report.model.patterns {
        let served = match report.plans.get(pattern.name.as_str()) {
            Some(Ok(plan)) => summary(report.model, plan),
            _ => "not served".to_owned(),
        };
        text.push_str(&format!("{:width$}  {served}\n", pattern.name));
    }
    let [errors, warnings, notes] =
        [Severity::Error, Severity::Warning, Severity::Note].map(|s| report.count(s));
    let served = report.plans.values().filter(|plan| plan.is_ok()).count();
    text.push_str(&format!(
        "\n{served} of {} patterns served; {}, {}, {}\n",
        report.plans.len(),
        plural(errors as u64, "error"),
        plural(warnings as u64, "warning"),
        plural(notes as u64, "note"),
    ));
    text
}

/// Summarises a plan: `Query GSI1, 1 request, 0.5 read units`.
pub fn summary(model: &Model, plan: &Plan<'_>) -> String {
    let steps: Vec<String> = plan
        .steps
        .iter()
        .map(|step| {
            format!(
                "{} {}",
                step.operation.name(),
                step.location.index.map_or("table", |index| index.name.as_str())
            )
        })
        .collect();
    let requests = format_quantity(plan.requests(), "request");
    let units = Estimate::new(plan.units(), plan.basis(model)).text("read unit");
    format!("{}, {requests}, {units}", steps.join(" + "))
}

/// Formats a report as JSON: `{"findings": […], "patterns": […]}`.
pub fn json(report: &Report<'_>, source: &Source) -> Value {
    let patterns: Vec<Value> = report
        .model
        .patterns
        .iter()
        .map(|pattern| match report.plans.get(pattern.name.as_str()) {
            Some(Ok(plan)) => json!({
                "name": pattern.name,
                "served": true,
                "requests": plan.requests(),
                "readUnits": plan.units(),
                "basis": plan.basis(report.model).name(),
                "steps": plan.steps.iter().map(|step| json!({
                    "operation": format!("{:?}", step.operation),
                    "index": step.location.index.map(|index| index.name.clone()),
                })).collect::<Vec<_>>(),
            }),
            _ => json!({ "name": pattern.name, "served": false }),
        })
        .collect();
    json!({
        "file": source.name,
        "errors": report.count(Severity::Error),
        "warnings": report.count(Severity::Warning),
        "notes": report.count(Severity::Note),
        "findings": findings_json(&report.findings, source),
        "patterns": patterns,
    })
}

/// Formats findings as JSON.
pub fn findings_json(findings: &[Finding], source: &Source) -> Vec<Value> {
    let one = |finding: &Finding| {
        let position = source.position(finding.span.start);
        json!({
            "code": finding.code,
            "severity": finding.severity.name(),
            "subject": finding.subject,
            "message": finding.message,
            "help": finding.help,
            "repair": finding.repair.as_ref().and_then(|repair| repair_json(repair, source)),
            "line": position.line,
            "column": position.column,
            "allowed": finding.allowed,
        })
    };
    findings.iter().map(one).collect()
}

/// The edits of a repair, and the range of the text that they change.
fn repair_json(repair: &Repair, source: &Source) -> Option<Value> {
    let Replacement { span, text } = replacement(&source.text, &repair.edits)?;
    let (start, end) = (source.position(span.start), source.position(span.end));
    let edits: Vec<Value> =
        repair.edits.iter().map(|edit| json!({ "path": edit.path, "value": edit.value })).collect();
    Some(json!({
        "edits": edits,
        "startLine": start.line, "startColumn": start.column,
        "endLine": end.line, "endColumn": end.column,
        "text": text,
    }))
}

/// Formats findings as SARIF 2.1.0, for code scanning.
pub fn sarif(findings: &[Finding], source: &Source) -> Value {
    let rules: Vec<Value> = code::CODES
        .iter()
        .map(|code| {
            json!({
                "id": code.code,
                "name": code.title,
                "shortDescription": { "text": code.title },
                "fullDescription": { "text": code.page },
                "defaultConfiguration": { "level": code.severity.name() },
            })
        })
        .collect();
    let results: Vec<Value> = findings.iter().map(|finding| sarif_result(finding, source)).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "partita model check", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "results": results,
        }],
    })
}

fn sarif_result(finding: &Finding, source: &Source) -> Value {
    let (start, end) = (source.position(finding.span.start), source.position(finding.span.end));
    let mut result = json!({
        "ruleId": finding.code,
        "level": finding.severity.name(),
        "message": { "text": format!("{}: {}. {}", finding.subject, finding.message, finding.help) },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": source.name },
            "region": {
                "startLine": start.line, "startColumn": start.column,
                "endLine": end.line, "endColumn": end.column,
            },
        }}],
    });
    if let Some(fix) = finding.repair.as_ref().and_then(|repair| sarif_fix(repair, source)) {
        result["fixes"] = json!([fix]);
    }
    if let Some(reason) = &finding.allowed {
        result["suppressions"] = json!([{ "kind": "inSource", "justification": reason }]);
    }
    result
}

fn sarif_fix(repair: &Repair, source: &Source) -> Option<Value> {
    let Replacement { span, text } = replacement(&source.text, &repair.edits)?;
    let (start, end) = (source.position(span.start), source.position(span.end));
    Some(json!({
        "description": { "text": repair.help },
        "artifactChanges": [{
            "artifactLocation": { "uri": source.name },
            "replacements": [{
                "deletedRegion": {
                    "startLine": start.line, "startColumn": start.column,
                    "endLine": end.line, "endColumn": end.column,
                },
                "insertedContent": { "text": text },
            }],
        }],
    }))
}
