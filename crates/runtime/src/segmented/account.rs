//! What a timed call of segments did: the steps of all, and the most bytes that were held at once.

use std::time::Instant;

use crate::{CallReport, StepReport};

#[derive(Default)]
pub(super) struct Account {
    /// Whether the call is timed; else nothing is added.
    pub is_timed: bool,
    pub report: CallReport,
}

impl Account {
    /// That of a call that is timed.
    pub fn timed() -> Account {
        Account { is_timed: true, report: CallReport::default() }
    }

    /// Adds what a segment did while others held so many bytes.
    pub fn add(&mut self, segment: usize, did: CallReport, held: usize) {
        let CallReport { steps, total, compile, peak_bytes } = &mut self.report;
        *total += did.total;
        *compile += did.compile;
        *peak_bytes = (*peak_bytes).max(held + did.peak_bytes);
        let named = |step: StepReport| StepReport { name: format!("seg{segment}.{}", step.name), ..step };
        steps.extend(did.steps.into_iter().map(named));
    }

    /// Notes that so many bytes are held.
    pub fn hold(&mut self, bytes: usize) {
        if self.is_timed {
            self.report.peak_bytes = self.report.peak_bytes.max(bytes);
        }
    }

    /// Copies so many bytes.
    pub fn copy(&mut self, bytes: usize, copy: impl FnOnce()) {
        let begin = Instant::now();
        copy();
        if self.is_timed {
            let (time, bytes) = (begin.elapsed(), bytes as u64);
            self.report.total += time;
            let compile = Default::default();
            self.report.steps.push(StepReport {
                name: "copy".to_owned(),
                time,
                compile,
                read: bytes,
                written: bytes,
            });
        }
    }
}
