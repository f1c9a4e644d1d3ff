//! Compression: of requests as their `Content-Encoding` says, of answers as `Accept-Encoding` asks.

use crate::budget::{NoRoom, Share};
use flate2::bufread::GzDecoder;
use flate2::write::{GzEncoder, ZlibEncoder};
use flate2::{Compression, Decompress, FlushDecompress, Status};
use partita_auth::Headers;
use partita_engine::yield_now;
use std::io::{Read, Write};

/// How a gzip member begins.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// To begin a member takes far longer than its few bytes do.
const MOST_MEMBERS: usize = 1_000;
/// Room made at first for what is being decompressed; then it doubles.
const FIRST_BYTES: usize = 8 * 1_024;
/// Decompressed at a time.
const STEP_BYTES: usize = 64 * 1_024;
/// Others have their turn behind so many bytes: a few milliseconds at most.
const TURN_BYTES: usize = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    Gzip,
    /// What HTTP calls deflate: in zlib's format.
    Deflate,
}

#[derive(Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// Not the compression it claims to be, or one that is not known.
    Undecodable,
    TooLarge,
    NoRoom,
}

impl From<NoRoom> for DecodeError {
    fn from(_: NoRoom) -> DecodeError {
        DecodeError::NoRoom
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

    /// What a request's body is coded with; none if it is as it is.
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

    /// What an answer may be coded with. As on AWS: identity is no wish, a star stands for what is not named, and of
    /// equal wishes the first is taken.
    pub fn accepted(headers: Headers<'_>) -> Option<Coding> {
        if !headers.contains("accept-encoding") {
            return None;
        }
        let mut wishes = Vec::new();
        let mut star = 0.0;
        let sent = headers.get_all("accept-encoding").filter_map(|value| std::str::from_utf8(value).ok());
        for entry in sent.flat_map(|value| value.split(',')) {
            let (name, parameters) = entry.split_once(';').unwrap_or((entry, ""));
            match name.trim() {
                "*" => star = quality(parameters),
                name => wishes.extend(Coding::named(name).map(|coding| (coding, quality(parameters)))),
            }
        }
        for coding in [Coding::Gzip, Coding::Deflate] {
            if !wishes.iter().any(|(named, _)| *named == coding) {
                wishes.push((coding, star));
            }
        }
        let better = |best: Option<(Coding, f64)>, wish: (Coding, f64)| match best {
            Some(best) if best.1 >= wish.1 => Some(best),
            _ => Some(wish),
        };
        let positive = wishes.into_iter().filter(|(_, quality)| *quality > 0.0);
        positive.fold(None, better).map(|(coding, _)| coding)
    }

    /// Codes what stands behind the first `room` bytes, and leaves as much room before it.
    pub fn encode_behind(self, room: usize, bytes: &[u8]) -> Option<Vec<u8>> {
        let plain = bytes.get(room..)?;
        let mut into = Vec::with_capacity(room + plain.len() / 4);
        into.resize(room, 0);
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

    /// Undoes the coding, up to so many bytes, in room that is asked for as it grows. Others have their turn meanwhile.
    pub async fn decode(self, bytes: &[u8], most: usize, share: &mut Share) -> Result<Vec<u8>, DecodeError> {
        let mut into = Decoded { bytes: Vec::new(), most, turn_ends: TURN_BYTES, share };
        match self {
            Coding::Gzip => gunzip(bytes, &mut into).await?,
            Coding::Deflate => inflate(bytes, &mut into).await?,
        }
        Ok(into.bytes)
    }
}

/// What is decompressed, as it grows.
struct Decoded<'a> {
    bytes: Vec<u8>,
    most: usize,
    /// At this length others have their turn.
    turn_ends: usize,
    share: &'a mut Share,
}

impl Decoded<'_> {
    /// Makes room for a step, if what there is is not too much already. Returns where it begins.
    async fn make_room(&mut self) -> Result<usize, DecodeError> {
        let begin = self.bytes.len();
        if begin > self.most {
            return Err(DecodeError::TooLarge);
        }
        if begin >= self.turn_ends {
            self.turn_ends = begin + TURN_BYTES;
            yield_now().await;
        }
        if begin == self.bytes.capacity() {
            let more = begin.max(FIRST_BYTES);
            self.share.grow_by(more)?;
            self.bytes.reserve_exact(more);
        }
        self.bytes.resize(self.bytes.capacity().min(begin + STEP_BYTES), 0);
        Ok(begin)
    }
}

/// A wish's weight between 0 and 1. One that cannot be read counts as none given, which is the most.
fn quality(parameters: &str) -> f64 {
    let Some((_, value)) = parameters.split_once("q=") else { return 1.0 };
    let value = value.split(';').next().unwrap_or_default().trim();
    value.parse::<f64>().map_or(1.0, |quality| quality.clamp(0.0, 1.0))
}

