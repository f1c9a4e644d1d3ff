//! Models that stay attached: those that are attached while the server runs are kept in a folder of the database, and attached again when it
//! starts. A file per table, named after it: JSON with the model's text, its mode, its rule for reads, and the former model while items
//! move from one to the other.

use super::admin::model_of;
use super::{Mode, ModelWatch};
use partita_design::Model;
use partita_design::model::ReadRule;
use serde_json::{Value, json};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The name of the file that is being written; no table has it.
const UNFINISHED: &str = "~";

/// The folder in which attached models are kept.
pub struct KeptModels {
    folder: PathBuf,
    /// Files are written one after the other. Only those who attach models wait for it.
    writing: Mutex<()>,
}

impl KeptModels {
    pub fn new(folder: PathBuf) -> KeptModels {
        KeptModels { folder, writing: Mutex::new(()) }
    }

    /// Reads all kept models, and removes what was not written to its end.
    pub fn load(&self) -> Result<Vec<ModelWatch>, String> {
        let failed = |error: io::Error| format!("cannot read {}: {error}", self.folder.display());
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(failed)?,
        };
        let mut models = Vec::new();
        for entry in entries {
            let path = entry.map_err(failed)?.path();
            match path.file_name().is_some_and(|name| name == UNFINISHED) {
                true => fs::remove_file(&path).map_err(failed)?,
                false => models.push(load_file(&path).map_err(|error| unreadable(&path, &error))?),
            }
        }
        Ok(models)
    }

    /// Keeps what is attached to a table at this moment, or nothing. The name is that of a table, and so of a file. Returns whether there
    /// is, or was, such a file.
    pub fn keep(&self, table: &str, attached: impl FnOnce() -> Option<Value>) -> io::Result<bool> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.folder.join(table);
        match attached() {
            Some(model) => self.write(&path, model.to_string().as_bytes())?,
            None => match fs::remove_file(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
                removed => removed?,
            },
        }
        File::open(&self.folder)?.sync_all()?;
        Ok(true)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if !self.folder.is_dir() {
            fs::create_dir(&self.folder)?;
            self.folder.parent().map_or(Ok(()), |parent| File::open(parent)?.sync_all())?;
        }
        let unfinished = self.folder.join(UNFINISHED);
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&unfinished, path)
    }
}

impl ModelWatch {
    /// The content of its file.
    pub(super) fn kept(&self) -> Value {
        let reads = self.reads.map(ReadRule::name);
        let former = self.former().and_then(Model::text);
        json!({
            "table": self.table(), "mode": self.mode().name(), "reads": reads,
            "model": self.model.text(), "former": former,
        })
    }
}

fn load_file(path: &Path) -> Result<ModelWatch, String> {
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    let content: Value = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    let text = |name: &str| content[name].as_str().ok_or_else(|| format!("it has no {name}"));
    let table = Some(text("table")?);
    let model_of = |text: &str| model_of(text, table).map_err(|exception| exception.message);
    let model = model_of(text("model")?)?;
    let optional = |name: &str| if content[name].is_null() { Ok(None) } else { text(name).map(Some) };
    let former = optional("former")?.map(model_of).transpose()?;
    let mode = Mode::parse(text("mode")?).ok_or("its mode is unknown")?;
    let rule = |word: &str| ReadRule::parse(word).ok_or("its rule for reads is unknown");
    let reads = optional("reads")?.map(rule).transpose()?;
    Ok(ModelWatch::new(model, mode).with_former(former).with_reads(reads))
}

/// A server that enforced a model does not start without it.
fn unreadable(path: &Path, error: &str) -> String {
    format!(
        "the attached model in {} cannot be read: {error}. Remove the file to start without that model",
        path.display()
    )
}

#[cfg(test)]
mod tests {
    use crate::models::{Mode, Models};
    use hyper::Method;
    use std::sync::Arc;

    const MODEL: &str = "format = 1\n[table]\nname = \"Shop\"\nkeys = [\"PK\"]\n[entity.User]\nattributes = { userId = \"id\" }\nkey = [\"USER#{userId}\"]\n";

