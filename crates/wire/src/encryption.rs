//! Encryption of tables and of written objects: the members that they share.

use crate::members::enum_names;

/// The maximum length of the id of a KMS key.
pub(crate) const KMS_KEY_CHARACTERS: usize = 2_048;

/// The kind of key.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum EncryptionType {
    Aes256,
    Kms,
}

enum_names!(EncryptionType: "AES256" = Aes256, "KMS" = Kms);
