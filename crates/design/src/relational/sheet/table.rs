//! The rows of a sheet, whatever its columns are called.

use super::rate;
use crate::exchange::csv;
use crate::relational::naming;

/// A row that describes an access pattern.
pub(in crate::relational) struct Row {
    pub line: usize,
    pub pattern: String,
    /// The entities that its column names.
    pub entities: Vec<String>,
    pub parameters: Vec<String>,
    /// Requests per second.
    pub rate: Option<f64>,
    /// The frequency as it was written.
    pub frequency: String,
}

impl Row {
    /// Where it is, and what it says.
    pub fn origin(&self) -> String {
        format!("line {}: {}", self.line, self.pattern)
    }

    /// What is said of a frequency that is not a rate.
    pub fn rate_remark(&self) -> Option<String> {
        (self.rate.is_none() && !self.frequency.is_empty())
            .then(|| format!("`{}` is not a rate.", self.frequency))
    }
}

/// Reads the tables of a Markdown text, or CSV.
pub(super) fn rows(text: &str) -> Result<Vec<Row>, String> {
    let header = |table: &Cells| table.first().and_then(|(_, header)| Columns::of(header)).is_some();
    let markdown = markdown_tables(text);
    let tables = if markdown.iter().any(header) { markdown } else { vec![csv_table(text)] };
    let mut found = Vec::new();
    for table in tables {
        let Some(((_, header), rows)) = table.split_first() else { continue };
        let Some(columns) = Columns::of(header) else { continue };
        found.extend(rows.iter().filter_map(|(line, cells)| columns.row(*line, cells)));
    }
    if found.is_empty() {
        return Err("there is no table with a column of access patterns, such as `Access pattern`, `Query` or `Use case`".to_owned());
    }
    Ok(found)
}

/// What says that a cell is empty.
const NOTHING: [&str; 3] = ["n/a", "na", "none"];

/// Stands for `\|`, which separates no cells, while a line is split.
const ESCAPED: &str = "\u{0}";

/// The cells of a table's lines, each with its number.
type Cells = Vec<(usize, Vec<String>)>;

fn markdown_tables(text: &str) -> Vec<Cells> {
    let mut tables: Vec<Cells> = vec![Vec::new()];
    for (number, line) in text.lines().enumerate() {
        // The outer marks may be left out.
        let line = line.trim();
        let is_line = !line.is_empty() && line.chars().all(|character| "-─━═+┼╪:| ".contains(character));
        if !line.contains('|') && !is_line {
            tables.push(Vec::new());
            continue;
        }
        let cells: Vec<String> = line
            .strip_prefix('|')
            .unwrap_or(line)
            .trim_end_matches('|')
            .replace("\\|", ESCAPED)
            .split('|')
            .map(|cell| cell.replace(['`', '*'], "").replace(ESCAPED, "|").trim().to_owned())
            .collect();
        if let Some(table) = tables.last_mut().filter(|_| !is_line) {
            table.push((number + 1, cells));
        }
    }
    tables
}

fn csv_table(text: &str) -> Cells {
    let cells = |fields: Vec<Option<String>>| {
        fields.into_iter().map(|field| field.unwrap_or_default().trim().to_owned()).collect()
    };
    let header = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let separators = [',', ';', '\t'].map(|separator| (header.matches(separator).count(), separator));
    let separator = separators.iter().rev().max_by_key(|(count, _)| *count).map_or(',', |(_, own)| *own);
    csv::records_separated_by(text, separator)
        .into_iter()
        .map(|record| (record.line, cells(record.fields)))
        .collect()
}

/// Which columns hold what.
struct Columns {
    pattern: usize,
    entity: Option<usize>,
    parameters: Option<usize>,
    frequency: Option<usize>,
    /// The unit of time that the header names.
    unit: Option<String>,
}

impl Columns {
    fn of(header: &[String]) -> Option<Columns> {
        let find = |words: &[&str]| {
            words.iter().find_map(|word| header.iter().position(|name| name.to_lowercase().contains(word)))
        };
        let frequency = find(&["freq", "rate", "rps", "qps", "tps", "requests", "volume"])
            .or_else(|| header.iter().position(|name| rate::unit(name).is_some()));
        Some(Columns {
            pattern: find(&[
                "access pattern",
                "pattern",
                "use case",
                "question",
                "query",
                "description",
                "operation",
            ])?,
            entity: find(&["entity", "entities"]),
            parameters: find(&["parameter", "input", "given"]),
            frequency,
            unit: frequency.and_then(|column| rate::unit(&header[column])),
        })
    }

    fn row(&self, line: usize, cells: &[String]) -> Option<Row> {
        let cell = |at: Option<usize>| at.and_then(|at| cells.get(at)).cloned().unwrap_or_default();
        let pattern = cell(Some(self.pattern));
        let frequency = cell(self.frequency);
        let parameters = cell(self.parameters);
        let is_name = |name: &&str| {
            name.contains(char::is_alphabetic) && !NOTHING.contains(&name.to_lowercase().as_str())
        };
        let parameters = parameters.replace(" and ", ",");
        let parameters = parameters.split([',', ';', '+', '&']).flat_map(given).filter(is_name);
        let entities = cell(self.entity).replace(" and ", ",");
        let entities = entities
            .split([',', ';', '+', '/', '&'])
            .map(|name| naming::entity(&name.trim().replace(' ', "_")));
        (!pattern.is_empty()).then(|| Row {
            line,
            pattern,
            entities: entities.filter(|entity| !entity.is_empty()).collect(),
            parameters: parameters.map(attribute).collect(),
            rate: rate::of_cell(&frequency, self.unit.as_deref()),
            frequency,
        })
    }
}

/// What a parameter gives: of `status=PAID` the status, of the key `PK = USER#<userId>` the user's identifier.
fn given(parameter: &str) -> Vec<&str> {
    let Some((name, value)) = parameter.split_once('=') else { return vec![parameter.trim()] };
    let name = name.trim().trim_end_matches(['=', ':']);
    let is_key = ["PK", "SK", "HASH", "RANGE"].iter().any(|end| name.to_uppercase().ends_with(end));
    if !is_key {
        return vec![name];
    }
    let parts =
        value.split('#').map(|part| part.trim_matches([' ', '=', '"', '\'', '<', '>', '{', '}', '$']));
    parts.filter(|part| part.contains(char::is_lowercase)).collect()
}

/// The attribute that words name: `user ID` is `userId`; a name that is one already stays as it is.
pub(super) fn attribute(words: &str) -> String {
    let words = words.trim();
    let plain: String =
        words.chars().filter(|character| character.is_alphanumeric() || "_ -".contains(*character)).collect();
    if plain.contains([' ', '-']) { crate::formatting::lower_first(&naming::camel(&plain)) } else { plain }
}
