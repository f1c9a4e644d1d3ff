//! Compression: of requests by `Content-Encoding`, of responses by `Accept-Encoding`.

use crate::limits::budget::{BudgetExceeded, Reservation};
use flate2::bufread::GzDecoder;
use flate2::write::{GzEncoder, ZlibEncoder};
use flate2::{Compression, Decompress, FlushDecompress, Status};
use partita_auth::Headers;
use partita_engine::yield_now;
use std::io::{Read, Write};

/// The first bytes of a gzip member.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// Starting a member takes far longer than its few bytes.
const MAX_MEMBERS: usize = 1_000;
/// The initial capacity for decompressed bytes; it doubles when full.
const INITIAL_BYTES: usize = 8 * 1_024;
/// How much is decompressed at a time.
const STEP_BYTES: usize = 64 * 1_024;
/// After how many bytes to yield: a few milliseconds at most.
const YIELD_BYTES: usize = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    Gzip,
    /// HTTP's deflate, which is zlib's format.
    Deflate,
}

#[derive(Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// Corrupt, or an unknown coding.
    Undecodable,
    TooLarge,
    BudgetExceeded,
}

impl From<BudgetExceeded> for DecodeError {
    fn from(_: BudgetExceeded) -> DecodeError {
        DecodeError::BudgetExceeded
    }
}

impl Coding {
    pub fn name(self) -> &'static str {
        match self {
            Coding::Gzip => "gzip",
            Coding::Deflate => "deflate",
        }
    }

    fn named(name: &str) -> Option<Coding> {
        [Coding::Gzip, Coding::Deflate].into_iter().find(|coding| coding.name().eq_ignore_ascii_case(name))
    }

    /// The coding of a request's body; `None` if it is not compressed.
    pub fn of_request(headers: Headers<'_>) -> Result<Option<Coding>, DecodeError> {
        if !headers.contains("content-encoding") {
            return Ok(None);
        }
        match headers.text("content-encoding").map(str::trim) {
            Some("" | "identity") => Ok(None),
            Some(name) => Coding::named(name).map(Some).ok_or(DecodeError::Undecodable),
            None => Err(DecodeError::Undecodable),
        }
    }

    /// The coding for a response. As on AWS, `identity` is ignored, `*` means what is not named, and of equal
    /// preferences the first wins.
    pub fn accepted(headers: Headers<'_>) -> Option<Coding> {
        if !headers.contains("accept-encoding") {
            return None;
        }
        let mut preferences = Vec::new();
        let mut star = 0.0;
        let sent = headers.get_all("accept-encoding").filter_map(|value| std::str::from_utf8(value).ok());
        for entry in sent.flat_map(|value| value.split(',')) {
            let (name, parameters) = entry.split_once(';').unwrap_or((entry, ""));
            match name.trim() {
                "*" => star = quality(parameters),
                name => preferences.extend(Coding::named(name).map(|coding| (coding, quality(parameters)))),
            }
        }
        for coding in [Coding::Gzip, Coding::Deflate] {
            if !preferences.iter().any(|(named, _)| *named == coding) {
                preferences.push((coding, star));
            }
        }
        let better = |best: Option<(Coding, f64)>, preference: (Coding, f64)| match best {
            Some(best) if best.1 >= preference.1 => Some(best),
            _ => Some(preference),
        };
        let positive = preferences.into_iter().filter(|(_, quality)| *quality > 0.0);
        positive.fold(None, better).map(|(coding, _)| coding)
    }

    /// Compresses what follows the first `headroom` bytes, and leaves as much headroom before the result.
    pub fn encode_after(self, headroom: usize, bytes: &[u8]) -> Option<Vec<u8>> {
        let plain = bytes.get(headroom..)?;
        let mut into = Vec::with_capacity(headroom + plain.len() / 4);
        into.resize(headroom, 0);
        match self {
            Coding::Gzip => {
                let mut encoder = GzEncoder::new(into, Compression::fast());
                encoder.write_all(plain).ok()?;
                encoder.finish().ok()
            }
            Coding::Deflate => {
                let mut encoder = ZlibEncoder::new(into, Compression::fast());
                encoder.write_all(plain).ok()?;
                encoder.finish().ok()
            }
        }
    }

    /// Decompresses up to `limit` bytes, in memory that is reserved as it grows. Yields to other tasks now and then.
    pub async fn decode(
        self,
        bytes: &[u8],
        limit: usize,
        reservation: &mut Reservation,
    ) -> Result<Vec<u8>, DecodeError> {
        let mut into = Decoded { bytes: Vec::new(), limit, next_yield: YIELD_BYTES, reservation };
        match self {
            Coding::Gzip => gunzip(bytes, &mut into).await?,
            Coding::Deflate => inflate(bytes, &mut into).await?,
        }
        Ok(into.bytes)
    }
}

