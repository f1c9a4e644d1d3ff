//! Only `wire` knows DynamoDB JSON; other JSON is only where it is listed.

use super::Repository;
use super::layers::TOOLS;
use super::source::SourceFile;

/// Crates of the product that may depend on serde_json, and what for.
const SERDE_JSON: &[(&str, &str)] = &[
    ("design", "reports, SARIF, and files of other tools"),
    ("engine", "the catalog's records"),
    ("exchange", "manifests of exports"),
    ("partita", "reports, and items that model commands send to any endpoint"),
    ("server", "readiness, verification and attached models"),
];

/// Where else DynamoDB's type descriptors are named in JSON, and why.
const DYNAMODB_JSON: &[(&str, &str)] = &[
    ("crates/design/src/exchange/item_json.rs", "the files of other tools contain items"),
    ("crates/partita/src/model/", "model commands are clients: they exchange items with any endpoint"),
    ("crates/partita/src/transfer/", "dump and load are clients: they exchange items with any endpoint"),
];

/// How a type descriptor looks as a member of a JSON object: in `json!`, in plain and in escaped text, and when it is looked up.
const MEMBERS: [(&str, &str); 5] =
    [("{ \"", "\":"), ("{\"", "\":"), ("\\\"", "\\\":"), (".get(\"", "\")"), ("[\"", "\"]")];
const DESCRIPTORS: [&str; 10] = ["S", "N", "B", "SS", "NS", "BS", "M", "L", "BOOL", "NULL"];

pub fn problems(repository: &Repository) -> Vec<String> {
    let of_manifests = repository.manifests.iter().filter_map(|manifest| {
        let name = manifest.crate_name.as_str();
        let may = TOOLS.contains(&name) || SERDE_JSON.iter().any(|(of, _)| *of == name);
        (!may && manifest.dependencies().any(|dependency| dependency == "serde_json"))
            .then(|| format!("crates/{name}/Cargo.toml: must not depend on serde_json"))
    });
    of_manifests.chain(repository.files.iter().flat_map(descriptors_outside_wire)).collect()
}

fn descriptors_outside_wire(file: &SourceFile) -> Vec<String> {
    let may = file.crate_name().is_some_and(|name| name == "wire" || TOOLS.contains(&name))
        || DYNAMODB_JSON.iter().any(|(folder, _)| file.path.starts_with(folder));
    if may {
        return Vec::new();
    }
    let lines = file.product_lines().filter(|(_, line)| has_descriptor(line));
    lines.map(|(number, _)| format!("{}:{number}: only wire knows DynamoDB JSON", file.path)).collect()
}

fn has_descriptor(line: &str) -> bool {
    let mut members = MEMBERS.iter().flat_map(|(before, after)| {
        DESCRIPTORS.iter().map(move |descriptor| format!("{before}{descriptor}{after}"))
    });
    members.any(|member| line.contains(&member))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_found_outside_wire() {
        for line in
            [r#"json!({ "S": text })"#, r##"r#"{"N":"1"}"#"##, r#""{\"SS\":[]}""#, r#"value.get("S")"#]
        {
            let file =
                |path: &str| SourceFile { path: path.to_owned(), text: format!("//! What.\n{line}\n") };
            assert_eq!(descriptors_outside_wire(&file("crates/engine/src/a.rs")).len(), 1, "{line}");
            assert_eq!(descriptors_outside_wire(&file("crates/wire/src/a.rs")), [""; 0]);
        }
        assert!(!has_descriptor(r#""S" => ScalarType::S,"#));
    }
}
