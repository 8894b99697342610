//! Facts of this machine that `ferrofuse bench --calibrate` measured, in a file: the cost model uses them instead of typical
//! values.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What was measured of a CPU with `threads` threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuFacts {
    /// The CPU, as libLLVM calls it.
    pub cpu: String,
    /// Threads that ran.
    pub threads: usize,
    /// Bytes that they move in a second.
    pub bandwidth: f64,
    /// Cycles of elements that they compute in a second.
    pub throughput: f64,
    /// Seconds of a launch.
    pub launch: f64,
}

/// A file that should hold facts but does not.
#[derive(Debug, Error)]
#[error("{path} holds no facts of a machine: {why}; `ferrofuse bench --calibrate` measures them anew")]
pub struct FactsError {
    path: String,
    why: String,
}

impl CpuFacts {
    /// Their path: that in `FERROFUSE_FACTS`, `none` for no file, otherwise `ferrofuse/facts.json` in the user's
    /// configuration.
    pub fn path_of_environment(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let configuration =
            || set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config")));
        match set("FERROFUSE_FACTS") {
            Some(path) if path.as_os_str() == "none" => None,
            Some(path) => Some(path),
            None => configuration().map(|folder| folder.join("ferrofuse").join("facts.json")),
        }
    }

    /// Those of a file; `None` where there is none, or none that this user may read.
    ///
    /// # Errors
    /// A file that cannot be read, or holds something else.
    pub fn read(path: &Path) -> Result<Option<CpuFacts>, FactsError> {
        let rejected = |why: String| FactsError { path: path.display().to_string(), why };
        let text = match text_of_file(path) {
            Ok(text) => text,
            Err(error) if is_absent(error.kind()) => return Ok(None),
            Err(error) => return Err(rejected(error.to_string())),
        };
        let facts: CpuFacts = serde_json::from_str(&text).map_err(|error| rejected(error.to_string()))?;
        let CpuFacts { threads, bandwidth, throughput, launch, .. } = facts;
        let are_positive = [bandwidth, throughput, launch].iter().all(|&fact| fact.is_finite() && fact > 0.0);
        match threads > 0 && are_positive {
            true => Ok(Some(facts)),
            false => Err(rejected("threads, bandwidth, throughput and launch are above 0".to_owned())),
        }
    }

    /// The text of their file.
    pub fn text(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("facts are plain data");
        text + "\n"
    }

    /// Whether they were measured on this CPU with `threads` threads.
    pub fn are_of(&self, cpu: &str, threads: usize) -> bool {
        self.cpu == cpu && self.threads == threads
    }
}

/// Whether an error means that a user has no such file: the home of another user is closed to this one.
fn is_absent(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    matches!(kind, NotFound | NotADirectory | PermissionDenied)
}

/// The text of a regular file: one that is none could make the process wait.
fn text_of_file(path: &Path) -> io::Result<String> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_file_is_where_the_environment_says() {
        let path_of = |variables: &[(&str, &str)]| {
            let variable = |name: &str| {
                variables.iter().find(|(other, _)| *other == name).map(|(_, value)| OsString::from(value))
            };
            CpuFacts::path_of_environment(variable)
        };
        let home = ("HOME", "/home/ada");
        assert_eq!(path_of(&[home]), Some("/home/ada/.config/ferrofuse/facts.json".into()));
        assert_eq!(path_of(&[home, ("XDG_CONFIG_HOME", "/etc")]), Some("/etc/ferrofuse/facts.json".into()));
        assert_eq!(path_of(&[home, ("FERROFUSE_FACTS", "/here.json")]), Some("/here.json".into()));
        assert_eq!(path_of(&[home, ("FERROFUSE_FACTS", "none")]), None);
        assert_eq!(path_of(&[]), None);
    }

    #[test]
    fn what_is_written_is_read_and_anything_else_rejected() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("facts.json");
        assert_eq!(CpuFacts::read(&path).expect("no file"), None);
        let facts = CpuFacts {
            cpu: "znver4".to_owned(),
            threads: 2,
            bandwidth: 4e10,
            throughput: 2e11,
            launch: 1e-6,
        };
        fs::write(&path, facts.text()).expect("written");
        assert_eq!(CpuFacts::read(&path).expect("facts"), Some(facts.clone()));
        assert!(facts.are_of("znver4", 2) && !facts.are_of("znver4", 4) && !facts.are_of("znver3", 2));
        let broken = [
            ("{", "EOF"),
            (&facts.text().replace("threads", "thread"), "unknown field `thread`"),
            (&CpuFacts { launch: 0.0, ..facts }.text(), "are above 0"),
        ];
        for (text, why) in broken {
            fs::write(&path, text).expect("written");
            let error = CpuFacts::read(&path).expect_err("broken").to_string();
            assert!(
                error.contains("facts.json holds no facts of a machine: ") && error.contains(why),
                "{error}"
            );
        }
    }
}
