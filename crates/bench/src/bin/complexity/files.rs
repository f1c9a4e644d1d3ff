//! Files that imports read: DynamoDB JSON, Ion and CSV, with records long, many and broken.

use crate::{Case, Work};
use partita_exchange::item_reader::{InputFormat, ItemReader, Next};
use std::hint::black_box;

/// Reads all records of a file.
fn read(text: String, format: fn() -> InputFormat) -> Work {
    Box::new(move || {
        let mut reader = ItemReader::new(text.as_bytes(), &format());
        let mut is_accepted = true;
        loop {
            match reader.read() {
                Ok(Next::Record(record)) => is_accepted &= black_box(record.put).is_ok(),
                Ok(Next::Nothing(_)) => {}
                Ok(Next::End) => return is_accepted,
                Err(_) => return false,
            }
        }
    })
}

fn json() -> InputFormat {
    InputFormat::DynamoDbJson
}

fn ion() -> InputFormat {
    InputFormat::Ion
}

fn csv() -> InputFormat {
    InputFormat::Csv { delimiter: b',', header: None, keys: Vec::new() }
}

fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(|i| line(i) + "\n").collect()
}

pub const CASES: [&[Case]; 1] = [&[
    Case {
        name: "json_lines",
        size: 1_000,
        prepare: |n| read(lines(n, |i| format!(r#"{{"Item":{{"pk":{{"N":"{i}"}}}}}}"#)), json),
    },
    Case {
        name: "json_objects_in_a_line",
        size: 1_000,
        prepare: |n| read(r#"{"Item":{"pk":{"N":"1"}}} "#.repeat(n), json),
    },
    Case { name: "json_braces_refused", size: 5_000, prepare: |n| read("{".repeat(n), json) },
    Case { name: "json_no_json_refused", size: 5_000, prepare: |n| read(lines(n, |_| "x".into()), json) },
    Case {
        name: "ion_lines",
        size: 1_000,
        prepare: |n| read(lines(n, |i| format!("$ion_1_0 {{Item:{{pk:{i}.}}}}")), ion),
    },
    Case {
        name: "ion_brackets_refused",
        size: 2_000,
        prepare: |n| read(format!("$ion_1_0 {{Item:{{a:{}", "[".repeat(n)), ion),
    },
    Case {
        name: "ion_set",
        size: 2_000,
        prepare: |n| {
            let elements: Vec<String> = (0..n).map(|i| format!("{i}.")).collect();
            read(format!("$ion_1_0 {{Item:{{pk:1.,a:$dynamodb_NS::[{}]}}}}", elements.join(",")), ion)
        },
    },
    Case {
        name: "ion_escapes",
        size: 5_000,
        prepare: |n| read(format!("$ion_1_0 {{Item:{{pk:\"{}\"}}}}", "\\u0041".repeat(n)), ion),
    },
    Case {
        name: "csv_lines",
        size: 2_000,
        prepare: |n| read("pk,a\n".to_owned() + &lines(n, |i| format!("{i},x")), csv),
    },
    Case {
        name: "csv_quotes",
        size: 2_000,
        prepare: |n| read("pk,a\n".to_owned() + &lines(n, |i| format!("{i},6\" pipe")), csv),
    },
    Case {
        name: "csv_stray_quote_refused",
        size: 1_000,
        prepare: |n| read("pk,a\n1,\"x\n".to_owned() + &lines(n, |i| format!("{i},x")), csv),
    },
    Case {
        name: "csv_columns",
        size: 2_000,
        prepare: |n| {
            let columns: Vec<String> = (0..n).map(|i| format!("c{i}")).collect();
            read(format!("{0}\n{0}\n", columns.join(",")), csv)
        },
    },
]];
