//! A request's headers as they arrived: a few names and values, searched linearly.

/// Names are case-insensitive and may occur more than once.
#[derive(Clone, Copy)]
pub struct Headers<'a>(&'a [(&'a str, &'a [u8])]);

impl<'a> Headers<'a> {
    pub fn new(pairs: &'a [(&'a str, &'a [u8])]) -> Headers<'a> {
        Headers(pairs)
    }

    pub fn get_all(self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        self.0
            .iter()
            .filter(move |(candidate, _)| candidate.eq_ignore_ascii_case(name))
            .map(|(_, value)| *value)
    }

    pub fn contains(self, name: &str) -> bool {
        self.get_all(name).next().is_some()
    }

    /// The first value of this name, if it is visible ASCII.
    pub fn text(self, name: &str) -> Option<&'a str> {
        let value = self.get_all(name).next()?;
        let visible = value.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\t'));
        std::str::from_utf8(value).ok().filter(|_| visible)
    }

    pub fn count(self) -> usize {
        self.0.len()
    }

    /// The length of all names and values together.
    pub fn bytes(self) -> usize {
        self.0.iter().map(|(name, value)| name.len() + value.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_case_insensitive_and_only_visible_ascii_is_text() {
        let pairs: [(&str, &[u8]); 4] = [("Host", b"a"), ("x-a", b"1"), ("X-A", b"2"), ("x-b", b"\xff")];
        let headers = Headers::new(&pairs);
        assert_eq!(headers.text("host"), Some("a"));
        assert_eq!(headers.get_all("x-A").collect::<Vec<_>>(), [b"1", b"2"]);
        assert_eq!((headers.text("x-b"), headers.contains("X-B")), (None, true));
        assert_eq!((headers.text("none"), headers.contains("none")), (None, false));
        assert_eq!(headers.bytes(), 17);
    }
}
