//! A cache of parsed expressions by their text. Programs send the same few texts over and over, so each thread caches
//! a bounded number of short texts and clears the cache when it is full.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::thread::LocalKey;

/// Capacity of one cache.
const CAPACITY: usize = 512;
/// Longer texts are rare and are parsed every time.
const MAX_TEXT_BYTES: usize = 512;

/// One thread's cache for one kind of expression.
pub type ParseCache<T> = RefCell<HashMap<String, Rc<T>>>;

/// Returns the cached result of an earlier call or parses the text. Errors are not cached.
pub fn parse_cached<T, E>(
    cache: &'static LocalKey<ParseCache<T>>,
    text: &str,
    parse: impl FnOnce() -> Result<T, E>,
) -> Result<Rc<T>, E> {
    if let Some(parsed) = cache.with_borrow(|cache| cache.get(text).cloned()) {
        return Ok(parsed);
    }
    let parsed = Rc::new(parse()?);
    if text.len() <= MAX_TEXT_BYTES {
        cache.with_borrow_mut(|cache| {
            if cache.len() >= CAPACITY {
                cache.clear();
            }
            cache.insert(text.to_owned(), Rc::clone(&parsed));
        });
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        static CACHE: ParseCache<usize> = RefCell::default();
    }

    #[test]
    fn a_text_is_parsed_once_and_errors_are_not_cached() {
        let mut times = 0;
        for _ in 0..3 {
            let length = parse_cached(&CACHE, "abc", || {
                times += 1;
                Ok::<_, ()>(3)
            });
            assert_eq!(length.as_deref(), Ok(&3));
            assert_eq!(parse_cached(&CACHE, "wrong", || Err::<usize, _>("no")), Err("no"));
        }
        assert_eq!(times, 1);
    }

    #[test]
    fn the_cache_is_bounded() {
        for number in 0..3 * CAPACITY {
            let _ = parse_cached(&CACHE, &number.to_string(), || Ok::<_, ()>(number));
        }
        assert!(CACHE.with_borrow(HashMap::len) <= CAPACITY);
        let _ = parse_cached(&CACHE, &"x".repeat(MAX_TEXT_BYTES + 1), || Ok::<_, ()>(0));
        assert!(CACHE.with_borrow(|cache| cache.keys().all(|text| text.len() <= MAX_TEXT_BYTES)));
    }
}
