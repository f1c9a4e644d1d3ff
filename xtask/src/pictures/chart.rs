//! The benchmark as bars, as SVG: requests per second compared with a bare HTTP server.

use super::escaped;
use std::fmt::Write;

/// The rows of docs/benchmarks.md that are drawn.
const CONNECTIONS: &str = "32";
const LABELS: usize = 230;
const BARS: usize = 470;
const WIDTH: usize = 860;
const TOP: usize = 74;
const ROW: usize = 27;

/// What the workloads of the benchmark are called in the chart.
const NAMES: [(&str, &str); 13] = [
    ("get", "GetItem"),
    ("get_projected", "GetItem, three attributes"),
    ("query", "Query, ten items"),
    ("query_gsi", "Query of a global index, ten"),
    ("query_filter", "Query with a filter"),
    ("batch_get25", "BatchGetItem, 25 items"),
    ("scan_page", "Scan, 100 items"),
    ("put_new", "PutItem"),
    ("put_indexed", "PutItem, also into an index"),
    ("update", "UpdateItem"),
    ("update_hot", "UpdateItem, one hot item"),
    ("transact4", "TransactWriteItems, 4 items"),
    ("batch_write25", "BatchWriteItem, 25 items"),
];

const STYLE: &str = "\
text { font: 13px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif; fill: #1f2328 }
.title { font-size: 16px; font-weight: 600 } .small { font-size: 12px; fill: #59636e }
.card { fill: #ffffff; stroke: #d1d9e0 } .bare { fill: #d1d9e0 } .partita { fill: #0969da }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .small { fill: #9198a1 } .card { fill: #0d1117; stroke: #3d444d } .bare { fill: #3d444d } .partita { fill: #4493f8 }
}
";

/// Requests per second of one workload.
pub struct Rate {
    workload: String,
    partita: u64,
    bare: u64,
    p99: String,
}

/// The measured rates, from the table in docs/benchmarks.md.
pub fn rates(document: &str) -> Vec<Rate> {
    let rows = document.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let cells = rows.map(|row| row.split(" | ").collect::<Vec<_>>());
    cells.filter_map(|cells| rate(&cells)).collect()
}

fn rate(cells: &[&str]) -> Option<Rate> {
    let [workload, CONNECTIONS, partita, bare, ..] = cells else { return None };
    NAMES.iter().find(|(name, _)| name == workload)?;
    let p99 = (*cells.get(9)?).to_owned();
    Some(Rate {
        workload: (*workload).to_owned(),
        partita: partita.parse().ok()?,
        bare: bare.parse().ok()?,
        p99,
    })
}

pub fn table(rates: &[Rate]) -> String {
    let mut csv = String::from("workload,partita_per_second,bare_hyper_per_second,p99_ms\n");
    for Rate { workload, partita, bare, p99 } in rates {
        let _ = writeln!(csv, "{workload},{partita},{bare},{p99}");
    }
    csv
}

pub fn picture(rates: &[Rate]) -> String {
    let height = TOP + rates.len() * ROW + 16;
    let most = rates.iter().map(|rate| rate.partita.max(rate.bare)).max().unwrap_or(1).max(1);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\">\n\
         <title>Requests per second: Partita compared with a bare HTTP server</title>\n<style>\n{STYLE}</style>\n\
         <rect class=\"card\" x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"8\"/>\n\
         <text class=\"title\" x=\"18\" y=\"29\">Requests per second over {CONNECTIONS} connections</text>\n\
         <rect class=\"partita\" x=\"18\" y=\"43\" width=\"12\" height=\"12\"/><text class=\"small\" x=\"36\" y=\"53\">Partita (labelled): writes are on disk before the response</text>\n\
         <rect class=\"bare\" x=\"372\" y=\"43\" width=\"12\" height=\"12\"/><text class=\"small\" x=\"390\" y=\"53\">bare hyper server: same bytes, stores nothing</text>\n",
        WIDTH - 1,
        height - 1,
    );
    for (number, rate) in rates.iter().enumerate() {
        svg.push_str(&row(rate, TOP + number * ROW, most));
    }
    svg.push_str("</svg>\n");
    svg
}

fn row(rate: &Rate, y: usize, most: u64) -> String {
    let name = NAMES.iter().find(|(name, _)| *name == rate.workload).map_or("", |(_, title)| title);
    let length = |rate: u64| BARS as f64 * rate as f64 / most as f64;
    let (bare, partita) = (length(rate.bare), length(rate.partita));
    let label_x = LABELS as f64 + bare.max(partita) + 8.0;
    format!(
        "<text x=\"18\" y=\"{}\">{}</text><rect class=\"bare\" x=\"{LABELS}\" y=\"{y}\" width=\"{bare:.1}\" height=\"19\"/>\
         <rect class=\"partita\" x=\"{LABELS}\" y=\"{}\" width=\"{partita:.1}\" height=\"11\"/>\
         <text class=\"small\" x=\"{label_x:.1}\" y=\"{}\">{} · p99 {} ms</text>\n",
        y + 14,
        escaped(name),
        y + 4,
        y + 14,
        grouped(rate.partita),
        rate.p99,
    )
}

/// `79075` as `79,075`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let first = (digits.len() + 2) % 3 + 1;
    let (head, tail) = digits.split_at(first);
    let groups = tail.as_bytes().chunks(3).map(|group| String::from_utf8_lossy(group).into_owned());
    std::iter::once(head.to_owned()).chain(groups).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_from_the_table() {
        let row = "| get | 32 | 79075 | 88837 | 0.89 | 0.97 | 0.85 | – | 0.386 | 1.128 | 3.0 | 2.785 |";
        let rates = rates(&format!("text\n{row}\n| get | 1 | 21254 | 16505 |\n"));
        assert_eq!(table(&rates).lines().nth(1), Some("get,79075,88837,1.128"));
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!([7, 512, 4907, 79_075, 101_284].map(grouped), ["7", "512", "4,907", "79,075", "101,284"]);
    }
}
