//! Trust in the certificates of a file: in whom they have signed for, and in each of them as a server's own.
//!
//! The usual self-signed certificate says of itself that it may sign others. As a server's own such a one is refused by the
//! rules, but whoever names the very certificate means it.

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use std::io::Error as IoError;
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::client::{WebPkiServerVerifier, verify_server_name};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

/// Trusts the certificates of a file, PEM.
pub fn trust_in_file(file: &Path) -> std::io::Result<Arc<ClientConfig>> {
    let unreadable = |error: &dyn std::fmt::Display| IoError::other(format!("{}: {error}", file.display()));
    let certificates = CertificateDer::pem_file_iter(file).map_err(|error| unreadable(&error))?;
    // A system's file may hold one that is too old to be understood.
    let certificates: Vec<_> = certificates.filter_map(Result::ok).collect();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(certificates.iter().cloned());
    if roots.is_empty() {
        return Err(unreadable(&"no certificate can be read"));
    }
    let provider = Arc::new(ring::default_provider());
    let rules = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
        .build()
        .map_err(|error| unreadable(&error))?;
    let verifier = Arc::new(Named { rules, certificates });
    let config = ClientConfig::builder().dangerous().with_custom_certificate_verifier(verifier);
    Ok(Arc::new(config.with_no_client_auth()))
}

/// The usual rules, but for the one certificate that is named itself.
#[derive(Debug)]
struct Named {
    rules: Arc<WebPkiServerVerifier>,
    certificates: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for Named {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match self.rules.verify_server_cert(own, chain, name, ocsp, now) {
            // Its dates have been looked at before, its name has not.
            Err(refused) if may_sign_others(&refused) && self.certificates.iter().any(|it| it == own) => {
                verify_server_name(&ParsedCertificate::try_from(own)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.rules.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.rules.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.rules.supported_verify_schemes()
    }
}

/// Whether a server's own certificate was refused for being one that may sign others, and for nothing else so far.
fn may_sign_others(refused: &Error) -> bool {
    let Error::InvalidCertificate(CertificateError::Other(reason)) = refused else { return false };
    matches!(reason.0.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}
