//! Client request tokens: a transaction repeated within ten minutes is done once, also across a restart.

use crate::key::stored_key::{Key, Token};
use partita_api::item::transact_write_items::ClientRequestToken;
use partita_store::{Rows, Write};
use partita_value::{ValueRef, ordered_key};

/// How long a token holds.
const LIFETIME_SECONDS: u64 = 600;

/// A token as one request uses it.
pub struct TokenUse {
    hash: Token,
    fingerprint: [u8; 16],
    now: u64,
}

/// What the stored row says about a use.
pub enum Verdict {
    New,
    Repeated,
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

    /// The row is the second at which the token lapses, and the fingerprint.
    pub fn judge(&self, row: &Rows<'_>) -> Verdict {
        let Some((lapses_at, fingerprint)) =
            row.first().and_then(Option::as_deref).and_then(|row| row.split_first_chunk::<8>())
        else {
            return Verdict::New;
        };
        if u64::from_be_bytes(*lapses_at) <= self.now {
            Verdict::New
        } else if fingerprint == self.fingerprint {
            Verdict::Repeated
        } else {
            Verdict::Mismatch
        }
    }

    pub fn remember(&self) -> [Write; 2] {
        let lapses_at = self.now + LIFETIME_SECONDS;
        let value = [&lapses_at.to_be_bytes()[..], &self.fingerprint].concat();
        let time_key = Key::ClientTokenTime { lapses_at, hash: self.hash }.to_bytes();
        [Write::Put { key: self.key(), value }, Write::Put { key: time_key, value: Vec::new() }]
    }
}

/// Whether a stored token's row has lapsed: it may have been used again since.
pub fn has_lapsed(row: Option<&[u8]>, now: u64) -> bool {
    row.and_then(|row| row.first_chunk::<8>()).is_none_or(|lapses_at| u64::from_be_bytes(*lapses_at) <= now)
}
