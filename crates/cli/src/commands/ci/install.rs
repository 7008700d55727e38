//! Installation of the program in a CI job: a released archive with its hash, or a command of the user.

use crate::args::CiPipelineArgs;
use model::UserError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum InstallMethod {
    /// Archive and its SHA-256.
    Archive {
        url: String,
        sha256: String,
    },
    /// Archive and hash are variables of the repository.
    Variables,
    Command(String),
}

/// Hexadecimal digits of a SHA-256.
const SHA256_DIGITS: usize = 64;

impl InstallMethod {
    pub(super) fn resolve(args: &CiPipelineArgs) -> Result<Self, UserError> {
        match (&args.install, &args.install_url, &args.install_sha256) {
            (Some(command), _, _) => Ok(InstallMethod::Command(command.clone())),
            (None, Some(url), Some(sha256)) => {
                let is_url = ["https://", "http://"].iter().any(|scheme| url.len() > scheme.len() && url.starts_with(scheme));
                if !is_url || url.contains(char::is_whitespace) {
                    return Err(UserError::new(
                        format!("--install-url \"{url}\" is not a URL"),
                        "name the archive, as in https://host/bardo-eval.tar.gz",
                    ));
                }
                if sha256.len() != SHA256_DIGITS || !sha256.chars().all(|digit| digit.is_ascii_hexdigit()) {
                    let remedy = "print it with sha256sum bardo-eval.tar.gz";
                    return Err(UserError::new(
                        format!("--install-sha256 \"{sha256}\" is not a SHA-256 of {SHA256_DIGITS} hexadecimal digits"),
                        remedy,
                    ));
                }
                Ok(InstallMethod::Archive { url: url.clone(), sha256: sha256.to_ascii_lowercase() })
            }
            (None, Some(_) | None, Some(_) | None) => Ok(InstallMethod::Variables),
        }
    }

    /// Returns true if the program comes from an archive.
    pub(super) fn is_archive(&self) -> bool {
        match self {
            InstallMethod::Archive { .. } | InstallMethod::Variables => true,
            InstallMethod::Command(_) => false,
        }
    }
}

/// Returns the commands that download, check and unpack the archive into a folder, and set `program`. `temp` is a folder of the job.
pub(super) fn archive_commands(temp: &str) -> String {
    format!(
        r#"if [ -z "${{BARDO_EVAL_URL:-}}" ] || [ -z "${{BARDO_EVAL_SHA256:-}}" ]; then
  echo "set BARDO_EVAL_URL and BARDO_EVAL_SHA256: the archive of bardo-eval and its SHA-256" >&2
  exit 1
fi
mkdir -p "{temp}/bardo-eval"
curl --fail --silent --show-error --location --retry 3 --output "{temp}/bardo-eval.tar.gz" "$BARDO_EVAL_URL"
echo "$BARDO_EVAL_SHA256  {temp}/bardo-eval.tar.gz" | sha256sum --check --strict
tar -xf "{temp}/bardo-eval.tar.gz" -C "{temp}/bardo-eval"
program=$(find "{temp}/bardo-eval" -type f -name bardo-eval -print -quit)
if [ -z "$program" ]; then
  echo "the archive has no program bardo-eval" >&2
  exit 1
fi
chmod +x "$program"
"#
    )
}
