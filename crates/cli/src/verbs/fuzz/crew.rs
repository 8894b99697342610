//! Processes that check, kept at work: seeds go out, answers come in, and one that dies or hangs is itself an answer.

use std::io::{BufRead, BufReader, Write};
use std::ops::Range;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, io};

use testing::differential::{Choice, Failure as CheckFailure, Kind};
use testing::random::generate;
use testing::reduce::{Failing, report};

use super::worker::{Answer, CaseFailure};
use crate::failure::Failure;

/// Longer than any case with its reduction takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// Checks the programs of these seeds until the deadline. `told` hears of every answer.
pub fn check(
    seeds: Range<u64>,
    deadline: Option<Instant>,
    jobs: Option<usize>,
    told: &mut dyn FnMut(u64, Answer) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let jobs = jobs.or_else(|| thread::available_parallelism().ok().map(usize::from)).unwrap_or(1);
    let next = AtomicU64::new(seeds.start);
    let seed = || {
        let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let seed = next.fetch_add(1, Ordering::Relaxed);
        (!late && seed < seeds.end).then_some(seed)
    };
    thread::scope(|scope| {
        let (answers, received) = mpsc::channel();
        for _ in 0..jobs.max(1) {
            let (answers, seed) = (answers.clone(), &seed);
            scope.spawn(move || {
                if let Err(error) = keep_at_work(seed, &answers) {
                    // Nobody hears it only where the others have failed already.
                    let _ = answers.send(Err(error));
                }
            });
        }
        drop(answers);
        for answer in received {
            let (seed, answer) = answer?;
            told(seed, answer)?;
        }
        Ok(())
    })
}

/// Gives seeds to a process, and to another when it is gone.
fn keep_at_work(
    next: &dyn Fn() -> Option<u64>,
    answers: &Sender<io::Result<(u64, Answer)>>,
) -> io::Result<()> {
    let mut process = Process::start()?;
    while let Some(seed) = next() {
        let answer = match process.ask(seed) {
            Ok(answer) => answer,
            Err(end) => {
                process = Process::start()?;
                gone(seed, end)
            }
        };
        if answers.send(Ok((seed, answer))).is_err() {
            break;
        }
    }
    Ok(())
}

/// The answer in place of a process that gave none: the whole program, for nothing smaller is known to do the same.
fn gone(seed: u64, what: String) -> Answer {
    let program = generate(seed);
    let ops = program.ops().into_iter().map(str::to_owned).collect();
    let failure = CheckFailure { kind: Kind::Error, what: what.clone() };
    let report = report(&Failing { program, choice: Choice::Default, failure }, seed);
    Answer { ops, failure: Some(CaseFailure { what, report }), ..Answer::default() }
}

/// A process that checks.
struct Process {
    child: Child,
    seeds: ChildStdin,
    lines: Receiver<String>,
}

impl Process {
    fn start() -> io::Result<Process> {
        let mut command = Command::new(env::current_exe()?);
        command.args(["fuzz", "--worker"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
        let seeds = child.stdin.take().ok_or_else(broken)?;
        let lines = lines_of(child.stdout.take().ok_or_else(broken)?);
        Ok(Process { child, seeds, lines })
    }

    /// What comes of a seed.
    ///
    /// # Errors
    /// How the process ended instead.
    fn ask(&mut self, seed: u64) -> Result<Answer, String> {
        if writeln!(self.seeds, "{seed}").is_ok() {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => return serde_json::from_str(&line).map_err(|error| format!("{line}: {error}")),
                Err(RecvTimeoutError::Timeout) => {
                    return Err(format!("no answer within {} s", PATIENCE.as_secs()));
                }
                Err(RecvTimeoutError::Disconnected) => {}
            }
        }
        Err(match self.child.wait() {
            Ok(status) => format!("the process ended with {status}"),
            Err(error) => format!("the process ended: {error}"),
        })
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
