//! Credentials and region: from the command line and the environment, or from the files that the AWS tools use.

use crate::arguments::Endpoint;
use crate::secrets;
use partita_auth::{Credential, Signer};
use std::path::PathBuf;

/// The endpoint name for AWS itself.
pub const AWS: &str = "aws";

const NO_ENDPOINT: &str = "no endpoint is given: add --endpoint http://127.0.0.1:8000, or --endpoint aws";

/// Returns the URL to connect to, and the signer.
pub fn resolve(endpoint: &Endpoint) -> Result<(String, Signer), String> {
    let url = endpoint.endpoint.as_deref().ok_or(NO_ENDPOINT)?;
    let profile = Profile::read(&endpoint.profile);
    let region = endpoint.region.clone().or(profile.region).unwrap_or_else(|| "us-east-1".to_owned());
    let url = if url == AWS { format!("https://dynamodb.{region}.amazonaws.com") } else { url.to_owned() };
    let given = if endpoint.only_profile { None } else { given(endpoint)? };
    let keys = match given.or(profile.keys) {
        None if url.contains(".amazonaws.com") => return Err(missing(&url, &endpoint.profile)),
        None => Keys { access_key: "local".to_owned(), secret_key: "local".to_owned(), session_token: None },
        Some(keys) => keys,
    };
    let credential = Credential::new(&keys.access_key, &keys.secret_key);
    Ok((url, Signer::new(credential, region).with_session_token(keys.session_token)))
}

/// The keys from the command line and the environment.
fn given(endpoint: &Endpoint) -> Result<Option<Keys>, String> {
    let Some(access_key) = endpoint.access_key.clone().filter(|key| !key.is_empty()) else { return Ok(None) };
    let secret_key = match &endpoint.secret_key_file {
        Some(file) => secrets::read(file)?,
        None => variable("AWS_SECRET_ACCESS_KEY").ok_or_else(|| {
            format!("there is no secret for the access key {access_key}: give --secret-key-file FILE, or set AWS_SECRET_ACCESS_KEY")
        })?,
    };
    Ok(Keys::new(Some((access_key, secret_key)), variable("AWS_SESSION_TOKEN")))
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The keys for another service's endpoint: from the environment, or from the profile that it names.
pub fn from_environment(endpoint: &str) -> Result<Keys, String> {
    let given = variable("AWS_ACCESS_KEY_ID").zip(variable("AWS_SECRET_ACCESS_KEY"));
    let profile = variable("AWS_PROFILE").unwrap_or_else(|| "default".to_owned());
    Keys::new(given, variable("AWS_SESSION_TOKEN"))
        .or_else(|| Profile::read(&profile).keys)
        .ok_or_else(|| missing(endpoint, &profile))
}

fn missing(endpoint: &str, profile: &str) -> String {
    format!(
        "no credentials for {endpoint}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or add the profile {profile} \
         to ~/.aws/credentials"
    )
}

/// The keys that requests are signed with.
#[cfg_attr(test, derive(Debug))]
#[derive(PartialEq, Eq)]
pub struct Keys {
    pub access_key: String,
    pub secret_key: String,
    pub session_token: Option<String>,
}

impl Keys {
    fn new(pair: Option<(String, String)>, session_token: Option<String>) -> Option<Keys> {
        pair.map(|(access_key, secret_key)| Keys { access_key, secret_key, session_token })
    }
}

#[cfg_attr(test, derive(Debug))]
#[derive(Default, PartialEq, Eq)]
struct Profile {
    keys: Option<Keys>,
    region: Option<String>,
}

impl Profile {
    /// Reads a profile from `~/.aws/credentials` and `~/.aws/config`.
    fn read(name: &str) -> Profile {
        let file = |variable: &str, default: &str| {
            let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".aws").join(default));
            let path = std::env::var_os(variable).map(PathBuf::from).or_else(home);
            path.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default()
        };
        Profile::parse(
            name,
            &file("AWS_SHARED_CREDENTIALS_FILE", "credentials"),
            &file("AWS_CONFIG_FILE", "config"),
        )
    }

    fn parse(name: &str, credentials: &str, config: &str) -> Profile {
        let find = |key: &str| value(credentials, name, key).or_else(|| value(config, name, key));
        Profile {
            keys: Keys::new(
                find("aws_access_key_id").zip(find("aws_secret_access_key")),
                find("aws_session_token"),
            ),
            region: find("region"),
        }
    }
}

/// The value of a key in a section: `[name]`, or `[profile name]` in the config file.
fn value(text: &str, section: &str, key: &str) -> Option<String> {
    let mut inside = false;
    for line in text.lines().map(str::trim) {
        if let Some(title) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            inside = title.trim().trim_start_matches("profile ").trim() == section;
        } else if let Some((name, value)) = line.split_once('=').filter(|_| inside)
            && name.trim() == key
        {
            return Some(value.trim().to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_read() {
        let credentials = "[default]\naws_access_key_id = A\naws_secret_access_key=S\n[work]\naws_access_key_id = B\n\
                           aws_secret_access_key = T\naws_session_token = token==\n";
        let config = "[default]\nregion = eu-west-1\n[profile work]\nregion = ap-south-1\n";
        let work = Profile::parse("work", credentials, config);
        let keys = |access: &str, secret: &str, token: Option<&str>| {
            Keys::new(Some((access.to_owned(), secret.to_owned())), token.map(str::to_owned))
        };
        assert_eq!(
            (work.keys, work.region.as_deref()),
            (keys("B", "T", Some("token==")), Some("ap-south-1"))
        );
        let default = Profile::parse("default", credentials, config);
        assert_eq!((default.keys, default.region.as_deref()), (keys("A", "S", None), Some("eu-west-1")));
        assert_eq!(Profile::parse("other", credentials, config), Profile::default());
    }
}
