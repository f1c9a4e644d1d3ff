//! A verifier that trusts a list of certificates: as issuers, and each of them as a server's own certificate.
//!
//! The usual self-signed certificate is marked as a CA. webpki rejects a CA certificate that a server presents as its own,
//! but a user who lists that very certificate means to trust it.

use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use std::sync::Arc;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::client::{WebPkiServerVerifier, verify_server_name};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

#[derive(Debug)]
pub struct ListedCertificates {
    webpki: Arc<WebPkiServerVerifier>,
    certificates: Vec<CertificateDer<'static>>,
}

impl ListedCertificates {
    /// Fails if none of the certificates can be parsed.
    pub fn new(certificates: Vec<CertificateDer<'static>>) -> std::io::Result<ListedCertificates> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(certificates.iter().cloned());
        if roots.is_empty() {
            return Err(std::io::Error::other("no certificate can be read"));
        }
        let provider = Arc::new(ring::default_provider());
        let webpki = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .map_err(std::io::Error::other)?;
        Ok(ListedCertificates { webpki, certificates })
    }
}

impl ServerCertVerifier for ListedCertificates {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match self.webpki.verify_server_cert(own, chain, name, ocsp, now) {
            // webpki has checked its validity period by then, but not its name.
            Err(error) if is_ca_as_end_entity(&error) && self.certificates.iter().any(|it| it == own) => {
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
        self.webpki.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.webpki.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.webpki.supported_verify_schemes()
    }
}

/// Whether a certificate was rejected only because it is a CA certificate used by the server itself.
fn is_ca_as_end_entity(error: &Error) -> bool {
    let Error::InvalidCertificate(CertificateError::Other(reason)) = error else { return false };
    matches!(reason.0.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}
