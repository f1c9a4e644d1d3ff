//! `/_partita/model`: GET returns the statistics, PUT attaches a model (its text is the body), DELETE detaches one.
//!
//! `?table=NAME` chooses among several; `?mode=enforce` refuses what violates the model, `warn` logs it; `?reads=warn|enforce` does so with reads
//! that no pattern declares; `?force=true` allows lowering the rules of an enforced model. `?transition=true` attaches two models, `{"old": …, "new": …}`: the
//! table is being migrated, and what follows either of them is right.

use super::{Mode, ModelWatch, Models, check_effort};
use hyper::Method;
use partita_api::Exception;
use partita_design::model::ReadRule;
use partita_design::{Model, Source, read, report};
use partita_engine::offload::heavy_work::offload;
use partita_value::names::is_resource_name;
use serde_json::json;
use std::sync::Arc;

pub const PATH: &str = "/_partita/model";
/// The work of attaching or showing a model, in bytes to process: its keys are compared with each other, and its indexes priced.
const MODEL_WORK: usize = 16 << 20;

impl Models {
    /// The response to a request, as JSON; computed on another thread.
    pub async fn handle(
        self: &Arc<Models>,
        method: &Method,
        query: &str,
        body: Vec<u8>,
    ) -> Result<Vec<u8>, Exception> {
        let (models, method, query) = (Arc::clone(self), method.clone(), query.to_owned());
        offload(MODEL_WORK, move || models.handle_now(&method, &query, &body)).await?
    }

