//! The attribute types of the types that columns have.

use crate::model::value_type::ValueType;

/// Words as a type of choices, if a model can write them so.
pub(super) fn choice(words: &[String]) -> Option<ValueType> {
    let fine = |word: &String| !word.is_empty() && word.trim() == word && !word.contains(['|', '?', '#']);
    (words.len() > 1 && words.iter().all(fine)).then(|| ValueType::Choice(words.to_vec().into()))
}

/// The attribute type of a built-in type.
pub(super) fn builtin(word: &str) -> Option<ValueType> {
    Some(match word {
        "int" | "integer" | "int2" | "int4" | "int8" | "smallint" | "bigint" | "mediumint" | "tinyint"
        | "serial" | "bigserial" | "smallserial" | "serial4" | "serial8" | "year" | "oid" => ValueType::Int,
        "bool" | "boolean" => ValueType::Bool,
        "numeric" | "decimal" | "dec" | "real" | "double" | "float" | "float4" | "float8" | "money"
        | "number" => ValueType::Decimal,
        "text" | "varchar" | "char" | "character" | "bpchar" | "citext" | "name" | "nchar" | "nvarchar"
        | "varchar2" | "tinytext" | "mediumtext" | "longtext" | "clob" | "string" | "time" | "timetz"
        | "interval" | "inet" | "cidr" | "macaddr" | "xml" | "bit" | "varbit" | "set" => ValueType::String,
        "uuid" | "uniqueidentifier" => ValueType::Uuid,
        "date" => ValueType::Date,
        "timestamp" | "timestamptz" | "datetime" | "datetime2" => ValueType::Timestamp,
        "bytea" | "blob" | "tinyblob" | "mediumblob" | "longblob" | "binary" | "varbinary" => {
            ValueType::Binary
        }
        "json" | "jsonb" | "hstore" => ValueType::Map,
        _ => return None,
    })
}
