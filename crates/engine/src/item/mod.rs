//! Operations on items. They read through [`crate::read`] and write through [`crate::write`].

partita_api::operation_modules!(item);
