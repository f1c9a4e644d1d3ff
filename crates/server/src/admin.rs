//! Endpoints outside of DynamoDB's protocol, under `/_partita/`.

pub(crate) mod readiness;
pub(crate) mod verification;
