//! Fingerprints of texts, which stand for them where a table has too many to keep.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

/// Returns 128 bits that differ from those of any other text, as far as anybody can tell: they depend on a secret of the process, so that nobody
/// can choose two texts with the same. In a billion texts, two have the same by chance with a probability below 10⁻²⁰.
#[expect(
    clippy::disallowed_methods,
    reason = "the secret decides nothing but which texts have the same fingerprint"
)]
pub fn fingerprint(text: &str) -> u128 {
    static SECRETS: OnceLock<[RandomState; 2]> = OnceLock::new();
    let secrets = SECRETS.get_or_init(|| [RandomState::new(), RandomState::new()]);
    let [high, low] = secrets.each_ref().map(|secret| u128::from(secret.hash_one(text)));
    high << 64 | low
}
