//! Kinds of confinement for external agents, and the choice between them on this machine.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxMode {
    Landlock,
    Bubblewrap,
    Unconfined,
}

impl SandboxMode {
    const ALL: &'static [(&'static str, SandboxMode)] =
        &[("landlock", SandboxMode::Landlock), ("bwrap", SandboxMode::Bubblewrap), ("none", SandboxMode::Unconfined)];

    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, mode)| *mode == self).map_or("", |(word, _)| word)
    }
}

impl fmt::Display for SandboxMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for SandboxMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().find(|(word, _)| *word == text).map(|(_, mode)| *mode);
        known.ok_or_else(|| "expected landlock, bwrap or none".to_owned())
    }
}

/// Confinement that agents of this run get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxChoice {
    pub mode: SandboxMode,
    /// Path of the program `bwrap`, for that mode.
    pub bwrap: Option<PathBuf>,
    /// Set if Landlock is the default and this machine lacks it.
    pub is_fallback: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SandboxError {
    #[error("this kernel has no Landlock")]
    NoLandlock,
    #[error("bwrap was not found in the search path")]
    NoBubblewrap,
}

impl SandboxError {
    pub fn remedy(self) -> &'static str {
        match self {
            SandboxError::NoLandlock => "use --sandbox bwrap or --sandbox none, or a Linux kernel of 5.13 or newer with Landlock enabled",
            SandboxError::NoBubblewrap => "install the package bubblewrap, or use --sandbox landlock",
        }
    }
}

impl SandboxChoice {
    pub fn unconfined() -> Self {
        Self { mode: SandboxMode::Unconfined, bwrap: None, is_fallback: false }
    }

    /// Resolves the wish of the user. `bwrap` is the program found in the search path.
    ///
    /// # Errors
    /// If the wish cannot be met on this machine.
    pub fn resolve(wish: Option<SandboxMode>, bwrap: Option<PathBuf>) -> Result<Self, SandboxError> {
        Self::resolve_with(wish, bwrap, landlock_is_available())
    }

    fn resolve_with(wish: Option<SandboxMode>, bwrap: Option<PathBuf>, has_landlock: bool) -> Result<Self, SandboxError> {
        let plain = |mode| Self { mode, bwrap: None, is_fallback: false };
        match (wish, bwrap) {
            (Some(SandboxMode::Unconfined), _) => Ok(Self::unconfined()),
            (Some(SandboxMode::Bubblewrap), Some(program)) => Ok(Self { bwrap: Some(program), ..plain(SandboxMode::Bubblewrap) }),
            (Some(SandboxMode::Bubblewrap), None) => Err(SandboxError::NoBubblewrap),
            (Some(SandboxMode::Landlock) | None, _) if has_landlock => Ok(plain(SandboxMode::Landlock)),
            (Some(SandboxMode::Landlock), _) => Err(SandboxError::NoLandlock),
            (None, _) => Ok(Self { is_fallback: true, ..Self::unconfined() }),
        }
    }
}

#[cfg(target_os = "linux")]
fn landlock_is_available() -> bool {
    crate::launcher_process::landlock_is_available()
}

#[cfg(not(target_os = "linux"))]
fn landlock_is_available() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wish_is_met_or_refused_and_the_default_falls_back() {
        let bwrap = Some(PathBuf::from("/usr/bin/bwrap"));
        let mode = |wish, bwrap, has| SandboxChoice::resolve_with(wish, bwrap, has).map(|choice| (choice.mode, choice.is_fallback));
        assert_eq!(mode(None, None, true), Ok((SandboxMode::Landlock, false)));
        assert_eq!(mode(None, bwrap.clone(), false), Ok((SandboxMode::Unconfined, true)));
        assert_eq!(mode(Some(SandboxMode::Landlock), None, false), Err(SandboxError::NoLandlock));
        assert_eq!(mode(Some(SandboxMode::Bubblewrap), None, true), Err(SandboxError::NoBubblewrap));
        assert_eq!(mode(Some(SandboxMode::Bubblewrap), bwrap, false), Ok((SandboxMode::Bubblewrap, false)));
        assert_eq!(mode(Some(SandboxMode::Unconfined), None, true), Ok((SandboxMode::Unconfined, false)));
    }

    #[test]
    fn words_are_parsed() {
        for (word, mode) in SandboxMode::ALL {
            assert_eq!(word.parse(), Ok(*mode));
            assert_eq!(mode.to_string(), *word);
        }
        assert!("docker".parse::<SandboxMode>().is_err());
    }
}
