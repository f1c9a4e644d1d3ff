//! `/_partita/model`: GET shows the figures, PUT attaches a model (its text is the body), DELETE detaches one.
//!
//! `?table=NAME` chooses among several; `?mode=enforce` refuses what breaks the model, `warn` logs it.

use super::{Mode, ModelWatch, Models};
use hyper::Method;
use partita_api::Exception;
use partita_design::{Source, read, report};
use serde_json::json;

/// Where it is.
pub const PATH: &str = "/_partita/model";

impl Models {
    /// The answer as JSON.
    pub fn administer(&self, method: &Method, query: &str, body: &[u8]) -> Result<Vec<u8>, Exception> {
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
