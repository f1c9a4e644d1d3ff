//! Client request tokens: a transaction that is repeated within ten minutes is committed once, even across a restart.

use crate::key::stored_key::{Key, Token};
use partita_api::item::client_request_token::ClientRequestToken;
use partita_store::{Rows, Write};
use partita_value::{ValueRef, ordered_key};

/// How long a token is valid.
const LIFETIME_SECONDS: u64 = 600;

/// The use of a token by one request.
pub struct TokenUse {
    hash: Token,
    fingerprint: [u8; 16],
    now: u64,
}

/// Whether a token was used before.
pub enum TokenState {
    New,
    /// By the same request.
    Repeated,
    /// By a different request.
    Mismatch,
}

impl TokenUse {
    pub fn new(token: &ClientRequestToken, now: u64) -> TokenUse {
        let hash = ordered_key::token(std::iter::once(ValueRef::S(token.token.as_bytes())));
        TokenUse { hash, fingerprint: token.fingerprint, now }
    }

    pub fn key(&self) -> Vec<u8> {
        Key::ClientToken { hash: self.hash }.to_bytes()
    }

    /// The state of the token by its stored row, which is the second at which it lapses and the fingerprint.
    pub fn state(&self, row: &Rows<'_>) -> TokenState {
        let Some((lapses_at, fingerprint)) =
            row.first().and_then(Option::as_deref).and_then(|row| row.split_first_chunk::<8>())
        else {
            return TokenState::New;
        };
        if u64::from_be_bytes(*lapses_at) <= self.now {
            TokenState::New
        } else if fingerprint == self.fingerprint {
            TokenState::Repeated
        } else {
            TokenState::Mismatch
        }
    }

    /// The writes that store the use.
    pub fn store(&self) -> [Write; 2] {
        let lapses_at = self.now + LIFETIME_SECONDS;
        let value = [&lapses_at.to_be_bytes()[..], &self.fingerprint].concat();
        let time_key = Key::ClientTokenTime { lapses_at, hash: self.hash }.to_bytes();
        [Write::Put { key: self.key(), value }, Write::Put { key: time_key, value: Vec::new() }]
    }
}

/// Whether the row of a token has lapsed. A token may have been used again since.
pub fn has_lapsed(row: Option<&[u8]>, now: u64) -> bool {
    row.and_then(|row| row.first_chunk::<8>()).is_none_or(|lapses_at| u64::from_be_bytes(*lapses_at) <= now)
}