/// One gzip member behind the other. What follows them and is none is ignored, as on AWS.
async fn gunzip(bytes: &[u8], into: &mut Decoded<'_>) -> Result<(), DecodeError> {
    let mut rest = bytes;
    for _ in 0..MOST_MEMBERS {
        let mut member = GzDecoder::new(rest);
        loop {
            let begin = into.make_room().await?;
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
        let begin = into.make_room().await?;
        let before = (stream.total_in(), stream.total_out());
        let rest = &bytes[stream.total_in() as usize..];
        let status = stream.decompress(rest, &mut into.bytes[begin..], FlushDecompress::None);
        into.bytes.truncate(stream.total_out() as usize);
        if into.bytes.len() > into.most {
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
    use crate::budget::Budget;
    use crate::turns::turns_beside;

    const BOTH: [Coding; 2] = [Coding::Gzip, Coding::Deflate];

    fn decode(coding: Coding, bytes: &[u8], most: usize) -> Result<Vec<u8>, DecodeError> {
        decode_within(Budget::new(1 << 30, || ()), coding, bytes, most)
    }

    fn decode_within(
        budget: &'static Budget,
        coding: Coding,
        bytes: &[u8],
        most: usize,
    ) -> Result<Vec<u8>, DecodeError> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(coding.decode(bytes, most, &mut budget.share()))
    }

    fn accepted(wish: &str) -> Option<Coding> {
        Coding::accepted(Headers::new(&[("Accept-Encoding", wish.as_bytes())]))
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        let text = b"compressible ".repeat(10_000);
        for coding in BOTH {
            let encoded = coding.encode_behind(0, &text).unwrap();
            assert_eq!(coding.encode_behind(4, &[b"head", &text[..]].concat()).unwrap()[4..], encoded);
            assert!(encoded.len() < text.len() / 10);
            assert_eq!(decode(coding, &encoded, text.len()).unwrap(), text);
            assert_eq!(decode(coding, &encoded, text.len() - 1), Err(DecodeError::TooLarge));
            for broken in [&encoded[..encoded.len() - 1], b"", b"plain"] {
                assert_eq!(decode(coding, broken, text.len()), Err(DecodeError::Undecodable), "{coding:?}");
            }
        }
    }

    #[test]
    fn members_follow_each_other_and_the_rest_is_ignored() {
        let mut bytes = Coding::Gzip.encode_behind(0, b"one ").unwrap();
        bytes.extend(Coding::Gzip.encode_behind(0, b"two").unwrap());
        bytes.extend_from_slice(b"junk");
        assert_eq!(decode(Coding::Gzip, &bytes, 100).unwrap(), b"one two");
    }

    #[test]
    fn room_is_asked_for_as_it_grows() {
        for coding in BOTH {
            let encoded = coding.encode_behind(0, &vec![b' '; 10 << 20]).unwrap();
            assert_eq!(decode(coding, &encoded, 16 << 20).unwrap().len(), 10 << 20);
            let narrow = Budget::new(4 << 20, || ());
            assert_eq!(decode_within(narrow, coding, &encoded, 16 << 20), Err(DecodeError::NoRoom));
        }
    }

    #[tokio::test]
    async fn others_have_their_turn_meanwhile() {
        for coding in BOTH {
            let encoded = coding.encode_behind(0, &vec![b' '; 16 * TURN_BYTES - 1]).unwrap();
            let mut share = Budget::new(1 << 30, || ()).share();
            let (decoded, turns) = turns_beside(coding.decode(&encoded, 16 * TURN_BYTES, &mut share)).await;
            assert_eq!((decoded.unwrap().len(), turns), (16 * TURN_BYTES - 1, 15));
        }
    }

    #[test]
    fn wishes_may_stand_in_several_headers() {
        let both: [(&str, &[u8]); 2] = [("Accept-Encoding", b"gzip;q=0.1"), ("accept-encoding", b"deflate")];
        assert_eq!(Coding::accepted(Headers::new(&both)), Some(Coding::Deflate));
        let other: [(&str, &[u8]); 2] = [("accept-encoding", b"identity"), ("accept-encoding", b"gzip")];
        assert_eq!(Coding::accepted(Headers::new(&other)), Some(Coding::Gzip));
    }

    #[test]
    fn the_greatest_wish_counts() {
        for (wish, coding) in [
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
            assert_eq!(accepted(wish), Some(coding), "{wish}");
        }
        for wish in ["", "identity", "br", "x-gzip", "gzip;q=0", "*;q=0", "gzip ; q=0", "\"gzip\"", "gzip br"]
        {
            assert_eq!(accepted(wish), None, "{wish}");
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
