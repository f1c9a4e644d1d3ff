//! Files that imports and `partita load` read: DynamoDB JSON, Ion and CSV, with long, many and invalid records; compressed
//! files of one and of many pieces; and the lines that exports write.

use crate::decoders::shuffled;
use crate::expressions::wide_item;
use crate::{Case, Work};
use partita_api::export::ExportFormat;
use partita_exchange::compression::Compression;
use partita_exchange::item_reader::{InputFormat, ItemReader, NextRecord};
use partita_exchange::item_writer;
use std::hint::black_box;
use std::io::BufReader;

/// Reads all records of a file.
fn read(text: String, format: fn() -> InputFormat) -> Work {
    read_compressed(text.into_bytes(), Compression::None, format)
}

fn read_compressed(bytes: Vec<u8>, compression: Compression, format: fn() -> InputFormat) -> Work {
    Box::new(move || {
        let Ok(plain) = compression.reader(bytes.as_slice()) else { return false };
        let mut reader = ItemReader::new(BufReader::new(plain), &format());
        let mut is_accepted = true;
        loop {
            match reader.read() {
                Ok(NextRecord::Record(record)) => is_accepted &= black_box(record.put).is_ok(),
                Ok(NextRecord::Skipped(_)) => {}
                Ok(NextRecord::End) => return is_accepted,
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

/// Reads lines of DynamoDB JSON in compressed pieces of this many lines.
fn pieces(n: usize, lines_per_piece: usize, compression: Compression) -> Work {
    let piece =
        |_| compression.compress("{\"Item\":{\"pk\":{\"N\":\"1\"}}}\n".repeat(lines_per_piece).into_bytes());
    read_compressed((0..n / lines_per_piece).flat_map(piece).collect(), compression, json)
}

/// Writes a wide item like an export.
fn write(n: usize, format: ExportFormat) -> Work {
    let item = wide_item(n);
    Box::new(move || {
        let mut line = Vec::new();
        item_writer::write(format, item.view(), &mut line);
        !black_box(line).is_empty()
    })
}

pub const CASES: [&[Case]; 2] = [RECORDS, FORMS];

const FORMS: &[Case] = &[
    Case { name: "gzip_lines", size: 2_000, prepare: |n| pieces(n, n, Compression::Gzip) },
    Case { name: "gzip_pieces", size: 40, prepare: |n| pieces(n, 1, Compression::Gzip) },
    Case { name: "zstd_lines", size: 2_000, prepare: |n| pieces(n, n, Compression::Zstd) },
    Case { name: "zstd_pieces", size: 40, prepare: |n| pieces(n, 1, Compression::Zstd) },
    Case { name: "written_json", size: 2_000, prepare: |n| write(n, ExportFormat::DynamoDbJson) },
    Case { name: "written_ion", size: 2_000, prepare: |n| write(n, ExportFormat::Ion) },
];

const RECORDS: &[Case] = &[
    Case {
        name: "json_wide_item",
        size: 2_000,
        prepare: |n| {
            let attributes: Vec<String> =
                (0..n).map(|i| format!(r#""a{}":{{"N":"1"}}"#, shuffled(i))).collect();
            read(format!(r#"{{"Item":{{"pk":{{"N":"1"}},{}}}}}"#, attributes.join(",")), json)
        },
    },
    Case { name: "json_empty_lines", size: 20_000, prepare: |n| read("\n".repeat(n), json) },
    Case {
        name: "ion_wide_item",
        size: 2_000,
        prepare: |n| {
            let attributes: Vec<String> = (0..n).map(|i| format!("a{}:1.", shuffled(i))).collect();
            read(format!("$ion_1_0 {{Item:{{pk:1.,{}}}}}", attributes.join(",")), ion)
        },
    },
    Case {
        name: "ion_comments",
        size: 2_000,
        prepare: |n| read(format!("$ion_1_0 {} {{Item:{{pk:1.}}}}", "/**/ ".repeat(n)), ion),
    },
    Case {
        name: "ion_annotations_rejected",
        size: 2_000,
        prepare: |n| read(format!("$ion_1_0 {{Item:{{pk:{}1.}}}}", "a::".repeat(n)), ion),
    },
    Case {
        name: "ion_long_number_rejected",
        size: 5_000,
        prepare: |n| read(format!("$ion_1_0 {{Item:{{pk:1{}.}}}}", "1".repeat(n)), ion),
    },
    Case {
        name: "csv_quoted_lines",
        size: 5_000,
        prepare: |n| read(format!("pk,a\n1,\"{}\"\n", "x\n".repeat(n)), csv),
    },
    Case {
        name: "csv_doubled_quotes",
        size: 5_000,
        prepare: |n| read(format!("pk,a\n1,\"{}\"\n", "\"\"".repeat(n)), csv),
    },
    Case {
        name: "csv_same_columns_rejected",
        size: 2_000,
        prepare: |n| read(format!("pk{0}\n1{0}\n", ",a".repeat(n)), csv),
    },
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
    Case { name: "json_braces_rejected", size: 5_000, prepare: |n| read("{".repeat(n), json) },
    Case { name: "json_invalid_rejected", size: 5_000, prepare: |n| read(lines(n, |_| "x".into()), json) },
    Case {
        name: "ion_lines",
        size: 1_000,
        prepare: |n| read(lines(n, |i| format!("$ion_1_0 {{Item:{{pk:{i}.}}}}")), ion),
    },
    Case {
        name: "ion_brackets_rejected",
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
        name: "csv_stray_quote_rejected",
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
];
