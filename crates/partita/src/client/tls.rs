//! Which certificates TLS connections to a database trust.

mod any_certificate;
mod listed_certificates;

use any_certificate::AnyCertificate;
use listed_certificates::ListedCertificates;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use std::io::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::rustls::client::danger::ServerCertVerifier;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Environment variables that name a file of certificates to trust instead of the system's; the first that is set wins.
const FILE_VARIABLES: [&str; 2] = ["SSL_CERT_FILE", "AWS_CA_BUNDLE"];

/// The configuration for connections that may be encrypted. Plain ones need no certificates, so none need be installed.
pub fn config_for(encrypted: bool) -> std::io::Result<ClientConfig> {
    if encrypted {
        return trust_system();
    }
    Ok(ClientConfig::builder().with_root_certificates(RootCertStore::empty()).with_no_client_auth())
}

/// Trusts the file that `SSL_CERT_FILE` or `AWS_CA_BUNDLE` names, or else the system's certificates.
fn trust_system() -> std::io::Result<ClientConfig> {
    let named = FILE_VARIABLES.iter().find_map(|name| std::env::var_os(name).map(PathBuf::from));
    if let Some(file) = named {
        return trust_file(&file);
    }
    let certificates = rustls_native_certs::load_native_certs().certs;
    if certificates.is_empty() {
        return Err(Error::other("no trusted certificates are found; name a file of them in SSL_CERT_FILE"));
    }
    trust(certificates)
}

/// Trusts the certificates in a PEM file.
pub fn trust_file(file: &Path) -> std::io::Result<ClientConfig> {
    let in_file = |error: &dyn std::fmt::Display| Error::other(format!("{}: {error}", file.display()));
    let certificates = CertificateDer::pem_file_iter(file).map_err(|error| in_file(&error))?;
    // A bundle may contain a certificate that is too old to be parsed.
    trust(certificates.filter_map(Result::ok).collect()).map_err(|error| in_file(&error))
}

/// Encrypts without verifying the server's identity.
pub fn trust_anyone() -> ClientConfig {
    config(AnyCertificate::default())
}

fn trust(certificates: Vec<CertificateDer<'static>>) -> std::io::Result<ClientConfig> {
    ListedCertificates::new(certificates).map(config)
}

fn config(verifier: impl ServerCertVerifier + 'static) -> ClientConfig {
    ClientConfig::builder()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth()
}