    async fn attach(models: &Arc<Models>, query: &str) {
        models.handle(&Method::PUT, query, MODEL.into()).await.unwrap();
    }

    #[tokio::test]
    async fn attached_models_are_attached_again() {
        let data = tempfile::tempdir().unwrap();
        let open = || Arc::new(Models::kept_in(data.path().join("models")).unwrap());
        let models = open();
        attach(&models, "mode=enforce&reads=warn").await;
        attach(&models, "table=Other").await;
        attach(&models, "table=Gone").await;
        models.handle(&Method::DELETE, "table=Gone", Vec::new()).await.unwrap();
        let models = open();
        let watches = models.all();
        let found: Vec<_> = watches.iter().map(|watch| (watch.table(), watch.mode())).collect();
        assert_eq!(found, [("Other", Mode::Warn), ("Shop", Mode::Enforce)]);
        assert_eq!(watches[1].json()["reads"], "warn");
    }

    #[tokio::test]
    async fn a_transition_goes_on_after_a_restart() {
        let data = tempfile::tempdir().unwrap();
        let open = || Arc::new(Models::kept_in(data.path().join("models")).unwrap());
        let body = serde_json::json!({ "old": MODEL, "new": MODEL.replace("USER#", "PERSON#") }).to_string();
        open().handle(&Method::PUT, "mode=enforce&transition=true", body.into()).await.unwrap();
        let watches = open().all();
        assert!(watches[0].former().is_some_and(|former| former.text() == Some(MODEL)));
    }

    #[tokio::test]
    async fn no_table_name_leads_out_of_the_folder() {
        let data = tempfile::tempdir().unwrap();
        let models = Arc::new(Models::kept_in(data.path().join("models")).unwrap());
        for table in ["../x", "..", "a/b/c", "~"] {
            let query = format!("table={table}");
            models.handle(&Method::PUT, &query, MODEL.into()).await.unwrap_err();
            assert!(models.all().is_empty(), "{table}");
        }
        assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0);
        std::fs::write(data.path().join("precious"), "").unwrap();
        models.handle(&Method::DELETE, "table=../precious", Vec::new()).await.unwrap_err();
        assert!(data.path().join("precious").exists());
    }

    #[tokio::test]
    async fn a_detachment_that_was_not_stored_is_stored_when_it_is_repeated() {
        let data = tempfile::tempdir().unwrap();
        let models = Arc::new(Models::kept_in(data.path().to_path_buf()).unwrap());
        attach(&models, "").await;
        assert!(models.detach("Shop"));
        models.handle(&Method::DELETE, "table=Shop", Vec::new()).await.unwrap();
        assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0);
        let nothing = models.handle(&Method::DELETE, "table=Shop", Vec::new()).await.unwrap_err();
        assert_eq!(nothing.message, "No model is attached to table Shop");
    }

    #[tokio::test]
    async fn what_was_not_written_to_its_end_is_removed() {
        let data = tempfile::tempdir().unwrap();
        let open = || Arc::new(Models::kept_in(data.path().to_path_buf()).unwrap());
        attach(&open(), "").await;
        let unfinished = data.path().join("~");
        std::fs::write(&unfinished, "{").unwrap();
        assert_eq!(open().all().len(), 1);
        assert!(!unfinished.exists());
    }

    #[tokio::test]
    async fn a_model_that_cannot_be_read_is_not_forgotten() {
        let data = tempfile::tempdir().unwrap();
        let models = Arc::new(Models::kept_in(data.path().to_path_buf()).unwrap());
        attach(&models, "mode=enforce").await;
        std::fs::write(data.path().join("Shop"), "{").unwrap();
        let error = || Models::kept_in(data.path().to_path_buf()).err().unwrap();
        assert!(error().contains("Remove the file to start without that model"), "{}", error());
        attach(&models, "mode=enforce&reads=enforce").await;
        let text = std::fs::read_to_string(data.path().join("Shop")).unwrap();
        let odd = text.replace(r#""reads":"enforce""#, r#""reads":"refuse""#);
        std::fs::write(data.path().join("Shop"), odd).unwrap();
        assert!(error().contains("its rule for reads is unknown"), "{}", error());
    }
}
