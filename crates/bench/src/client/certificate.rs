//! A certificate for one run, and a TLS client that trusts only this certificate.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::{CertificateDer, pem::PemObject};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

pub struct Certificate {
    pub chain: PathBuf,
    pub key: PathBuf,
    pub client: TlsConnector,
}

impl Certificate {
    /// Creates a certificate for 127.0.0.1, valid for two days, with openssl.
    pub fn create(folder: &Path) -> Result<Certificate, Box<dyn Error>> {
        let (chain, key) = (folder.join("cert.pem"), folder.join("key.pem"));
        let output = Command::new("openssl")
            .args([
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                "-nodes",
                "-days",
                "2",
            ])
            .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"])
            .args(["-addext", "basicConstraints=critical,CA:FALSE", "-keyout"])
            .arg(&key)
            .arg("-out")
            .arg(&chain)
            .output()?;
        if !output.status.success() {
            return Err(format!(
                "openssl did not create a certificate: {}",
                String::from_utf8_lossy(&output.stderr)
            )
            .into());
        }
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(&chain)?)?;
        let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        Ok(Certificate { chain, key, client: TlsConnector::from(Arc::new(config)) })
    }
}
