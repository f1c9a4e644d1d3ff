//! Secrets: from the environment or from files, never from the command line, where every user of the machine can read them.

use crate::arguments::Serve;
use partita_auth::Credential;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Options that do not exist but might be expected to, and what to use instead.
const REFUSED: [(&str, &str); 2] = [
    (
        "--secret-key",
        "put it into a file for --secret-key-file, or set PARTITA_SECRET_KEY (partita serve) or AWS_SECRET_ACCESS_KEY (all else)",
    ),
    ("--session-token", "set AWS_SESSION_TOKEN"),
];

/// The error message if there is a secret on the command line. The secret itself is not repeated.
pub fn refuse_on_command_line(arguments: impl Iterator<Item = OsString>) -> Option<String> {
    let given: Vec<String> = arguments.map(|argument| argument.to_string_lossy().into_owned()).collect();
    let is_given = |option: &str| {
        given
            .iter()
            .any(|argument| argument.split_once('=').map_or(&argument[..], |(name, _)| name) == option)
    };
    let (option, instead) = REFUSED.iter().find(|(option, _)| is_given(option))?;
    Some(format!(
        "{option} is not an option: anyone who lists this machine's processes could read the secret. Instead, {instead}"
    ))
}

/// The credential by which a server verifies signatures; `None` if it does not.
pub fn server_credential(arguments: &Serve) -> Result<Option<Credential>, String> {
    let secret = match &arguments.secret_key_file {
        Some(file) => Some(read(file)?),
        None => std::env::var("PARTITA_SECRET_KEY").ok(),
    };
    match (&arguments.access_key, secret) {
        (None, None) => Ok(None),
        (Some(access_key), _) if access_key.is_empty() => Err("the access key is empty".to_owned()),
        (_, Some(secret)) if secret.is_empty() => Err("the secret key is empty".to_owned()),
        (Some(access_key), Some(secret)) => Ok(Some(Credential::new(access_key, secret))),
        (Some(_), None) => Err(
            "there is an access key but no secret: give --secret-key-file FILE, or set PARTITA_SECRET_KEY"
                .to_owned(),
        ),
        (None, Some(_)) => {
            Err("there is a secret key but no access key: give --access-key, or set PARTITA_ACCESS_KEY"
                .to_owned())
        }
    }
}

/// Reads the secret in a file, without the line end.
pub fn read(file: &Path) -> Result<String, String> {
    let in_file = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let text = std::fs::read_to_string(file).map_err(|error| in_file(&error))?;
    let secret = text.strip_suffix('\n').map_or(&text[..], |line| line.strip_suffix('\r').unwrap_or(line));
    if secret.is_empty() || secret.contains('\n') {
        return Err(in_file(&"a secret is one line, and not an empty one"));
    }
    let mode = file.metadata().map_err(|error| in_file(&error))?.mode();
    if mode & 0o077 != 0 {
        eprintln!(
            "partita: {}: users other than its owner can read this secret (mode {:o}); chmod 600 it",
            file.display(),
            mode & 0o777
        );
    }
    Ok(secret.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(arguments: &[&str]) -> Option<String> {
        refuse_on_command_line(arguments.iter().map(OsString::from))
    }

    #[test]
    fn secrets_on_the_command_line_are_refused_and_not_repeated() {
        for arguments in [
            &["serve", "--secret-key", "hush"][..],
            &["dump", "--secret-key=hush"],
            &["--session-token", "hush"],
        ] {
            assert!(refusal(arguments).is_some_and(|text| !text.contains("hush")), "{arguments:?}");
        }
        assert_eq!(refusal(&["serve", "--secret-key-file", "hush", "--access-key", "me"]), None);
    }

    #[test]
    fn a_file_contains_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        for (text, secret) in [
            ("hush", Some("hush")),
            ("hush\n", Some("hush")),
            (" a b\r\n", Some(" a b")),
            ("", None),
            ("\n", None),
            ("a\nb\n", None),
        ] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(read(&file).ok().as_deref(), secret, "{text:?}");
        }
        assert!(read(&folder.path().join("none")).is_err());
    }
}
