//! The `Date` header: `Sun, 15 Nov 2026 21:53:16 GMT`, formatted once per second and thread.

use crate::clock;
use std::cell::Cell;
use std::io::Write;
use std::time::UNIX_EPOCH;

const LENGTH: usize = 29;

thread_local! {
    static LAST: Cell<(u64, [u8; LENGTH])> = const { Cell::new((0, [0; LENGTH])) };
}

pub fn write(out: &mut Vec<u8>) {
    let now = clock::system_now();
    let second = now.duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs());
    let (made_at, mut text) = LAST.get();
    if made_at != second {
        // A year of more than four digits would not fit, and is truncated.
        let _ = write!(&mut text[..], "{}", httpdate::HttpDate::from(now));
        LAST.set((second, text));
    }
    out.extend_from_slice(&text);
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_date_is_the_current_time() {
        for _ in 0..2 {
            let mut out = Vec::new();
            super::write(&mut out);
            let read = httpdate::parse_http_date(std::str::from_utf8(&out).unwrap()).unwrap();
            assert!(read.elapsed().unwrap().as_secs() < 5);
        }
    }
}
