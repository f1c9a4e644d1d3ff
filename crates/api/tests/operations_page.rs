//! `docs/operations.md` lists the operations of the table.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use partita_api::Operation;
use partita_api::operation::Access;
use std::path::Path;

const BEGIN: &str = "<!-- Printed from crates/api/src/operation.rs -->\n";
const END: &str = "<!-- End of what is printed -->\n";

fn row(operation: Operation) -> String {
    let access = match operation.access() {
        Access::Read => "reads",
        Access::Write => "writes",
    };
    let actions: Vec<_> = operation.actions().iter().map(|action| format!("`dynamodb:{action}`")).collect();
    format!("| {} | {access} | {} | {} |\n", operation.name(), actions.join(" "), operation.remark())
}

/// `PARTITA_WRITE=1 cargo test -p partita-api --test operations_page` prints the table again.
#[test]
fn the_page_of_operations_lists_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operations.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let rows: String = Operation::ALL.iter().map(|operation| row(*operation)).collect();
    let heading = "| operation | access | IAM actions | remarks |\n|---|---|---|---|\n";
    let printed = format!("{before}{BEGIN}\n{heading}{rows}\n{END}{after}");
    if std::env::var_os("PARTITA_WRITE").is_some() {
        std::fs::write(&path, &printed).unwrap();
    }
    let current = std::fs::read_to_string(&path).unwrap();
    assert!(current == printed, "docs/operations.md is not up to date; see this test for how to print it");
}

/// The streams' service has a target of its own; every other operation has DynamoDB's.
#[test]
fn every_operation_is_found_by_its_name_and_target() {
    for operation in Operation::ALL {
        assert_eq!(Operation::from_name(operation.name()), Some(*operation));
        let is_stream = operation.target_prefix() == "DynamoDBStreams_20120810";
        assert_eq!(is_stream, operation.folder() == "stream", "{operation:?}");
    }
    assert_eq!(Operation::from_name("CreateCloud"), None);
}
