//! Reads entries of a zip archive: stored, deflated or compressed with Zstandard, as Inspect writes them.

use crate::json_splitter::MAX_ITEM_BYTES;
use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom};

/// Largest list of entries, in bytes.
const MAX_DIRECTORY_BYTES: u64 = 64 << 20;
const END_RECORD: usize = 22;
const MAX_COMMENT: u64 = 1 << 16;

/// Place of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ZipEntry {
    method: u16,
    compressed: u64,
    size: u64,
    offset: u64,
}

/// Source of an archive.
pub(crate) trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

/// Returns the entries by name. Of two with the same name the last one counts.
pub(crate) fn entries(archive: &mut dyn ReadSeek) -> io::Result<BTreeMap<String, ZipEntry>> {
    let length = archive.seek(SeekFrom::End(0))?;
    let tail_start = length.saturating_sub(MAX_COMMENT + END_RECORD as u64 + 20);
    let tail = read_at(archive, tail_start, length - tail_start)?;
    let end = (0..=tail.len().saturating_sub(END_RECORD)).rev().find(|at| tail[*at..].starts_with(b"PK\x05\x06"));
    let end = end.ok_or_else(|| wrong("the archive has no list of entries; it may be cut off"))?;
    let (mut size, mut offset) = (u64::from(u32_at(&tail, end + 12)?), u64::from(u32_at(&tail, end + 16)?));
    if end >= 20 && tail[end - 20..].starts_with(b"PK\x06\x07") {
        let record = read_at(archive, u64_at(&tail, end - 12)?, 56)?;
        (size, offset) = (u64_at(&record, 40)?, u64_at(&record, 48)?);
    }
    if size > MAX_DIRECTORY_BYTES || offset.saturating_add(size) > length {
        return Err(wrong("the list of entries is too large"));
    }
    let directory = read_at(archive, offset, size)?;
    let (mut found, mut at) = (BTreeMap::new(), 0);
    while directory.get(at..).is_some_and(|rest| rest.starts_with(b"PK\x01\x02")) {
        let [name, extra, comment] = [28, 30, 32].map(|field| u16_at(&directory, at + field).map(usize::from));
        let (name, extra, comment) = (name?, extra?, comment?);
        let text = slice(&directory, at + 46, name)?;
        let mut entry = ZipEntry {
            method: u16_at(&directory, at + 10)?,
            compressed: u64::from(u32_at(&directory, at + 20)?),
            size: u64::from(u32_at(&directory, at + 24)?),
            offset: u64::from(u32_at(&directory, at + 42)?),
        };
        entry.widen(slice(&directory, at + 46 + name, extra)?)?;
        found.insert(String::from_utf8_lossy(text).into_owned(), entry);
        at += 46 + name + extra + comment;
    }
    Ok(found)
}

impl ZipEntry {
    /// Takes the numbers of large archives from the extra field.
    fn widen(&mut self, extra: &[u8]) -> io::Result<()> {
        let mut at = 0;
        while at + 4 <= extra.len() {
            let (id, length) = (u16_at(extra, at)?, usize::from(u16_at(extra, at + 2)?));
            if id == 1 {
                let mut field = at + 4;
                for number in [&mut self.size, &mut self.compressed, &mut self.offset] {
                    if *number == u64::from(u32::MAX) {
                        *number = u64_at(extra, field)?;
                        field += 8;
                    }
                }
            }
            at += 4 + length;
        }
        Ok(())
    }
}

/// Returns the content of an entry.
pub(crate) fn read_entry(archive: &mut dyn ReadSeek, entry: ZipEntry) -> io::Result<Vec<u8>> {
    if entry.size > MAX_ITEM_BYTES as u64 || entry.compressed > MAX_ITEM_BYTES as u64 {
        return Err(wrong("the entry has more than 32 MB"));
    }
    let header = read_at(archive, entry.offset, 30)?;
    if !header.starts_with(b"PK\x03\x04") {
        return Err(wrong("the entry is not where the list says"));
    }
    let skipped = 30 + u64::from(u16_at(&header, 26)?) + u64::from(u16_at(&header, 28)?);
    let packed = read_at(archive, entry.offset.saturating_add(skipped), entry.compressed)?;
    match entry.method {
        0 => Ok(packed),
        8 => miniz_oxide::inflate::decompress_to_vec_with_limit(&packed, MAX_ITEM_BYTES)
            .map_err(|error| wrong(&format!("the entry cannot be inflated: {error}"))),
        93 => unpack_zstd(&packed),
        other => Err(wrong(&format!("the entry is compressed by method {other}, which is not supported"))),
    }
}

fn unpack_zstd(mut packed: &[u8]) -> io::Result<Vec<u8>> {
    let mut out = vec![];
    while !packed.is_empty() {
        let frame = ruzstd::decoding::StreamingDecoder::new(&mut packed)
            .map_err(|error| wrong(&format!("the entry cannot be unpacked: {error}")))?;
        let left = (MAX_ITEM_BYTES - out.len()) as u64;
        frame.take(left + 1).read_to_end(&mut out)?;
        if out.len() > MAX_ITEM_BYTES {
            return Err(wrong("the entry has more than 32 MB"));
        }
    }
    Ok(out)
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn read_at(archive: &mut dyn ReadSeek, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    archive.seek(SeekFrom::Start(offset))?;
    let mut bytes = vec![];
    archive.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length { Ok(bytes) } else { Err(wrong("the archive is cut off")) }
}

fn slice(bytes: &[u8], at: usize, length: usize) -> io::Result<&[u8]> {
    bytes.get(at..at.saturating_add(length)).ok_or_else(|| wrong("the archive is cut off"))
}

fn u16_at(bytes: &[u8], at: usize) -> io::Result<u16> {
    slice(bytes, at, 2).map(|found| u16::from_le_bytes([found[0], found[1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> io::Result<u32> {
    Ok(u32::from(u16_at(bytes, at)?) | u32::from(u16_at(bytes, at + 2)?) << 16)
}

fn u64_at(bytes: &[u8], at: usize) -> io::Result<u64> {
    Ok(u64::from(u32_at(bytes, at)?) | u64::from(u32_at(bytes, at + 4)?) << 32)
}
