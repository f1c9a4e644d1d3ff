//! Every pattern of every system under `examples/` gets exactly the response that its file specifies, through the Rust SDK.
//! The endpoint comes from `PARTITA_ENDPOINT`.

#[path = "support/answer.rs"]
mod answer;
#[path = "support/request.rs"]
mod request;
#[path = "support/value.rs"]
mod value;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use answer::Answer;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_dynamodb::types::TableStatus;
use serde_json::{Map, Value};

#[tokio::test]
async fn every_pattern_of_every_example_is_served() {
    let client = client();
    let files = example_files();
    assert!(files.len() >= 17, "found {} examples", files.len());
    let mut failures = Vec::new();
    let mut patterns = 0;
    for file in files {
        let system = System::create(&client, &file).await;
        for pattern in system.patterns() {
            patterns += 1;
            if let Err(failure) = system.run(pattern).await {
                failures.push(format!("{}: {}: {failure}", file.display(), pattern["name"]));
            }
        }
        client.delete_table().table_name(&system.name).send().await.expect("the table is deleted");
    }
    println!("{patterns} patterns, {} failures", failures.len());
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

fn client() -> Client {
    let endpoint = std::env::var("PARTITA_ENDPOINT").expect("PARTITA_ENDPOINT is set");
    let config = aws_sdk_dynamodb::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("test", "test", None, None, "test"))
        .endpoint_url(endpoint)
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .build();
    Client::from_conf(config)
}

fn example_files() -> Vec<PathBuf> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples");
    let folders = fs::read_dir(&examples).expect("the examples are there");
    let mut files: Vec<_> = folders
        .map(|entry| entry.expect("a readable folder").path().join("system.json"))
        .filter(|file| file.exists())
        .collect();
    files.sort();
    files
}

/// One example: its file, and the table made from it.
struct System<'a> {
    client: &'a Client,
    file: Value,
    name: String,
    keys: Vec<String>,
}

impl<'a> System<'a> {
    async fn create(client: &'a Client, path: &Path) -> Self {
        let text = fs::read_to_string(path).expect("a readable example");
        let file: Value = serde_json::from_str(&text).expect("an example in JSON");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970").as_nanos();
        let name = format!("{}-{now:x}", value::text(&file["table"]["TableName"]));
        let keys = value::list(&file["table"]["KeySchema"]);
        let keys = keys.iter().map(|part| value::text(&part["AttributeName"]).to_owned()).collect();
        request::create_table(client, &file["table"], &name).await;
        let system = Self { client, file, name, keys };
        system.until_active().await;
        for item in value::list(&system.file["items"]) {
            let put = client.put_item().table_name(&system.name).set_item(Some(value::from_plain_item(item)));
            put.send().await.expect("the item is put");
        }
        system
    }

    async fn until_active(&self) {
        loop {
            let described =
                self.client.describe_table().table_name(&self.name).send().await.expect("the table is there");
            if described.table().and_then(|table| table.table_status()) == Some(&TableStatus::Active) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    fn patterns(&self) -> &[Value] {
        value::list(&self.file["patterns"])
    }

    async fn run(&self, pattern: &Value) -> Result<(), String> {
        let steps = match pattern.get("steps") {
            Some(steps) => value::list(steps),
            None => std::slice::from_ref(pattern),
        };
        let mut gathered = Vec::new();
        for step in steps {
            gathered.extend(self.step(&step["request"], &step["expect"]).await?);
        }
        if let Some(gather) = pattern.get("gather") {
            let by = value::text(&gather["by"]);
            gathered.sort_by_key(|item| item[by].to_string());
            return same("gathered", &self.key_list(&gathered), &gather["keys"]);
        }
        Ok(())
    }

    /// A query of a global index is repeated until it agrees: such indexes are eventually consistent.
    async fn step(&self, request: &Value, expect: &Value) -> Result<Vec<Value>, String> {
        let end = Instant::now() + Duration::from_secs(5);
        loop {
            let answer = request::send(self.client, request, &self.name).await?;
            let checked = self.check(answer, expect);
            if checked.is_ok() || request.get("IndexName").is_none() || Instant::now() > end {
                return checked;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    fn check(&self, mut answer: Answer, expect: &Value) -> Result<Vec<Value>, String> {
        let mut expect = value::map(expect).clone();
        same("error", &answer.error.clone().into(), expect.get("error").unwrap_or(&Value::Null))?;
        if answer.unordered {
            answer.items.sort_by_key(Value::to_string);
            sort_lists(&mut expect);
        }
        for (name, expected) in &expect {
            let mut actual = self.actual(name, &answer)?;
            if answer.unordered && name == "keys" {
                actual.as_array_mut().expect("a list of keys").sort_by_key(Value::to_string);
            }
            same(name, &actual, expected)?;
        }
        Ok(answer.items)
    }

    fn actual(&self, name: &str, answer: &Answer) -> Result<Value, String> {
        Ok(match name {
            "error" => answer.error.clone().into(),
            "reasons" => answer.reasons.clone().into(),
            "keys" => self.key_list(&answer.items),
            "items" => answer.items.clone().into(),
            "item" => answer.item.clone().into(),
            "attributes" => answer.attributes.clone().into(),
            "count" => answer.count.into(),
            "scannedCount" => answer.scanned_count.into(),
            "more" => answer.last_evaluated_key.is_some().into(),
            "lastEvaluatedKey" => answer.last_evaluated_key.clone().into(),
            other => return Err(format!("an unknown expectation: {other}")),
        })
    }

    fn key_list(&self, items: &[Value]) -> Value {
        let key = |item: &Value| Value::Array(self.keys.iter().map(|name| item[name].clone()).collect());
        items.iter().map(key).collect()
    }
}

fn sort_lists(expect: &mut Map<String, Value>) {
    for list in expect.values_mut().filter_map(Value::as_array_mut) {
        list.sort_by_key(Value::to_string);
    }
}

fn same(what: &str, actual: &Value, expected: &Value) -> Result<(), String> {
    if actual == expected {
        return Ok(());
    }
    Err(format!("{what} is {actual}, expected {expected}"))
}
