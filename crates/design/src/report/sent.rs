//! Requests ready to paste: as commands of the AWS CLI, as Python (boto3), as JavaScript (SDK version 3), or as JSON.

use super::explain::work_before;
use crate::exchange::request_json::sent_json;
use crate::exchange::write_requests::{Request, write_requests};
use crate::generate::Generator;
use crate::keys::keyspace::Keyspace;
use crate::model::Model;
use crate::plan::{Step, plan};
use serde_json::{Value, json};

/// The language of printed requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Commands of the AWS CLI.
    Cli,
    /// Python, with boto3.
    Python,
    /// JavaScript, with version 3 of the SDK.
    JavaScript,
    /// JSON.
    Json,
}

/// A pattern or a write.
struct Named<'m> {
    name: &'m str,
    /// What the caller does before.
    first: Vec<String>,
    /// The requests, each with what the caller does afterwards.
    requests: Vec<(Request, Vec<String>)>,
}

/// Prints the requests of all patterns and writes, or of those named `only`.
pub fn requests(model: &Model, only: Option<&str>, language: Language) -> String {
    let wanted = |name: &str| only.is_none_or(|only| only == name);
    let (keys, examples) = (Keyspace::new(model), Generator::of_examples(model));
    let mut all: Vec<Named<'_>> = Vec::new();
    for pattern in model.patterns.iter().filter(|pattern| wanted(&pattern.name)) {
        let Ok(plan) = plan(&keys, pattern) else { continue };
        let request = |(number, step): (usize, &Step<'_>)| {
            let afterwards = step.afterwards.iter().map(ToString::to_string).collect();
            let input = sent_json(&examples, pattern, &plan, number);
            (Request { operation: step.operation.name(), input }, afterwards)
        };
        let requests = plan.steps.iter().enumerate().map(request).collect();
        all.push(Named { name: &pattern.name, first: Vec::new(), requests });
    }
    for write in model.writes.iter().filter(|write| wanted(&write.name)) {
        let requests = write_requests(&examples, write).into_iter().map(|request| (request, Vec::new()));
        let first = work_before(model, write);
        all.push(Named { name: &write.name, first, requests: requests.collect() });
    }
    match language {
        Language::Json => json_document(&all),
        Language::Cli => joined(&all, "", "#", cli),
        Language::Python => joined(&all, &python_start(&all), "#", python),
        Language::JavaScript => joined(&all, &imports(&all), "//", javascript),
    }
}

fn json_document(all: &[Named<'_>]) -> String {
    let one = |(request, _): &(Request, Vec<String>)| json!({ "operation": request.operation, "input": request.input });
    let list: Vec<Value> = all
        .iter()
        .map(|Named { name, requests, .. }| json!({ "name": name, "requests": requests.iter().map(one).collect::<Vec<_>>() }))
        .collect();
    format!("{:#}\n", Value::from(list))
}

fn joined(all: &[Named<'_>], start: &str, comment: &str, print: fn(&Request) -> String) -> String {
    let mut text = start.to_owned();
    for Named { name, first, requests } in all {
        text.push_str(&format!("{comment} {name}\n"));
        first.iter().for_each(|work| text.push_str(&format!("{comment} first {work}\n")));
        for (request, afterwards) in requests {
            text.push_str(&print(request));
            afterwards.iter().for_each(|work| text.push_str(&format!("{comment} then {work}\n")));
        }
        text.push('\n');
    }
    text
}

/// `PutItem` with a separator between its words, in lower case.
fn words(operation: &str, separator: char) -> String {
    let mut text = String::new();
    for character in operation.chars() {
        if character.is_uppercase() && !text.is_empty() {
            text.push(separator);
        }
        text.extend(character.to_lowercase());
    }
    text
}

fn cli(request: &Request) -> String {
    let input = request.input.to_string().replace('\'', "'\\''");
    // The command would go on with further pages, whatever the limit.
    let once = if request.input.get("Limit").is_some() { " --no-paginate" } else { "" };
    format!("aws dynamodb {}{once} --cli-input-json '{input}'\n", words(request.operation, '-'))
}

/// How a language writes values.
struct Syntax {
    null: &'static str,
    truth: [&'static str; 2],
    colon: &'static str,
    comma: &'static str,
    /// The bytes of a Base64 text, which is the argument of this call.
    bytes: [&'static str; 2],
}

const PYTHON: Syntax =
    Syntax { null: "None", truth: ["False", "True"], colon: ": ", comma: ", ", bytes: ["b64decode(", ")"] };
const JAVASCRIPT: Syntax = Syntax {
    null: "null",
    truth: ["false", "true"],
    colon: ":",
    comma: ",",
    bytes: ["Uint8Array.from(atob(", "), (letter) => letter.charCodeAt(0))"],
};

impl Syntax {
    /// A JSON value as a literal; SDKs take bytes where DynamoDB's JSON has Base64.
    fn literal(&self, value: &Value) -> String {
        match value {
            Value::Null => self.null.to_owned(),
            Value::Bool(flag) => self.truth[usize::from(*flag)].to_owned(),
            Value::Array(values) => self.list(values.iter().map(|value| self.literal(value))),
            Value::Object(members) => {
                let member = |(name, value): (&String, &Value)| {
                    let value = match (name.as_str(), value) {
                        ("B", Value::String(_)) => self.bytes(value),
                        ("BS", Value::Array(values)) => self.list(values.iter().map(|one| self.bytes(one))),
                        _ => self.literal(value),
                    };
                    format!("{}{}{value}", json!(name), self.colon)
                };
                format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(self.comma))
            }
            Value::Number(_) | Value::String(_) => value.to_string(),
        }
    }

    fn list(&self, literals: impl Iterator<Item = String>) -> String {
        format!("[{}]", literals.collect::<Vec<_>>().join(self.comma))
    }

    fn bytes(&self, base64: &Value) -> String {
        let [before, after] = self.bytes;
        format!("{before}{base64}{after}")
    }
}

fn python_start(all: &[Named<'_>]) -> String {
    let mut requests = all.iter().flat_map(|named| &named.requests);
    let has_bytes = requests.any(|(request, _)| python(request).contains(PYTHON.bytes[0]));
    let bytes = if has_bytes { "from base64 import b64decode\n\n" } else { "" };
    format!("{bytes}import boto3\n\nclient = boto3.client(\"dynamodb\")\n\n")
}

fn python(request: &Request) -> String {
    format!("print(client.{}(**{}))\n", words(request.operation, '_'), PYTHON.literal(&request.input))
}

fn imports(all: &[Named<'_>]) -> String {
    let operations: std::collections::BTreeSet<&str> =
        all.iter().flat_map(|named| &named.requests).map(|(request, _)| request.operation).collect();
    let commands: Vec<String> = operations.iter().map(|operation| format!(", {operation}Command")).collect();
    format!(
        "import {{ DynamoDBClient{} }} from \"@aws-sdk/client-dynamodb\";\n\nconst client = new DynamoDBClient({{}});\n\n",
        commands.concat()
    )
}

fn javascript(request: &Request) -> String {
    let input = JAVASCRIPT.literal(&request.input);
    format!("console.log(await client.send(new {}Command({input})));\n", request.operation)
}
