//! What a child process gets of our environment.

use std::ffi::{OsStr, OsString};

/// Which variables of our environment a child process inherits, besides those that are named one by one
/// ([`Command::inherit`](crate::Command::inherit)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Inherit {
    /// What programs need in order to find themselves and their user: path, home, user, shell, terminal, language, time
    /// zone and places for temporary and configuration files. Tokens and keys that this program has in its environment
    /// stay here (SEC-24).
    #[default]
    Basics,
    /// All of it.
    All,
    /// None of it.
    Nothing,
}

#[cfg(not(windows))]
const BASICS: &[&str] = &[
    "HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
];
#[cfg(windows)]
const BASICS: &[&str] = &[
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];

impl Inherit {
    /// Whether a variable of ours is handed on. A function that a shell has exported is code, and none of the basics.
    pub(crate) fn takes(self, name: &OsStr, value: &OsString) -> bool {
        let name = name.to_string_lossy();
        match self {
            Self::All => true,
            Self::Nothing => false,
            Self::Basics => {
                let is_basic = if cfg!(windows) {
                    BASICS.iter().any(|basic| basic.eq_ignore_ascii_case(&name))
                } else {
                    BASICS.contains(&&*name) || name.starts_with("LC_")
                };
                is_basic && !value.to_string_lossy().starts_with("()")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Inherit;

    fn takes(inherit: Inherit, name: &str, value: &str) -> bool {
        inherit.takes(name.as_ref(), &value.into())
    }

    /// SEC-24: what a server is not told of, it cannot give away.
    #[test]
    fn only_the_basics_are_inherited_unless_all_are_asked_for() {
        for (name, basic) in [
            ("PATH", true),
            ("OPENAI_API_KEY", false),
            ("AWS_SECRET_ACCESS_KEY", false),
            ("LD_PRELOAD", false),
        ] {
            assert_eq!(takes(Inherit::Basics, name, "x"), basic, "{name}");
            assert!(takes(Inherit::All, name, "x") && !takes(Inherit::Nothing, name, "x"));
        }
    }

    #[test]
    #[cfg(not(windows))]
    fn languages_are_basic_and_functions_are_not() {
        assert!(takes(Inherit::Basics, "LC_ALL", "C.UTF-8") && takes(Inherit::Basics, "LANG", "de"));
        assert!(!takes(Inherit::Basics, "TERM", "() { rm; }"));
    }
}