    fn handle_now(&self, method: &Method, query: &str, body: &[u8]) -> Result<Vec<u8>, Exception> {
        let table = parameter(query, "table");
        let answer = match *method {
            Method::GET => self.show(table.as_deref())?,
            Method::PUT => self.put(table.as_deref(), query, body)?,
            Method::DELETE => {
                let table =
                    table.ok_or_else(|| Exception::validation("The table is missing: ?table=NAME"))?;
                if !is_resource_name(&table) {
                    return Err(no_model(&table));
                }
                let was_attached = self.detach(&table);
                // What could not be stored before is stored now.
                if !self.keep(&table)? && !was_attached {
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
                found.map(|watch| watch.json_with_text()).ok_or_else(|| no_model(table))
            }
            None => Ok(json!({ "models": all.iter().map(|watch| watch.json()).collect::<Vec<_>>() })),
        }
    }

    fn put(&self, table: Option<&str>, query: &str, body: &[u8]) -> Result<serde_json::Value, Exception> {
        let (mode, reads) = (parameter(query, "mode"), parameter(query, "reads"));
        let unknown = |what: &str, word: &str| {
            Exception::validation(format!("Unknown {what} {word}: use warn or enforce"))
        };
        let mode = mode.as_deref().unwrap_or(Mode::Warn.name());
        let mode = Mode::parse(mode).ok_or_else(|| unknown("mode", mode))?;
        let rule = |word: &String| ReadRule::parse(word).ok_or_else(|| unknown("rule for reads", word));
        let reads = reads.as_ref().map(rule).transpose()?;
        let is_transition = parameter(query, "transition").as_deref() == Some("true");
        let (model, former) = if is_transition {
            let texts: serde_json::Value = serde_json::from_slice(body)
                .map_err(|error| Exception::validation(format!("The transition is not JSON: {error}")))?;
            let text = |name: &str| {
                let missing =
                    || Exception::validation("A transition has two models: {\"old\": …, \"new\": …}");
                texts[name].as_str().ok_or_else(missing)
            };
            (model_of(text("new")?, table)?, Some(model_of(text("old")?, table)?))
        } else {
            let text = std::str::from_utf8(body)
                .map_err(|error| Exception::validation(format!("The model is not UTF-8: {error}")))?;
            (model_of(text, table)?, None)
        };
        let mut attached = json!({ "attached": model.table.name, "mode": mode.name() });
        let force = parameter(query, "force").as_deref() == Some("true");
        let lowered =
            self.attach(ModelWatch::new(model, mode).with_former(former).with_reads(reads), force)?;
        self.keep(attached["attached"].as_str().unwrap_or_default())?;
        if !lowered.is_empty() {
            attached["lowered"] = json!(lowered);
        }
        Ok(attached)
    }
}

/// Reads a model that is to be attached to a table.
pub(super) fn model_of(text: &str, table: Option<&str>) -> Result<Model, Exception> {
    let source = Source::new("model", text);
    let mut model =
        read(&source).map_err(|findings| Exception::validation(report::text_of(&findings, &source)))?;
    check_effort(&model)?;
    if let Some(table) = table {
        table.clone_into(&mut model.table.name);
    }
    if !is_resource_name(&model.table.name) {
        return Err(Exception::validation(format!("{} is not the name of a table", model.table.name)));
    }
    Ok(model)
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
    use crate::models::Origin;
    use crate::yield_counter::count_yields;

    /// A model whose keys share a long text after a field that may match any part of it.
    fn model(length: usize) -> Vec<u8> {
        let mut text = "format = 1\n[table]\nname = \"Tab\"\nkeys = [\"PK\"]\n[pattern]\np = { in = [\"a\"], out = \"E0*\" }\n".to_owned();
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
        assert_eq!(response.unwrap(), br#"{"attached":"Tab","mode":"warn"}"#);
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
    fn parts(entities: usize, start: &str) -> Vec<u8> {
        let mut text = "format = 1\n[table]\nname = \"Tab\"\nkeys = [\"PK\"]\n[pattern]\np = { in = [\"a\"], out = \"E0*\" }\n".to_owned();
        for number in 0..entities {
            let key = format!("{start}{}Z{number}", "{a}#{b}#".repeat(200)).replace('N', &number.to_string());
            text += &format!(
                "[entity.E{number}]\nattributes = {{ a = \"string\", b = \"string\" }}\nkey = [\"{key}\"]\n"
            );
        }
        text.into_bytes()
    }

    #[tokio::test]
    async fn checking_a_request_against_long_templates_yields_to_other_tasks() {
        let models = Arc::new(Models::default());
        models.clone().handle(&Method::PUT, "", parts(10, "EN#")).await.unwrap();
        let body = format!(r#"{{"TableName":"Tab","Item":{{"PK":{{"S":"{}"}}}}}}"#, "a#".repeat(1_000));
        let Ok(request) = partita_wire::decode(partita_api::Operation::PutItem, body.as_bytes()) else {
            panic!("no request")
        };
        let (checked, yields) =
            count_yields(models.clone().attribute(request, body.len(), Origin::Application)).await;
        assert!(checked.is_ok() && yields > 0);
        let refused = models.handle(&Method::PUT, "", parts(60, "EN#")).await.unwrap_err();
        assert!(refused.message.contains("templates have 48060 parts"), "{}", refused.message);
    }

    #[tokio::test]
    async fn a_model_whose_keys_take_long_to_match_is_refused_at_once() {
        let models = Arc::new(Models::default());
        let start = std::time::Instant::now();
        for (entities, message) in [(3, "start alike have 2400 parts"), (180, "templates have 144000 parts")]
        {
            let refused = models.handle(&Method::PUT, "", parts(entities, "")).await.unwrap_err();
            assert!(refused.message.contains(message), "{}", refused.message);
        }
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }

    /// Entities without types whose keys overlap in many ways, in this order.
    fn alike(numbers: impl Iterator<Item = usize>) -> Vec<u8> {
        let mut text = "format = 1\n[table]\nname = \"Tab\"\nkeys = [\"PK\", \"SK\"]\n".to_owned();
        for number in numbers {
            let key = format!("{{b}}#{{a}}{}Z{number}", "a".repeat(200));
            text += &format!(
                "[entity.E{number}]\nattributes = {{ a = \"string\", b = \"string\" }}\nkey = [\"{{a}}\", \"{key}\"]\n"
            );
        }
        text.into_bytes()
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn nobody_waits_while_two_models_are_compared() {
        let models = Arc::new(Models::default());
        models.handle(&Method::PUT, "mode=enforce", alike(0..160)).await.unwrap();
        let attaching = Arc::clone(&models);
        let attached = tokio::spawn(async move {
            attaching.handle(&Method::PUT, "mode=enforce", alike((0..160).rev())).await
        });
        let mut longest = std::time::Duration::ZERO;
        while !attached.is_finished() {
            let start = std::time::Instant::now();
            assert!(models.watch("Tab").is_some());
            longest = longest.max(start.elapsed());
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        assert!(longest.as_millis() < 500, "{longest:?}");
        let refused = attached.await.unwrap().unwrap_err();
        assert!(refused.message.contains("whose rules this one would lower"), "{}", refused.message);
    }

    #[tokio::test]
    async fn a_transition_lowers_what_its_old_model_lacks() {
        let strict = "format = 1\n[table]\nname = \"Tab\"\nkeys = [\"PK\"]\n[entity.User]\n\
                      attributes = { userId = \"id\", email = \"string\" }\nkey = [\"USER#{userId}\"]\nunique = [\"email\"]\n";
        let loose = strict.replace("unique = [\"email\"]\n", "");
        let models = Arc::new(Models::default());
        models.handle(&Method::PUT, "mode=enforce", strict.into()).await.unwrap();
        let transition = |old: &str, new: &str| json!({ "old": old, "new": new }).to_string().into_bytes();
        let query = "mode=enforce&transition=true";
        let refused = models.handle(&Method::PUT, query, transition(&loose, strict)).await.unwrap_err();
        assert!(refused.message.contains("unique email of User"), "{}", refused.message);
        models.handle(&Method::PUT, query, transition(strict, strict)).await.unwrap();
        let forced = format!("{query}&force=true");
        models.handle(&Method::PUT, &forced, transition(&loose, strict)).await.unwrap();
        // Both models together do not have the rule any more.
        models.handle(&Method::PUT, "mode=enforce", loose.into_bytes()).await.unwrap();
        let refused = models.handle(&Method::PUT, query, b"{".to_vec()).await.unwrap_err();
        assert!(refused.message.starts_with("The transition is not JSON"), "{}", refused.message);
    }

    #[tokio::test]
    async fn a_model_that_tests_items_too_often_is_refused() {
        let aggregates: Vec<String> = (0..300).map(|number| format!("a{number} = \"count Child\"")).collect();
        let text = format!(
            "format = 1\n[table]\nname = \"Tab\"\nkeys = [\"PK\"]\n[entity.Parent]\nattributes = {{ p = \"id\" }}\nkey = [\"P#{{p}}\"]\n\
             aggregates = {{ {} }}\n[entity.Child]\nattributes = {{ p = \"id\", c = \"id\" }}\nkey = [\"C#{{c}}\"]\n",
            aggregates.join(", ")
        );
        let models = Arc::new(Models::default());
        let refused = models.handle(&Method::PUT, "", text.into_bytes()).await.unwrap_err();
        assert!(
            refused.message.contains("tests of values, conditions, copies and aggregates"),
            "{}",
            refused.message
        );
    }
}
