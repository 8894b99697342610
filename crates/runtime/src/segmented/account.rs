//! The report of a timed call of segments: the steps of all, and the most bytes that were held at once.

use std::time::Duration;

use crate::device::Device;
use crate::{CallReport, Error, StepReport};

pub(super) struct Account {
    /// Whether the call is timed; otherwise nothing is added.
    is_timed: bool,
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

/// Bytes of the call's memory that all these hold: memory with several holders counts once.
pub(super) fn own_bytes<'o, O: OwnMemory + 'o>(all: impl IntoIterator<Item = &'o O>) -> usize {
    let mut pieces: Vec<Piece> = all.into_iter().filter_map(O::own).collect();
    pieces.sort_unstable();
    pieces.dedup();
    pieces.into_iter().map(|(_, bytes)| bytes).sum()
}

impl Account {
    /// The account of a call, timed or not.
    pub fn new(is_timed: bool) -> Account {
        Account { is_timed, report: CallReport::default(), waiting: 0 }
    }

    /// Adds the report of a segment during which others held `held` bytes.
    pub fn add(&mut self, segment: &str, did: CallReport, held: usize) {
        let CallReport { steps, total, compile, peak_bytes } = &mut self.report;
        *total += did.total;
        *compile += did.compile;
        *peak_bytes = (*peak_bytes).max(held + did.peak_bytes);
        let named = |step: StepReport| StepReport { name: format!("{segment}.{}", step.name), ..step };
        steps.extend(did.steps.into_iter().map(named));
    }

    /// Notes that `bytes` are held, besides the outputs that wait.
    pub fn hold(&mut self, bytes: impl FnOnce() -> usize) {
        if self.is_timed {
            self.report.peak_bytes = self.report.peak_bytes.max(self.waiting + bytes());
        }
    }

    /// Runs a copy of `bytes` bytes on a device.
    ///
    /// # Errors
    /// Those of the copy.
    pub fn copy<D: Device>(
        &mut self,
        device: &D,
        bytes: usize,
        copy: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        if !self.is_timed {
            return copy();
        }
        let begin = device.moment()?;
        copy()?;
        let end = device.moment()?;
        let (time, bytes) = (device.between(&begin, &end)?, bytes as u64);
        self.report.total += time;
        let (name, compile) = ("copy".to_owned(), Duration::ZERO);
        self.report.steps.push(StepReport { name, time, compile, read: bytes, written: bytes });
        Ok(())
    }
}