/// The decompressed bytes, as they grow.
struct Decoded<'a> {
    bytes: Vec<u8>,
    limit: usize,
    /// The length at which to yield.
    next_yield: usize,
    reservation: &'a mut Reservation,
}

impl Decoded<'_> {
    /// Makes space for a step, unless the limit is exceeded already. Returns where it begins.
    async fn make_space(&mut self) -> Result<usize, DecodeError> {
        let begin = self.bytes.len();
        if begin > self.limit {
            return Err(DecodeError::TooLarge);
        }
        if begin >= self.next_yield {
            self.next_yield = begin + YIELD_BYTES;
            yield_now().await;
        }
        if begin == self.bytes.capacity() {
            let more = begin.max(INITIAL_BYTES);
            self.reservation.grow_by(more)?;
            self.bytes.reserve_exact(more);
        }
        self.bytes.resize(self.bytes.capacity().min(begin + STEP_BYTES), 0);
        Ok(begin)
    }
}

/// The quality of a preference, from 0 to 1. One that cannot be parsed counts as absent, which is 1.
fn quality(parameters: &str) -> f64 {
    let Some((_, value)) = parameters.split_once("q=") else { return 1.0 };
    let value = value.split(';').next().unwrap_or_default().trim();
    value.parse::<f64>().map_or(1.0, |quality| quality.clamp(0.0, 1.0))
}

/// Decompresses consecutive gzip members. What follows them and is no member is ignored, as on AWS.
async fn gunzip(bytes: &[u8], into: &mut Decoded<'_>) -> Result<(), DecodeError> {
    let mut rest = bytes;
    for _ in 0..MAX_MEMBERS {
        let mut member = GzDecoder::new(rest);
        loop {
            let begin = into.make_space().await?;
            let read = member.read(&mut into.bytes[begin..]).map_err(|_| DecodeError::Undecodable)?;
            into.bytes.truncate(begin + read);
            if read == 0 {
                break;
            }
        }
        rest = member.into_inner();
        if !rest.starts_with(&GZIP_MAGIC) {
            return Ok(());
        }
    }
    Err(DecodeError::Undecodable)
}

