//! Items as Amazon Ion text, one per line: `$ion_1_0 {Item:{…}}`, or `$ion_1_0 {Record:{…}}` for a changed item. Numbers are
//! decimals, sets are annotated lists (`$dynamodb_SS::["a","b"]`), binary values are blobs.

mod reader;
mod writer;

pub use reader::read_line;
pub use writer::{write_change_line, write_line};

/// The optional start of a record. Some writers put it on its own line at the top of a file.
pub const VERSION_MARKER: &str = "$ion_1_0";

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use partita_wire::{ChangeLine, decode_put_line, encode_item_line};

    fn ion_of(json: &str) -> String {
        let mut line = Vec::new();
        write_line(decode_put_line(json.as_bytes()).unwrap().item.view(), &mut line);
        String::from_utf8(line).unwrap()
    }

    fn json_of(ion: &str) -> Result<String, String> {
        let mut line = Vec::new();
        encode_item_line(read_line(ion.as_bytes())?.item.view(), &mut line);
        Ok(String::from_utf8(line).unwrap().trim_end().to_owned())
    }

    const ALL: &str = r#"{"Item":{"Id":{"N":"103"},"Price":{"N":"-0.25"},"a b":{"S":"q\"\\\n'ü\u0001"},"b":{"B":"AP8="},"bool":{"BOOL":true},"bs":{"BS":["AQ==","Ag=="]},"l":{"L":[{"NULL":true},{"M":{}},{"L":[]},{"N":"1"}]},"m":{"M":{"null":{"S":""}}},"ns":{"NS":["1","2.5"]},"ss":{"SS":["a","b"]}}}"#;

    #[test]
    fn every_type_survives_a_round_trip() {
        assert_eq!(json_of(&ion_of(ALL)).unwrap(), ALL);
    }

    #[test]
    fn types_are_written_like_aws() {
        let ion = ion_of(ALL);
        for part in [
            "$ion_1_0 {Item:{Id:103.,",
            "Price:-0.25",
            "ss:$dynamodb_SS::[\"a\",\"b\"]",
            "b:{{AP8=}}",
            "'null':\"\"",
        ] {
            assert!(ion.contains(part), "{part} in {ion}");
        }
    }

    #[test]
    fn a_change_is_a_record_with_its_images() {
        let keys = decode_put_line(br#"{"Item":{"Id":{"N":"103"}}}"#).unwrap().item;
        let new = decode_put_line(br#"{"Item":{"Id":{"N":"103"},"a b":{"S":"x"}}}"#).unwrap().item;
        let change = ChangeLine {
            written_micros: 1_712_345_678_901_234,
            keys: keys.view(),
            new_image: Some(new.view()),
            old_image: None,
        };
        let written = |change: &ChangeLine<'_>| {
            let mut line = Vec::new();
            write_change_line(change, &mut line);
            String::from_utf8(line).unwrap()
        };
        let start = "$ion_1_0 {Record:{Metadata:{WriteTimestampMicros:1712345678901234.},Keys:{Id:103.}";
        assert_eq!(written(&change), format!("{start},NewImage:{{Id:103.,'a b':\"x\"}}}}}}\n"));
        let deleted = ChangeLine { new_image: None, old_image: Some(keys.view()), ..change };
        assert_eq!(written(&deleted), format!("{start},OldImage:{{Id:103.}}}}}}\n"));
    }

    #[test]
    fn lines_of_aws_are_read() {
        let line = r#"$ion_1_0 {Item:{Authors:$dynamodb_SS::["Author1","Author2"],Id:103.,InPublication:false,PageCount:6d2,Price:2d3,Title:"Book"}}"#;
        assert_eq!(
            json_of(line).unwrap(),
            r#"{"Item":{"Authors":{"SS":["Author1","Author2"]},"Id":{"N":"103"},"InPublication":{"BOOL":false},"PageCount":{"N":"600"},"Price":{"N":"2000"},"Title":{"S":"Book"}}}"#
        );
        let spaced = "{ Item : { /* a */ x : 1 , 'y' : null.string, z: sym, } } // end";
        assert_eq!(json_of(spaced).unwrap(), r#"{"Item":{"x":{"N":"1"},"y":{"NULL":true},"z":{"S":"sym"}}}"#);
    }

    #[test]
    fn conditions_are_the_same_as_in_json() {
        let ion = r#"{Item:{a:1},ConditionExpression:"attribute_not_exists(a) OR #b < :v",ExpressionAttributeNames:{'#b':"b"},ExpressionAttributeValues:{':v':5}}"#;
        let json = r##"{"Item":{"a":{"N":"1"}},"ConditionExpression":"attribute_not_exists(a) OR #b < :v","ExpressionAttributeNames":{"#b":"b"},"ExpressionAttributeValues":{":v":{"N":"5"}}}"##;
        assert_eq!(read_line(ion.as_bytes()).unwrap(), decode_put_line(json.as_bytes()).unwrap());
        for invalid in [
            "{Item:{a:1},ConditionExpression:1}",
            "{Item:{a:1},ConditionExpression:\"a = :a\"}",
            "{Item:{a:1},ConditionExpression:\"#a = #a\",ExpressionAttributeNames:{'#a':1}}",
        ] {
            assert!(read_line(invalid.as_bytes()).is_err(), "{invalid}");
        }
    }

    #[test]
    fn the_nesting_limit_is_the_same_as_in_json() {
        for levels in [1, 30, 31, 32, 33, 34] {
            for innermost in ["", "1"] {
                let (open, close) = ("[".repeat(levels), "]".repeat(levels));
                let ion = read_line(format!("{{Item:{{a:{open}{innermost}{close}}}}}").as_bytes());
                let innermost = if innermost.is_empty() { "" } else { r#"{"N":"1"}"# };
                let (open, close) = (r#"{"L":["#.repeat(levels), "]}".repeat(levels));
                let json = format!(r#"{{"Item":{{"a":{open}{innermost}{close}}}}}"#);
                assert_eq!(ion.ok(), decode_put_line(json.as_bytes()).ok(), "{levels} {innermost}");
            }
        }
    }

    #[test]
    fn invalid_lines_are_rejected() {
        let deep = format!("{{Item:{{a:{}{}}}}}", "[".repeat(10_000), "]".repeat(10_000));
        for line in [
            "",
            "{",
            "{Item:",
            "{Item:1}",
            "{Other:{}}",
            "{Item:{a:}}",
            "{Item:{a:1}} x",
            "{Item:{a:\"x}}",
            "{Item:{a:x::[1]}}",
            "{Item:{a:$dynamodb_SS::[]}}",
            "{Item:{a:$dynamodb_SS::[1]}}",
            "{Item:{a:{{!}}}}",
            "{Item:{a:1x}}",
            "{Item:{a:nan}}",
            "{Item:{a:[+inf]}}",
            "{Item:{a:-inf}}",
            "{Item:{\"\":1}}",
            "{Item:{a:\"\\q\"}}",
            "{Item:{a:1 b:2}}",
            &deep,
        ] {
            assert!(json_of(line).is_err(), "{line}");
        }
    }
}
