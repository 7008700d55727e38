//! Decompression of gzip bodies within a limit.

use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_with_limit};

/// Body that cannot be decompressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum GzipError {
    #[error("the body is not gzip")]
    Malformed,
    #[error("the decompressed body is too large")]
    TooLarge,
}

const HEADER: usize = 10;
const TRAILER: usize = 8;
const CHECKSUM: u8 = 2;
const EXTRA: u8 = 4;
const NAME: u8 = 8;
const COMMENT: u8 = 16;

/// Decompresses one member of at most `limit` bytes.
pub(super) fn unpack(body: &[u8], limit: usize) -> Result<Vec<u8>, GzipError> {
    let (head, mut rest) = body.split_at_checked(HEADER).ok_or(GzipError::Malformed)?;
    let [0x1f, 0x8b, 8, flags, ..] = *head else { return Err(GzipError::Malformed) };
    if flags & EXTRA != 0 {
        let (size, after) = rest.split_first_chunk::<2>().ok_or(GzipError::Malformed)?;
        rest = after.get(usize::from(u16::from_le_bytes(*size))..).ok_or(GzipError::Malformed)?;
    }
    for flag in [NAME, COMMENT] {
        if flags & flag != 0 {
            let end = rest.iter().position(|byte| *byte == 0).ok_or(GzipError::Malformed)?;
            rest = &rest[end + 1..];
        }
    }
    if flags & CHECKSUM != 0 {
        rest = rest.get(2..).ok_or(GzipError::Malformed)?;
    }
    let (data, trailer) = rest.split_at_checked(rest.len().saturating_sub(TRAILER)).ok_or(GzipError::Malformed)?;
    let size = trailer.last_chunk::<4>().map(|size| u32::from_le_bytes(*size)).ok_or(GzipError::Malformed)?;
    let unpacked = decompress_to_vec_with_limit(data, limit)
        .map_err(|error| if error.status == TINFLStatus::HasMoreOutput { GzipError::TooLarge } else { GzipError::Malformed })?;
    if u32::try_from(unpacked.len()) != Ok(size) {
        return Err(GzipError::Malformed);
    }
    Ok(unpacked)
}

/// Compresses a body, for tests.
#[cfg(test)]
pub(super) fn pack(body: &[u8]) -> Vec<u8> {
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    packed.extend(miniz_oxide::deflate::compress_to_vec(body, 6));
    packed.extend([0; 4]);
    packed.extend(u32::try_from(body.len()).unwrap().to_le_bytes());
    packed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_unpacked_within_the_limit() {
        let body = b"trace ".repeat(1_000);
        assert_eq!(unpack(&pack(&body), 6_000), Ok(body.clone()));
        assert_eq!(unpack(&pack(&body), 5_999), Err(GzipError::TooLarge));
        let bomb = pack(&vec![0; 100 << 20]);
        assert!(bomb.len() < 200 << 10);
        assert_eq!(unpack(&bomb, 1 << 20), Err(GzipError::TooLarge));
    }

    #[test]
    fn damaged_bodies_are_refused() {
        let good = pack(b"some text that is long enough to be cut");
        for end in 0..good.len() {
            assert_eq!(unpack(&good[..end], 1_000), Err(GzipError::Malformed), "{end}");
        }
        assert_eq!(unpack(b"{\"resourceSpans\":[]}", 1_000), Err(GzipError::Malformed));
    }
}
