//! Scorers of a workspace: one process per question, JSON lines on stdin, one line on stdout.

use super::agent_output::OutputMonitor;
use super::agent_process::{AgentHome, AgentProcess};
use super::host_environment::HostEnvironment;
use super::launch::{absolute_if_file, passed_by_default};
use crate::secrets::SecretRedactor;
use launcher::{LaunchRequest, ProgramConfinement, ResourceLimits};
use script::{ScriptLimits, ScriptPool, ScriptReply, ScriptRequest};
use serde_json::Value;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::ChildStdout;

/// Maximum size of an answer.
const MAX_ANSWER_BYTES: usize = 64 * 1024;

/// Environment in which the scorers of a run are started.
#[derive(Debug, Clone, Default)]
pub struct ScorerHost {
    pub environment: HostEnvironment,
    /// Secrets that no message of a scorer may repeat.
    pub secrets: SecretRedactor,
    /// Processes for the JavaScript of cases, started for the first script.
    pub scripts: Arc<OnceLock<ScriptPool>>,
}

/// Question to a scorer.
#[derive(Debug, Clone)]
pub struct ScorerCall<'q> {
    pub command: &'q [String],
    pub input: &'q str,
    pub timeout: Duration,
}

/// Reason why a scorer gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScorerFault {
    #[error("could not be started: {0}")]
    NotStarted(String),
    #[error("failed: {0}")]
    Failed(String),
    #[error("gave no answer within {0} s")]
    Hung(u64),
    #[error("wrote more than {most} bytes", most = MAX_ANSWER_BYTES)]
    TooMuchOutput,
    #[error("wrote text that is not UTF-8")]
    NotText,
}

impl ScorerHost {
    /// Starts the program, gives it the input and returns its output. The program runs in an empty folder, with a minimal environment and
    /// without a sandbox, because it is part of the evaluation. Everything that it started is killed afterwards.
    ///
    /// # Errors
    /// Fails unless the program exits with code 0 in time.
    pub async fn ask(&self, call: ScorerCall<'_>) -> Result<String, ScorerFault> {
        let not_started = |error: std::io::Error| ScorerFault::NotStarted(self.secrets.redact(&error.to_string()).into_owned());
        let home = AgentHome::new().map_err(not_started)?;
        let command: Vec<String> = call.command.iter().map(|word| self.absolute_word(word)).collect();
        let remove = Some(home.root().to_owned());
        let request = LaunchRequest { command, remove, limits: ResourceLimits::AGENT, confinement: ProgramConfinement::Unconfined };
        let (mark, work) = (home.root().display().to_string(), home.work_dir());
        let monitor = Arc::new(OutputMonitor::new(self.secrets.clone()));
        let started = AgentProcess::start(&request, self.variables(&home), &mark, &work, monitor);
        let (mut process, mut stdin, stdout) = started.await.map_err(not_started)?;
        let (input, timeout) = (call.input.as_bytes(), call.timeout);
        let exchange = async {
            let writing = async move {
                // A scorer need not read everything.
                let _ = stdin.write_all(input).await;
                let _ = stdin.shutdown().await;
                Ok::<(), ScorerFault>(())
            };
            let (output, ()) = tokio::try_join!(read_output(stdout), writing)?;
            let status = process.wait_exit().await;
            if !status.is_ok_and(|status| status.success()) {
                return Err(ScorerFault::Failed(process.exit_summary().await));
            }
            String::from_utf8(output).map_err(|_| ScorerFault::NotText)
        };
        tokio::time::timeout(timeout, exchange).await.unwrap_or(Err(ScorerFault::Hung(timeout.as_secs())))
    }

    /// Runs the body of a function of `output` and `context` in a process that can be killed.
    ///
    /// # Errors
    /// Fails if no such process can be started.
    pub async fn run_script(&self, body: &str, output: &Value, context: &Value) -> Result<ScriptReply, ScorerFault> {
        let not_started = |why: String| ScorerFault::NotStarted(self.secrets.redact(&why).into_owned());
        let Some(program) = &self.environment.own_program else {
            return Err(not_started("the file of this program is not known".to_owned()));
        };
        let processes = std::thread::available_parallelism().map_or(2, usize::from);
        let pool = self.scripts.get_or_init(|| ScriptPool::new(program.clone(), ScriptLimits::default(), processes));
        pool.run(ScriptRequest::body(body, output, context)).await.map_err(|why| not_started(why.to_string()))
    }

    /// Makes the path of a file absolute: of one in the workspace, or else of one in the current folder.
    fn absolute_word(&self, word: &str) -> String {
        let in_workspace = self.environment.workspace.as_deref().map_or_else(|| word.to_owned(), |folder| absolute_if_file(folder, word));
        absolute_if_file(&self.environment.folder, &in_workspace)
    }

    fn variables(&self, home: &AgentHome) -> Vec<(String, String)> {
        let path = |name: &str| home.path(name).display().to_string();
        let mut all =
            vec![("HOME".to_owned(), path("home")), ("TMPDIR".to_owned(), path("tmp")), ("PYTHONUNBUFFERED".to_owned(), "1".to_owned())];
        all.extend(passed_by_default(&self.environment));
        all.extend(self.environment.passed_variables());
        all
    }
}

async fn read_output(mut stdout: ChildStdout) -> Result<Vec<u8>, ScorerFault> {
    let (mut output, mut chunk) = (vec![], vec![0; 16 * 1024]);
    while let Ok(n @ 1..) = stdout.read(&mut chunk).await {
        if output.len() + n > MAX_ANSWER_BYTES {
            return Err(ScorerFault::TooMuchOutput);
        }
        output.extend_from_slice(&chunk[..n]);
    }
    Ok(output)
}
