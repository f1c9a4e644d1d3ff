//! `/_partita/model`: GET returns the statistics, PUT attaches a model (its text is the body), DELETE detaches one.
//!
//! `?table=NAME` chooses among several; `?mode=enforce` refuses what violates the model, `warn` logs it.

use super::{Mode, ModelWatch, Models};
use hyper::Method;
use partita_api::Exception;
use partita_design::{Source, read, report};
use partita_engine::offload::heavy_work::offload;
use serde_json::json;
use std::sync::Arc;

pub const PATH: &str = "/_partita/model";
/// The work of attaching a model, in bytes to process: its keys are compared with each other.
const ATTACH_WORK: usize = 16 << 20;

impl Models {
    /// The response to a request, as JSON; computed on another thread.
    pub async fn handle(
        self: &Arc<Models>,
        method: &Method,
        query: &str,
        body: Vec<u8>,
    ) -> Result<Vec<u8>, Exception> {
        let work = if *method == Method::PUT { ATTACH_WORK } else { body.len() };
        let (models, method, query) = (Arc::clone(self), method.clone(), query.to_owned());
        offload(work, move || models.handle_now(&method, &query, &body)).await?
    }

    fn handle_now(&self, method: &Method, query: &str, body: &[u8]) -> Result<Vec<u8>, Exception> {
        let table = parameter(query, "table");
        let answer = match *method {
            Method::GET => self.show(table.as_deref())?,
            Method::PUT => self.put(table.as_deref(), parameter(query, "mode").as_deref(), body)?,
            Method::DELETE => {
                let table =
                    table.ok_or_else(|| Exception::validation("The table is missing: ?table=NAME"))?;
                if !self.detach(&table) {
                    return Err(no_model(&table));
                }
                json!({ "detached": table })
            }
            _ => return Err(Exception::validation("Only GET, PUT and DELETE are supported")),
        };
        Ok(answer.to_string().into_bytes())
    }

    /// The statistics of one model, or of all.
    fn show(&self, table: Option<&str>) -> Result<serde_json::Value, Exception> {
        let all = self.all();
        match table {
            Some(table) => {
                let found = all.iter().find(|watch| watch.table() == table);
                found.map(|watch| watch.json()).ok_or_else(|| no_model(table))
            }
            None => Ok(json!({ "models": all.iter().map(|watch| watch.json()).collect::<Vec<_>>() })),
        }
    }

    fn put(
        &self,
        table: Option<&str>,
        mode: Option<&str>,
        body: &[u8],
    ) -> Result<serde_json::Value, Exception> {
        let mode = match mode.unwrap_or("warn") {
            "warn" => Mode::Warn,
            "enforce" => Mode::Enforce,
            other => return Err(Exception::validation(format!("Unknown mode {other}: use warn or enforce"))),
        };
        let source = Source::new("model", String::from_utf8_lossy(body));
        let mut model =
            read(&source).map_err(|findings| Exception::validation(report::text_of(&findings, &source)))?;
        if let Some(table) = table {
            table.clone_into(&mut model.table.name);
        }
        let attached = json!({ "attached": model.table.name, "mode": mode.name() });
        self.attach(ModelWatch::new(model, mode))?;
        Ok(attached)
    }
}

fn no_model(table: &str) -> Exception {
    Exception::validation(format!("No model is attached to table {table}"))
}

/// A query parameter. Table names need no percent-encoding.
fn parameter(query: &str, name: &str) -> Option<String> {
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, v)| v.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yield_counter::count_yields;

    /// A model whose keys share a long text after a field that may match any part of it.
    fn model(length: usize) -> Vec<u8> {
        let mut text = "format = 1\n[table]\nname = \"T\"\nkeys = [\"PK\"]\n[pattern]\np = { in = [\"a\"], out = \"E0*\" }\n".to_owned();
        for number in 0..2 {
            let key = format!("{{a}}{}{number}", "a".repeat(length));
            text += &format!("[entity.E{number}]\nattributes = {{ a = \"string\" }}\nkey = [\"{key}\"]\n");
        }
        text.into_bytes()
    }

    #[tokio::test]
    async fn attaching_a_model_yields_to_other_tasks() {
        let models = Arc::new(Models::default());
        let (response, yields) = count_yields(models.handle(&Method::PUT, "", model(2_000))).await;
        assert_eq!(response.unwrap(), br#"{"attached":"T","mode":"warn"}"#);
        assert!(yields > 0);
    }

    #[tokio::test]
    async fn templates_longer_than_keys_are_refused() {
        let models = Arc::new(Models::default());
        let refused = models.handle(&Method::PUT, "", model(100_000)).await.unwrap_err();
        assert!(
            refused.message.contains("P004") && refused.message.contains("the template is too long"),
            "{}",
            refused.message
        );
        assert!(refused.message.len() < 5_000);
        let decimals = String::from_utf8(model(1)).unwrap().replace("{a}", "{a:08.70000}");
        let refused = models.handle(&Method::PUT, "", decimals.into_bytes()).await.unwrap_err();
        assert!(refused.message.contains("`08.70000` is not a format"), "{}", refused.message);
    }

    /// A model whose keys have many parts.
    fn parts(entities: usize) -> Vec<u8> {
        let mut text = "format = 1\n[table]\nname = \"Tab\"\nkeys = [\"PK\"]\n[pattern]\np = { in = [\"a\"], out = \"E0*\" }\n".to_owned();
        for number in 0..entities {
            let key = format!("{}Z{number}", "{a}#{b}#".repeat(200));
            text += &format!(
                "[entity.E{number}]\nattributes = {{ a = \"string\", b = \"string\" }}\nkey = [\"{key}\"]\n"
            );
        }
        text.into_bytes()
    }

    #[tokio::test]
    async fn checking_a_request_against_long_templates_yields_to_other_tasks() {
        let models = Arc::new(Models::default());
        models.clone().handle(&Method::PUT, "", parts(10)).await.unwrap();
        let body = format!(r#"{{"TableName":"Tab","Item":{{"PK":{{"S":"{}"}}}}}}"#, "a#".repeat(1_000));
        let Ok(request) = partita_wire::decode(partita_api::Operation::PutItem, body.as_bytes()) else {
            panic!("no request")
        };
        let (checked, yields) = count_yields(models.clone().check(request, body.len())).await;
        assert!(checked.is_ok() && yields > 0);
        let refused = models.handle(&Method::PUT, "", parts(60)).await.unwrap_err();
        assert!(refused.message.contains("parts together"), "{}", refused.message);
    }
}
