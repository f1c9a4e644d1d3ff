//! `/_partita/model`: GET shows the figures, PUT attaches a model (its text is the body), DELETE detaches one.
//!
//! `?table=NAME` chooses among several; `?mode=enforce` refuses what breaks the model, `warn` logs it.

use super::{Mode, ModelWatch, Models};
use hyper::Method;
use partita_api::Exception;
use partita_design::{Source, read, report};
use partita_engine::offload::heavy_work::offload;
use serde_json::json;
use std::sync::Arc;

/// Where it is.
pub const PATH: &str = "/_partita/model";
/// As work, to attach a model is like looking at so many bytes: its keys are compared with each other.
const ATTACHING: usize = 16 << 20;

impl Models {
    /// The answer as JSON, made aside.
    pub async fn administer(
        self: &Arc<Models>,
        method: &Method,
        query: &str,
        body: Vec<u8>,
    ) -> Result<Vec<u8>, Exception> {
        let work = if *method == Method::PUT { ATTACHING } else { body.len() };
        let (models, method, query) = (Arc::clone(self), method.clone(), query.to_owned());
        offload(work, move || models.answer(&method, &query, &body)).await?
    }

    fn answer(&self, method: &Method, query: &str, body: &[u8]) -> Result<Vec<u8>, Exception> {
        let table = parameter(query, "table");
        let answer = match *method {
            Method::GET => self.show(table.as_deref())?,
            Method::PUT => self.put(table.as_deref(), parameter(query, "mode").as_deref(), body)?,
            Method::DELETE => {
                let table = table.ok_or_else(|| Exception::validation("Say which table: ?table=NAME"))?;
                if !self.detach(&table) {
                    return Err(no_model(&table));
                }
                json!({ "detached": table })
            }
            _ => return Err(Exception::validation("GET, PUT or DELETE")),
        };
        Ok(answer.to_string().into_bytes())
    }

    /// One model's figures, or all of them.
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
            other => return Err(Exception::validation(format!("{other} is no mode: warn or enforce"))),
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

/// A parameter of the query. Names of tables have only letters that need no escape.
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
    use crate::turns::turns_beside;

    /// Keys that are alike for long, behind a field that may be any part of that.
    fn model(length: usize) -> Vec<u8> {
        let mut text = "format = 1\n[table]\nname = \"T\"\nkeys = [\"PK\"]\n[pattern]\np = { in = [\"a\"], out = \"E0*\" }\n".to_owned();
        for number in 0..2 {
            let key = format!("{{a}}{}{number}", "a".repeat(length));
            text += &format!("[entity.E{number}]\nattributes = {{ a = \"string\" }}\nkey = [\"{key}\"]\n");
        }
        text.into_bytes()
    }

    #[tokio::test]
    async fn others_are_served_while_a_model_is_attached() {
        let models = Arc::new(Models::default());
        let (answer, turns) = turns_beside(models.administer(&Method::PUT, "", model(2_000))).await;
        assert_eq!(answer.unwrap(), br#"{"attached":"T","mode":"warn"}"#);
        assert!(turns > 0);
    }

    #[tokio::test]
    async fn templates_longer_than_keys_are_refused() {
        let models = Arc::new(Models::default());
        let refused = models.administer(&Method::PUT, "", model(100_000)).await.unwrap_err();
        assert!(
            refused.message.contains("P004") && refused.message.contains("the template is too long"),
            "{}",
            refused.message
        );
        assert!(refused.message.len() < 5_000);
        let decimals = String::from_utf8(model(1)).unwrap().replace("{a}", "{a:08.70000}");
        let refused = models.administer(&Method::PUT, "", decimals.into_bytes()).await.unwrap_err();
        assert!(refused.message.contains("`08.70000` is no format"), "{}", refused.message);
    }

    /// Entities whose keys have many parts.
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
    async fn others_are_served_while_a_request_is_held_against_long_templates() {
        let models = Arc::new(Models::default());
        models.clone().administer(&Method::PUT, "", parts(10)).await.unwrap();
        let body = format!(r#"{{"TableName":"Tab","Item":{{"PK":{{"S":"{}"}}}}}}"#, "a#".repeat(1_000));
        let Ok(request) = partita_wire::decode(partita_api::Operation::PutItem, body.as_bytes()) else {
            panic!("no request")
        };
        let (held, turns) = turns_beside(models.clone().hold_against(request, body.len())).await;
        assert!(held.is_ok() && turns > 0);
        let refused = models.administer(&Method::PUT, "", parts(60)).await.unwrap_err();
        assert!(refused.message.contains("parts together"), "{}", refused.message);
    }
}
