//! Tags of tables: what a migration must remember until it is finished, even if it is killed.

use super::Migration;
use serde_json::{Value, json};

impl Migration<'_> {
    /// The value of a tag of a table; `None` also where the database has no tags.
    pub(super) fn tag(&mut self, description: &Value, name: &str) -> Option<String> {
        let request = json!({ "ResourceArn": description["TableArn"] });
        let tags = self.call("ListTagsOfResource", &request).ok()?;
        let tag = tags["Tags"].as_array()?.iter().find(|tag| tag["Key"] == name)?;
        tag["Value"].as_str().map(str::to_owned)
    }

    pub(super) fn set_tag(&mut self, description: &Value, name: &str, value: &str) -> Result<(), String> {
        let tags = json!([{ "Key": name, "Value": value }]);
        self.call("TagResource", &json!({ "ResourceArn": description["TableArn"], "Tags": tags })).map(|_| ())
    }

    pub(super) fn remove_tag(&mut self, description: &Value, name: &str) -> Result<(), String> {
        let request = json!({ "ResourceArn": description["TableArn"], "TagKeys": [name] });
        self.call("UntagResource", &request).map(|_| ())
    }
}
