//! Wire format of protobuf, without copies.

/// Bytes that are not protobuf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("truncated or invalid protobuf")]
pub(super) struct WireError;

/// Value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WireValue<'b> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'b [u8]),
    Fixed32(u32),
}

impl<'b> WireValue<'b> {
    pub(super) fn bytes(self) -> Result<&'b [u8], WireError> {
        if let WireValue::Bytes(bytes) = self { Ok(bytes) } else { Err(WireError) }
    }

    pub(super) fn number(self) -> Result<u64, WireError> {
        match self {
            WireValue::Varint(n) | WireValue::Fixed64(n) => Ok(n),
            WireValue::Fixed32(n) => Ok(u64::from(n)),
            WireValue::Bytes(_) => Err(WireError),
        }
    }
}

/// Fields of a message, in order.
#[derive(Debug, Clone)]
pub(super) struct WireFields<'b> {
    rest: &'b [u8],
}

impl<'b> WireFields<'b> {
    pub(super) fn new(message: &'b [u8]) -> Self {
        Self { rest: message }
    }

    fn varint(&mut self) -> Result<u64, WireError> {
        let mut value = 0_u64;
        for (n, byte) in self.rest.iter().enumerate().take(10) {
            value |= u64::from(byte & 0x7f) << (7 * n);
            if byte & 0x80 == 0 {
                self.rest = &self.rest[n + 1..];
                return Ok(value);
            }
        }
        Err(WireError)
    }

    fn take(&mut self, size: usize) -> Result<&'b [u8], WireError> {
        let (taken, rest) = self.rest.split_at_checked(size).ok_or(WireError)?;
        self.rest = rest;
        Ok(taken)
    }

    fn field(&mut self) -> Result<(u64, WireValue<'b>), WireError> {
        let tag = self.varint()?;
        let value = match tag & 7 {
            0 => WireValue::Varint(self.varint()?),
            1 => WireValue::Fixed64(u64::from_le_bytes(self.take(8)?.try_into().map_err(|_| WireError)?)),
            2 => {
                let size = usize::try_from(self.varint()?).map_err(|_| WireError)?;
                WireValue::Bytes(self.take(size)?)
            }
            5 => WireValue::Fixed32(u32::from_le_bytes(self.take(4)?.try_into().map_err(|_| WireError)?)),
            // Groups are not part of OTLP.
            _ => return Err(WireError),
        };
        Ok((tag >> 3, value))
    }
}

impl<'b> Iterator for WireFields<'b> {
    type Item = Result<(u64, WireValue<'b>), WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

/// Encoder of messages, for answers and tests.
#[derive(Debug, Default)]
pub(super) struct WireWriter {
    pub bytes: Vec<u8>,
}

impl WireWriter {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    pub(super) fn number(&mut self, field: u64, value: u64) {
        self.varint(field << 3);
        self.varint(value);
    }

    pub(super) fn text(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }
}
