//! The parent's side of a process that checks: requests go out, answers come in. A process that dies, or that takes too long
//! and is killed, counts as an answer; another one replaces it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, fs, io};

use testing::differential::{Choice, Failure, Kind};

use super::device::FuzzDevice;
use super::worker::{Answer, Request};

/// The processor time that a case may take, many times more than any needs.
const PATIENCE: Duration = Duration::from_secs(60);
/// The time that it may take if it does not get the processor, or waits forever.
const LONGEST: Duration = Duration::from_secs(900);
/// How often the processor time is polled.
const LOOK: Duration = Duration::from_secs(1);

/// A process that is restarted when it ends.
pub struct Checker {
    process: Option<Process>,
    device: FuzzDevice,
    end: Option<Instant>,
}

/// Why there is no answer.
enum Silence {
    /// The process is gone.
    Died(String),
    /// It takes too long.
    Late,
    /// The deadline came first.
    Over,
}

impl Checker {
    /// Checks until `end`.
    pub fn new(device: FuzzDevice, end: Option<Instant>) -> Checker {
        Checker { process: None, device, end }
    }

    /// Whether the deadline has passed.
    pub fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// The answer to a request; `None` if the deadline comes first.
    ///
    /// # Errors
    /// When the system cannot start a process.
    pub fn ask(&mut self, request: &Request) -> io::Result<Option<Answer>> {
        let process = match &mut self.process {
            Some(process) => process,
            none => none.insert(Process::start(self.device)?),
        };
        let failure = match process.ask(request, self.end) {
            Ok(answer) => return Ok(Some(answer)),
            Err(Silence::Over) => None,
            Err(Silence::Late) => {
                let what = format!("took longer than {} s of processor time", PATIENCE.as_secs());
                Some(Failure::new(Kind::Late, what))
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
    fn start(device: FuzzDevice) -> io::Result<Process> {
        let mut command = Command::new(env::current_exe()?);
        command
            .args(["fuzz", "--worker", "--device", device.name()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
        let requests = child.stdin.take().ok_or_else(broken)?;
        let answers = lines_of(child.stdout.take().ok_or_else(broken)?);
        Ok(Process { child, requests, answers })
    }

    fn ask(&mut self, request: &Request, end: Option<Instant>) -> Result<Answer, Silence> {
        let request = serde_json::to_string(request).expect("a request is plain data");
        let (asked, worked) = (Instant::now(), self.processor_time());
        if writeln!(self.requests, "{request}").is_err() {
            return Err(self.died());
        }
        loop {
            match self.answers.recv_timeout(LOOK) {
                Ok(line) => {
                    let unread = |error| Silence::Died(format!("it answered {line}: {error}"));
                    return serde_json::from_str(&line).map_err(unread);
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.died()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let late = self.processor_time().saturating_sub(worked) >= PATIENCE || asked.elapsed() >= LONGEST;
            if end.is_some_and(|end| Instant::now() >= end) {
                return Err(Silence::Over);
            } else if late {
                return Err(Silence::Late);
            }
        }
    }

    fn died(&mut self) -> Silence {
        Silence::Died(match self.child.wait() {
            Ok(status) => format!("the process ended with {status}"),
            Err(error) => format!("the process ended: {error}"),
        })
    }

    /// The processor time of the process, if the system reports it: on a busy machine it says more than a clock.
    fn processor_time(&self) -> Duration {
        /// Linux counts in hundredths of a second, in the fields 14 and 15; the name in the second field may contain blanks.
        const TICK: Duration = Duration::from_millis(10);
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let ticks: u32 = fields.skip(11).take(2).filter_map(|field| field.parse::<u32>().ok()).sum();
        TICK * ticks
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The lines of a pipe, read by a thread so that waiting for one can time out.
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
