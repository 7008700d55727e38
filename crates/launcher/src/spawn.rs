//! Evaluator's side: starts a program through the launcher, or directly where our binary is not the evaluator or the system is not Linux.

use crate::LaunchRequest;
use crate::started_programs::StartedProgram;
use process_wrap::tokio::{ChildWrapper, CommandWrap};
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::OnceLock;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};

/// Set by the evaluator's `main`. Test programs of our crates do not have the launcher in them and start programs directly.
static LAUNCHER: OnceLock<()> = OnceLock::new();

/// Declares that this program calls [`crate::run_launcher`] for [`crate::LAUNCHER_ARGUMENT`].
pub fn enable_launcher() {
    let _ = LAUNCHER.set(());
}

/// Program with its surroundings.
#[derive(Debug)]
pub struct ProgramLaunch<'l> {
    pub request: &'l LaunchRequest,
    /// Complete environment.
    pub env: &'l [(String, String)],
    /// Working folder; `None` for our own.
    pub folder: Option<&'l Path>,
    pub input: ProgramInput,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramInput {
    Null,
    Piped,
}

/// Running program and its pipes. `child` is the launcher where there is one; it exits as the program did.
#[derive(Debug)]
pub struct LaunchedProgram {
    pub child: Box<dyn ChildWrapper>,
    pub stdin: Option<ChildStdin>,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
    pub lifeline: LauncherConnection,
}

/// Connection to the launcher. When it closes, also because this process was killed, the launcher ends the program.
#[derive(Debug)]
pub struct LauncherConnection {
    _started: StartedProgram,
    #[cfg(target_os = "linux")]
    _socket: Option<tokio::net::UnixStream>,
}

impl LaunchedProgram {
    /// Starts a program in a session of its own.
    ///
    /// # Errors
    /// If it cannot be started or confined.
    pub async fn start(launch: ProgramLaunch<'_>) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if LAUNCHER.get().is_some() {
            return launched::start(launch).await;
        }
        Self::start_directly(&launch)
    }

    fn start_directly(launch: &ProgramLaunch<'_>) -> io::Result<Self> {
        let (program, args) = launch.request.command.split_first().ok_or_else(|| io::Error::other("the command is empty"))?;
        let mut command = Command::new(program);
        command.args(args).kill_on_drop(true).stdin(match launch.input {
            ProgramInput::Null => Stdio::null(),
            ProgramInput::Piped => Stdio::piped(),
        });
        let (mut child, started) = spawn(command, launch)?;
        let stdin = child.stdin().take();
        Self::with_pipes(child, stdin, LauncherConnection::without_launcher(started))
    }

    fn with_pipes(mut child: Box<dyn ChildWrapper>, stdin: Option<ChildStdin>, lifeline: LauncherConnection) -> io::Result<Self> {
        let missing = || io::Error::other("a pipe is missing");
        let (stdout, stderr) = (child.stdout().take().ok_or_else(missing)?, child.stderr().take().ok_or_else(missing)?);
        Ok(Self { child, stdin, stdout, stderr, lifeline })
    }
}

impl LauncherConnection {
    fn without_launcher(started: StartedProgram) -> Self {
        Self {
            _started: started,
            #[cfg(target_os = "linux")]
            _socket: None,
        }
    }
}

fn spawn(mut command: Command, launch: &ProgramLaunch<'_>) -> io::Result<(Box<dyn ChildWrapper>, StartedProgram)> {
    command.env_clear().envs(launch.env.iter().map(|(name, value)| (name, value)));
    if let Some(folder) = launch.folder {
        command.current_dir(folder);
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut command = CommandWrap::from(command);
    #[cfg(unix)]
    command.wrap(process_wrap::tokio::ProcessSession);
    #[cfg(windows)]
    command.wrap(process_wrap::tokio::JobObject);
    StartedProgram::enter(|| command.spawn(), |child| child.id())
}

#[cfg(target_os = "linux")]
mod launched {
    use super::{LaunchedProgram, LauncherConnection, ProgramInput, ProgramLaunch, spawn};
    use crate::LAUNCHER_ARGUMENT;
    use crate::request::LaunchReply;
    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
    use std::io::{self, IoSlice, PipeReader};
    use std::mem::MaybeUninit;
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::net::UnixStream;
    use std::process::Stdio;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::process::{ChildStdin, Command};

    /// Our own binary, also if its file was replaced meanwhile.
    const OWN_PROGRAM: &str = "/proc/self/exe";

    pub(super) async fn start(launch: ProgramLaunch<'_>) -> io::Result<LaunchedProgram> {
        // If this future is dropped, the socket closes and the launcher ends what it has started.
        let (ours, theirs) = UnixStream::pair()?;
        let mut command = Command::new(OWN_PROGRAM);
        command.arg0("bardo-eval").arg(LAUNCHER_ARGUMENT).stdin(Stdio::from(OwnedFd::from(theirs)));
        let (mut child, started) = spawn(command, &launch)?;
        let stdin = match launch.input {
            ProgramInput::Null => {
                send_input(&ours, None)?;
                None
            }
            ProgramInput::Piped => {
                let (reader, writer) = io::pipe()?;
                send_input(&ours, Some(&reader))?;
                Some(ChildStdin::from_std(OwnedFd::from(writer).into())?)
            }
        };
        ours.set_nonblocking(true)?;
        let mut socket = tokio::net::UnixStream::from_std(ours)?;
        let mut request = serde_json::to_vec(launch.request)?;
        request.push(b'\n');
        socket.write_all(&request).await?;
        let reply = read_reply(&mut socket).await;
        if reply.is_err() {
            let _ = child.start_kill();
        }
        match reply? {
            LaunchReply::Started => {
                LaunchedProgram::with_pipes(child, stdin, LauncherConnection { _started: started, _socket: Some(socket) })
            }
            LaunchReply::Failed(why) => Err(io::Error::other(why)),
        }
    }

    /// Sends the program's standard input, which the launcher cannot inherit: its own is the connection to us.
    fn send_input(socket: &UnixStream, input: Option<&PipeReader>) -> io::Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let descriptors = input.map(|input| [input.as_fd()]);
        if let Some(descriptors) = &descriptors
            && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors))
        {
            return Err(io::Error::other("the standard input does not fit"));
        }
        sendmsg(socket, &[IoSlice::new(b"\n")], &mut ancillary, SendFlags::NOSIGNAL)?;
        Ok(())
    }

    async fn read_reply(socket: &mut tokio::net::UnixStream) -> io::Result<LaunchReply> {
        let mut line = vec![];
        loop {
            let byte = socket.read_u8().await.map_err(|_| io::Error::other("the launcher ended before it answered"))?;
            if byte == b'\n' {
                return Ok(serde_json::from_slice(&line)?);
            }
            line.push(byte);
        }
    }
}
