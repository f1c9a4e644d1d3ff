//! Items as the lines of an export's data files.

use crate::ion;
use partita_value::ItemRef;
use partita_wire::encode_item_line;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExportFormat {
    DynamoDbJson,
    Ion,
}

impl ExportFormat {
    /// How the names of data files end.
    pub fn ending(self) -> &'static str {
        match self {
            ExportFormat::DynamoDbJson => "json.gz",
            ExportFormat::Ion => "ion.gz",
        }
    }

    pub fn write(self, item: ItemRef<'_>, out: &mut Vec<u8>) {
        match self {
            ExportFormat::DynamoDbJson => encode_item_line(item, out),
            ExportFormat::Ion => ion::write_line(item, out),
        }
    }
}
