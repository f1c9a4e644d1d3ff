//! Parsed expressions by their text. Programs send the same few texts over and over, so each thread keeps what it
//! parsed: a bounded number of short texts, forgotten all at once when they become too many.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::thread::LocalKey;

/// Texts a thread keeps of one kind.
const KEPT: usize = 512;
/// Longer texts are rare, and parsed each time.
const LONGEST: usize = 512;

/// What one thread has parsed of one kind of expression.
pub type Parsed<T> = RefCell<HashMap<String, Rc<T>>>;

/// Takes what was parsed before, or parses.
pub fn parsed_once<T, E>(
    kept: &'static LocalKey<Parsed<T>>,
    text: &str,
    parse: impl FnOnce() -> Result<T, E>,
) -> Result<Rc<T>, E> {
    if let Some(parsed) = kept.with_borrow(|kept| kept.get(text).cloned()) {
        return Ok(parsed);
    }
    let parsed = Rc::new(parse()?);
    if text.len() <= LONGEST {
        kept.with_borrow_mut(|kept| {
            if kept.len() >= KEPT {
                kept.clear();
            }
            kept.insert(text.to_owned(), Rc::clone(&parsed));
        });
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        static KEPT_HERE: Parsed<usize> = RefCell::default();
    }

    #[test]
    fn a_text_is_parsed_once_and_a_mistake_each_time() {
        let mut times = 0;
        for _ in 0..3 {
            let length = parsed_once(&KEPT_HERE, "abc", || {
                times += 1;
                Ok::<_, ()>(3)
            });
            assert_eq!(length.as_deref(), Ok(&3));
            assert_eq!(parsed_once(&KEPT_HERE, "wrong", || Err::<usize, _>("no")), Err("no"));
        }
        assert_eq!(times, 1);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        for number in 0..3 * KEPT {
            let _ = parsed_once(&KEPT_HERE, &number.to_string(), || Ok::<_, ()>(number));
        }
        assert!(KEPT_HERE.with_borrow(HashMap::len) <= KEPT);
        let _ = parsed_once(&KEPT_HERE, &"x".repeat(LONGEST + 1), || Ok::<_, ()>(0));
        assert!(KEPT_HERE.with_borrow(|kept| kept.keys().all(|text| text.len() <= LONGEST)));
    }
}
