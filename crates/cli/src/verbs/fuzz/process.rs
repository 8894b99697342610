//! A process that checks, seen from the one that asks: requests go out, answers come in. One that dies, or that takes
//! too long and is ended, is itself an answer; another takes its place.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, io};

use testing::differential::{Choice, Failure, Kind};

use super::worker::{Answer, Request};

/// Many times what any case takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process kept alive.
pub struct Checker {
    process: Option<Process>,
    end: Option<Instant>,
}

/// Why there is no answer.
enum Silence {
    /// The process is gone.
    Died(String),
    /// It was not waited for any longer.
    Late,
}

impl Checker {
    /// Checks until `end`.
    pub fn new(end: Option<Instant>) -> Checker {
        Checker { process: None, end }
    }

    /// Whether no more answers are to be had.
    pub fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// What comes of a request; nothing if the end comes first.
    ///
    /// # Errors
    /// When the system gives no process.
    pub fn ask(&mut self, request: &Request) -> io::Result<Option<Answer>> {
        let process = match &mut self.process {
            Some(process) => process,
            none => none.insert(Process::start()?),
        };
        let left = self.end.map_or(PATIENCE, |end| end.saturating_duration_since(Instant::now()));
        let failure = match process.ask(request, left.min(PATIENCE)) {
            Ok(answer) => return Ok(Some(answer)),
            Err(Silence::Late) if left < PATIENCE => None,
            Err(Silence::Late) => {
                Some(Failure::new(Kind::Late, format!("took longer than {} s", PATIENCE.as_secs())))
            }
            Err(Silence::Died(how)) => Some(Failure::new(Kind::Crash, how)),
        };
        self.process = None;
        let choice = request.choices.first().copied().unwrap_or(Choice::Default);
        Ok(failure.map(|failure| Answer { failure: Some((choice, failure)), ..Answer::default() }))
    }
}

struct Process {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<String>,
}

impl Process {
    fn start() -> io::Result<Process> {
        let mut command = Command::new(env::current_exe()?);
        command.args(["fuzz", "--worker"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
        let requests = child.stdin.take().ok_or_else(broken)?;
        let answers = lines_of(child.stdout.take().ok_or_else(broken)?);
        Ok(Process { child, requests, answers })
    }

    fn ask(&mut self, request: &Request, patience: Duration) -> Result<Answer, Silence> {
        let request = serde_json::to_string(request).expect("a request is plain data");
        if writeln!(self.requests, "{request}").is_ok() {
            match self.answers.recv_timeout(patience) {
                Ok(line) => {
                    return serde_json::from_str(&line)
                        .map_err(|error| Silence::Died(format!("it answered {line}: {error}")));
                }
                Err(RecvTimeoutError::Timeout) => return Err(Silence::Late),
                Err(RecvTimeoutError::Disconnected) => {}
            }
        }
        Err(Silence::Died(match self.child.wait() {
            Ok(status) => format!("the process ended with {status}"),
            Err(error) => format!("the process ended: {error}"),
        }))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The lines of a pipe, read aside so that one can wait for them for a while only.
fn lines_of(pipe: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}
