//! The parts of a signature, read from a header or from query parameters.

use partita_api::{Exception, ExceptionKind};

/// What a request says about its signature.
#[derive(Debug, PartialEq, Eq)]
pub struct Signature<'a> {
    pub access_key: &'a str,
    /// `date/region/service/aws4_request`.
    pub scope: &'a str,
    pub signed_headers: &'a str,
    pub signature: &'a str,
    /// When it was signed: `20261115T184454Z`.
    pub signed_at: &'a str,
}

impl<'a> Signature<'a> {
    /// `AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…`
    pub fn from_header(header: &'a str, date: Option<&'a str>) -> Result<Signature<'a>, Exception> {
        let parameters = header.split_once(' ').map_or("", |(_, rest)| rest);
        let parameter = |name: &str| {
            parameters
                .split([',', ' '])
                .filter_map(|part| part.split_once('='))
                .find(|(candidate, _)| *candidate == name)
                .map(|(_, value)| value)
        };
        let parts = [parameter("Credential"), parameter("Signature"), parameter("SignedHeaders")];
        let [Some(credential), Some(signature), Some(signed_headers)] = parts else {
            return Err(incomplete(header, parts, date));
        };
        let Some(signed_at) = date else { return Err(incomplete(header, parts, date)) };
        let (access_key, scope) = split_credential(credential)?;
        Ok(Signature { access_key, scope, signed_headers, signature, signed_at })
    }

    /// `?X-Amz-Algorithm=…&X-Amz-Credential=…&…`, already percent-decoded.
    pub fn from_query(parameters: &'a [(String, String)]) -> Result<Signature<'a>, Exception> {
        let parameter = |name: &str| {
            let found = parameters.iter().find(|(candidate, _)| candidate == name);
            found.map(|(_, value)| value.as_str()).ok_or_else(|| {
                Exception::new(
                    ExceptionKind::IncompleteSignatureException,
                    format!("AWS query-string parameters must include '{name}'. Re-examine the query-string parameters."),
                )
            })
        };
        let (access_key, scope) = split_credential(parameter("X-Amz-Credential")?)?;
        Ok(Signature {
            access_key,
            scope,
            signed_headers: parameter("X-Amz-SignedHeaders")?,
            signature: parameter("X-Amz-Signature")?,
            signed_at: parameter("X-Amz-Date")?,
        })
    }
}

fn split_credential(credential: &str) -> Result<(&str, &str), Exception> {
    let parts = credential.split_once('/').filter(|(_, scope)| scope.split('/').count() == 4);
    parts.ok_or_else(|| {
        Exception::new(
            ExceptionKind::IncompleteSignatureException,
            "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term",
        )
    })
}

/// Names everything that is missing.
fn incomplete(header: &str, parts: [Option<&str>; 3], date: Option<&str>) -> Exception {
    let mut message = String::new();
    for (part, name) in parts.into_iter().zip(["Credential", "Signature", "SignedHeaders"]) {
        if part.is_none() {
            message.push_str(&format!("Authorization header requires '{name}' parameter. "));
        }
    }
    if date.is_none() {
        message.push_str(
            "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ",
        );
    }
    // The header without its signature: nothing that could be replayed is echoed.
    message.push_str("Authorization=");
    message.push_str(header.split(' ').next().unwrap_or_default());
    Exception::new(ExceptionKind::IncompleteSignatureException, message)
}
