//! Connection to the evaluator, which is the launcher's standard input.

use crate::request::{LaunchReply, LaunchRequest};
use rustix::io::{Errno, read, write};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recv, recvmsg};
use rustix::stdio::stdin;
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

/// Maximum size of a request; the kernel allows 2 MB of arguments.
const MAX_REQUEST_BYTES: usize = 8 * 1024 * 1024;

/// Receives the request and the program's standard input; `None` means an empty one.
pub(super) fn receive_request() -> io::Result<(LaunchRequest, Option<OwnedFd>)> {
    let input = receive_input()?;
    let (mut line, mut chunk) = (vec![], [0; 16 * 1024]);
    while !line.ends_with(b"\n") {
        let count = read(stdin(), &mut chunk)?;
        if count == 0 || line.len() > MAX_REQUEST_BYTES {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        line.extend_from_slice(&chunk[..count]);
    }
    Ok((serde_json::from_slice(&line)?, input))
}

fn receive_input() -> io::Result<Option<OwnedFd>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(stdin(), &mut [IoSliceMut::new(&mut byte)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    let rights = ancillary.drain().find_map(|message| {
        let RecvAncillaryMessage::ScmRights(mut descriptors) = message else { return None };
        descriptors.next()
    });
    Ok(rights)
}

pub(super) fn reply(reply: &LaunchReply) {
    let mut line = serde_json::to_vec(reply).unwrap_or_default();
    line.push(b'\n');
    // A short line always fits; an evaluator that is gone is noticed by `wait_for_close`.
    let _ = write(stdin(), &line);
}

/// Returns true if the evaluator has closed the connection or has died.
pub(super) fn is_closed() -> bool {
    let mut byte = [0];
    !matches!(recv(stdin(), &mut byte, RecvFlags::PEEK | RecvFlags::DONTWAIT), Ok((1.., _)) | Err(Errno::AGAIN | Errno::INTR))
}

/// Returns when the evaluator has closed the connection or has died.
pub(super) fn wait_for_close() {
    let mut chunk = [0; 64];
    while matches!(read(stdin(), &mut chunk), Ok(1..) | Err(Errno::INTR)) {}
}
