//! A TLS acceptor from a certificate file and a key file.

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

/// Why TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("{}: no PEM certificate can be read: {reason}", file.display())]
    Certificate { file: PathBuf, reason: String },
    #[error("{}: no PEM private key can be read: {reason}", file.display())]
    Key { file: PathBuf, reason: String },
    #[error("the certificate and the key do not match: {0}")]
    Mismatch(String),
}

/// Reads the certificate chain and the private key, both PEM.
pub fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, TlsError> {
    let chain =
        CertificateDer::pem_file_iter(certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| TlsError::Certificate { file: certificate.into(), reason: error.to_string() })?;
    let key = PrivateKeyDer::from_pem_file(key)
        .map_err(|error| TlsError::Key { file: key.into(), reason: error.to_string() })?;
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| TlsError::Mismatch(error.to_string()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
