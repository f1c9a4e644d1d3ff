//! Carries out the plan of a pattern as an application would, and states what the pattern means, so that the two can be compared on a real
//! database: items, order, completeness, pages and units.
//!
//! `call` chooses the values that a caller knows, `execution` sends the requests and does what the plan leaves to the caller, and `meaning` finds
//! the expected items among all items without the plan's keys; `comparison` says how the two differ. `counted` has the numbers of these items, on which
//! predictions rest.

mod call;
mod comparison;
mod counted;
mod execution;
mod meaning;
mod request_values;

pub(crate) use call::Sortable;
pub use call::{Call, Known, calls, known};
pub use comparison::difference;
pub use counted::{asked_model, asks_for_all, counted_model};
pub use execution::{Answer, Execution, Page, PreparedPlan, Taken};
pub(crate) use meaning::is_meant;
pub use meaning::{Expected, expected};
