//! Where the time of a call goes, by the device's clock. There is no waiting between the steps.

use std::time::Duration;

use crate::device::Device;
use crate::{CallReport, Error, StepReport};

/// The moments of a call so far.
pub(super) struct Timed<D: Device> {
    begin: D::Moment,
    pub steps: Vec<TimedStep<D::Moment>>,
}

/// A step that was given to the device.
pub(super) struct TimedStep<M> {
    pub name: String,
    /// Bytes of the tensors that it reads, and of those that it writes.
    pub read: u64,
    pub written: u64,
    pub begin: M,
    pub end: M,
}

impl<D: Device> Timed<D> {
    /// A clock that begins now.
    pub fn new(device: &D) -> Result<Timed<D>, Error> {
        Ok(Timed { begin: device.moment()?, steps: Vec::new() })
    }

    /// Reports the times, once all work so far is done.
    pub fn tell(self, device: &D, report: &mut CallReport) -> Result<(), Error> {
        report.total = device.between(&self.begin, &device.moment()?)?;
        for TimedStep { name, read, written, begin, end } in self.steps {
            let (time, compile) = (device.between(&begin, &end)?, Duration::ZERO);
            report.steps.push(StepReport { name, time, compile, read, written });
        }
        Ok(())
    }
}
