//! The report of a timed call of segments: the steps of all, and the most bytes that were held at once.

use std::time::Instant;

use crate::{CallReport, Error, Output, StepReport, Tensor};

#[derive(Default)]
pub(super) struct Account {
    /// Whether the call is timed; otherwise nothing is added.
    pub is_timed: bool,
    pub report: CallReport,
    /// Bytes of outputs that are yet to be written to inputs.
    pub waiting: usize,
}

/// The start of a piece of memory, and its bytes.
pub(super) type Piece = (usize, usize);

/// A holder that may own memory of a call.
pub(super) trait OwnMemory {
    fn own(&self) -> Option<Piece>;
}

impl<T: OwnMemory> OwnMemory for Option<T> {
    fn own(&self) -> Option<Piece> {
        self.as_ref()?.own()
    }
}

impl OwnMemory for Tensor {
    fn own(&self) -> Option<Piece> {
        Some((self.as_ptr() as usize, self.as_bytes().len()))
    }
}

impl OwnMemory for Output<'_> {
    fn own(&self) -> Option<Piece> {
        match self {
            Output::Made(tensor) => tensor.own(),
            Output::View { .. } => None,
        }
    }
}

/// Bytes of the call's memory that all these hold: memory with several holders counts once.
pub(super) fn own_bytes<'o, O: OwnMemory + 'o>(all: impl IntoIterator<Item = &'o O>) -> usize {
    let mut pieces: Vec<Piece> = all.into_iter().filter_map(O::own).collect();
    pieces.sort_unstable();
    pieces.dedup();
    pieces.into_iter().map(|(_, bytes)| bytes).sum()
}

impl Account {
    /// The account of a timed call.
    pub fn timed() -> Account {
        Account { is_timed: true, ..Account::default() }
    }

    /// Adds the report of a segment during which others held `held` bytes.
    pub fn add(&mut self, segment: usize, did: CallReport, held: usize) {
        let CallReport { steps, total, compile, peak_bytes } = &mut self.report;
        *total += did.total;
        *compile += did.compile;
        *peak_bytes = (*peak_bytes).max(held + did.peak_bytes);
        let named = |step: StepReport| StepReport { name: format!("seg{segment}.{}", step.name), ..step };
        steps.extend(did.steps.into_iter().map(named));
    }

    /// Notes that `bytes` are held, besides the outputs that wait.
    pub fn hold(&mut self, bytes: impl FnOnce() -> usize) {
        if self.is_timed {
            self.report.peak_bytes = self.report.peak_bytes.max(self.waiting + bytes());
        }
    }

    /// Runs a copy of `bytes` bytes.
    ///
    /// # Errors
    /// Those of the copy.
    pub fn copy(&mut self, bytes: usize, copy: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
        let begin = Instant::now();
        copy()?;
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
        Ok(())
    }
}
