//! An access key and its secret.

use std::fmt;

#[derive(Clone)]
pub struct Credential {
    pub access_key: String,
    secret_key: String,
}

impl Credential {
    pub fn new(access_key: impl Into<String>, secret_key: impl Into<String>) -> Credential {
        Credential { access_key: access_key.into(), secret_key: secret_key.into() }
    }

    pub(crate) fn secret(&self) -> &str {
        &self.secret_key
    }
}

/// Omits the secret.
impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credential").field("access_key", &self.access_key).finish_non_exhaustive()
    }
}