async fn inflate(bytes: &[u8], into: &mut Decoded<'_>) -> Result<(), DecodeError> {
    let mut stream = Decompress::new(true);
    loop {
        let begin = into.make_space().await?;
        let before = (stream.total_in(), stream.total_out());
        let rest = &bytes[stream.total_in() as usize..];
        let status = stream.decompress(rest, &mut into.bytes[begin..], FlushDecompress::None);
        into.bytes.truncate(stream.total_out() as usize);
        if into.bytes.len() > into.limit {
            return Err(DecodeError::TooLarge);
        }
        match status {
            Ok(Status::StreamEnd) => return Ok(()),
            Ok(_) if before != (stream.total_in(), stream.total_out()) => {}
            _ => return Err(DecodeError::Undecodable),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::budget::Budget;
    use crate::yield_counter::count_yields;

    const BOTH: [Coding; 2] = [Coding::Gzip, Coding::Deflate];

    fn decode(coding: Coding, bytes: &[u8], limit: usize) -> Result<Vec<u8>, DecodeError> {
        decode_within(Budget::new(1 << 30, || ()), coding, bytes, limit)
    }

    fn decode_within(
        budget: &'static Budget,
        coding: Coding,
        bytes: &[u8],
        limit: usize,
    ) -> Result<Vec<u8>, DecodeError> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(coding.decode(bytes, limit, &mut budget.reservation()))
    }

    fn accepted(preference: &str) -> Option<Coding> {
        Coding::accepted(Headers::new(&[("Accept-Encoding", preference.as_bytes())]))
    }

    #[test]
    fn encoding_and_decoding_round_trip() {
        let text = b"compressible ".repeat(10_000);
        for coding in BOTH {
            let encoded = coding.encode_after(0, &text).unwrap();
            assert_eq!(coding.encode_after(4, &[b"head", &text[..]].concat()).unwrap()[4..], encoded);
            assert!(encoded.len() < text.len() / 10);
            assert_eq!(decode(coding, &encoded, text.len()).unwrap(), text);
            assert_eq!(decode(coding, &encoded, text.len() - 1), Err(DecodeError::TooLarge));
            for broken in [&encoded[..encoded.len() - 1], b"", b"plain"] {
                assert_eq!(decode(coding, broken, text.len()), Err(DecodeError::Undecodable), "{coding:?}");
            }
        }
    }

    #[test]
    fn consecutive_members_are_decoded_and_trailing_bytes_ignored() {
        let mut bytes = Coding::Gzip.encode_after(0, b"one ").unwrap();
        bytes.extend(Coding::Gzip.encode_after(0, b"two").unwrap());
        bytes.extend_from_slice(b"junk");
        assert_eq!(decode(Coding::Gzip, &bytes, 100).unwrap(), b"one two");
    }

    #[test]
    fn memory_is_reserved_as_it_grows() {
        for coding in BOTH {
            let encoded = coding.encode_after(0, &vec![b' '; 10 << 20]).unwrap();
            assert_eq!(decode(coding, &encoded, 16 << 20).unwrap().len(), 10 << 20);
            let narrow = Budget::new(4 << 20, || ());
            assert_eq!(decode_within(narrow, coding, &encoded, 16 << 20), Err(DecodeError::BudgetExceeded));
        }
    }

    #[tokio::test]
    async fn decoding_yields_to_other_tasks() {
        for coding in BOTH {
            let encoded = coding.encode_after(0, &vec![b' '; 16 * YIELD_BYTES - 1]).unwrap();
            let mut reservation = Budget::new(1 << 30, || ()).reservation();
            let (decoded, yields) =
                count_yields(coding.decode(&encoded, 16 * YIELD_BYTES, &mut reservation)).await;
            assert_eq!((decoded.unwrap().len(), yields), (16 * YIELD_BYTES - 1, 15));
        }
    }

    #[test]
    fn preferences_may_be_in_several_headers() {
        let both: [(&str, &[u8]); 2] = [("Accept-Encoding", b"gzip;q=0.1"), ("accept-encoding", b"deflate")];
        assert_eq!(Coding::accepted(Headers::new(&both)), Some(Coding::Deflate));
        let other: [(&str, &[u8]); 2] = [("accept-encoding", b"identity"), ("accept-encoding", b"gzip")];
        assert_eq!(Coding::accepted(Headers::new(&other)), Some(Coding::Gzip));
    }

    #[test]
    fn the_highest_quality_wins() {
        for (preference, coding) in [
            ("gzip", Coding::Gzip),
            ("DEFLATE", Coding::Deflate),
            ("gzip, deflate", Coding::Gzip),
            ("br, deflate, gzip", Coding::Deflate),
            ("deflate;q=0.3, gzip;q=0.7", Coding::Gzip),
            ("identity;q=1, gzip;q=0.1", Coding::Gzip),
            ("*", Coding::Gzip),
            ("*, deflate", Coding::Deflate),
            ("*, gzip;q=0.9", Coding::Deflate),
            ("gzip;q=7, deflate;q=9", Coding::Gzip),
            ("deflate;q=0.5, gzip;q=what", Coding::Gzip),
            ("gzip;q=0, gzip", Coding::Gzip),
        ] {
            assert_eq!(accepted(preference), Some(coding), "{preference}");
        }
        for preference in
            ["", "identity", "br", "x-gzip", "gzip;q=0", "*;q=0", "gzip ; q=0", "\"gzip\"", "gzip br"]
        {
            assert_eq!(accepted(preference), None, "{preference}");
        }
    }

    #[test]
    fn unknown_codings_of_requests_are_refused() {
        let sent = |name: &str| Coding::of_request(Headers::new(&[("content-encoding", name.as_bytes())]));
        assert_eq!(Coding::of_request(Headers::new(&[])), Ok(None));
        assert_eq!(
            (sent("identity"), sent("gzip"), sent("deflate")),
            (Ok(None), Ok(Some(BOTH[0])), Ok(Some(BOTH[1])))
        );
        assert_eq!(sent("br"), Err(DecodeError::Undecodable));
    }
}
