//! Items: reading and writing them, one or several at a time, and pages of them.

crate::operation_modules!(item);
