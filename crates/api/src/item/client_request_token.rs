//! Client request tokens, which make the transactions of TransactWriteItems and ExecuteTransaction idempotent.

/// A client's token. A request that is repeated with the same token within ten minutes has no further effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientRequestToken {
    /// The token as the client sent it.
    pub token: String,
    /// A hash of what the transaction does, which distinguishes different requests with the same token.
    pub fingerprint: [u8; 16],
}
