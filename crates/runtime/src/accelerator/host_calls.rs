//! Calls of the host on a device: inputs go there, outputs come back.

use ir::array::ArrayView;
use smallvec::SmallVec;

use super::{LoadedKernel, OwnsMemory};
use crate::Error;
use crate::call::{Call, Done, Finished, Given, written};
use crate::destination::{Destinations, OutputForm};
use crate::device::{AddressSpace, Device, Host, WriteTarget};
use crate::host::HostMemory;
use execution::{ExecutionPlan, Returned};

/// A plan with its kernels.
#[derive(Clone, Copy)]
pub(crate) struct Loaded<'c> {
    pub plan: &'c ExecutionPlan,
    pub code: &'c [LoadedKernel],
}

/// The inputs of a host's call, as [`crate::inputs`] provides them.
pub(crate) type HostGiven<'c, 'a, 'v> = Given<'c, 'a, HostMemory, &'c mut dyn Iterator<Item = ArrayView<'v>>>;

/// Decides where outputs of these forms go.
pub(crate) type Placing<'p, 'd> =
    Box<dyn FnOnce(&[OutputForm]) -> Result<Destinations<'d, HostMemory>, Error> + 'p>;

/// Calls on arrays of the host.
pub(crate) trait HostCalls {
    /// Runs the steps of a plan, then writes outputs to memory of the host: to arguments, and the others to the memory that
    /// `placing` gives for their forms, if it is given.
    fn call<'d>(
        &self,
        loaded: Loaded<'_>,
        host: Host<'_>,
        given: HostGiven<'_, '_, '_>,
        timed: bool,
        placing: Option<Placing<'_, 'd>>,
    ) -> Result<Finished<HostMemory>, Error>;

    /// The forms of the outputs of such a call.
    fn forms(
        &self,
        loaded: Loaded<'_>,
        host: Host<'_>,
        given: HostGiven<'_, '_, '_>,
    ) -> Result<Vec<OutputForm>, Error>;
}

impl<D: OwnsMemory> HostCalls for D {
    fn call<'d>(
        &self,
        loaded: Loaded<'_>,
        host: Host<'_>,
        given: HostGiven<'_, '_, '_>,
        timed: bool,
        placing: Option<Placing<'_, 'd>>,
    ) -> Result<Finished<HostMemory>, Error> {
        let targets = given.targets;
        let (destinations, done, report) = within(self, loaded, host, given, |call| {
            let forms = given_back(call.forms(), loaded.plan, targets);
            let destinations = placing.map_or_else(|| Ok(SmallVec::new()), |placing| placing(&forms))?;
            let (done, report) = call.run(timed)?;
            let done = done.into_iter().map(|done| downloaded(self, done, host));
            Ok((destinations, done.collect::<Result<Vec<_>, Error>>()?, report))
        })?;
        self.wait()?;
        let mut back = Vec::new();
        for (done, output) in done.into_iter().zip(&loaded.plan.outputs) {
            match (output.alias.and_then(|input| written(targets, input)), done) {
                (Some(target), Done::Made(tensor)) => host.copy(target.open_at_end(), &tensor.view())?,
                (_, done) => back.push(done),
            }
        }
        for (done, destination) in back.iter_mut().zip(&destinations) {
            let Some(destination) = destination else { continue };
            let Done::Made(tensor) = done else { unreachable!("calls with destinations view no input") };
            host.copy(destination.open_at_end(), &tensor.view())?;
            *done = Done::Placed;
        }
        Ok((back, report))
    }

    fn forms(
        &self,
        loaded: Loaded<'_>,
        host: Host<'_>,
        given: HostGiven<'_, '_, '_>,
    ) -> Result<Vec<OutputForm>, Error> {
        let targets = given.targets;
        within(self, loaded, host, given, |call| Ok(given_back(call.forms(), loaded.plan, targets)))
    }
}

/// Does something with a call whose inputs have been copied to the device's memory.
fn within<D: OwnsMemory, R>(
    device: &D,
    loaded: Loaded<'_>,
    host: Host<'_>,
    given: HostGiven<'_, '_, '_>,
    act: impl FnOnce(Call<'_, '_, D::InCall<'_>>) -> Result<R, Error>,
) -> Result<R, Error> {
    let Given { sizes, extents, inputs, visible, .. } = given;
    let inputs = inputs.map(|view| device.upload(&view)).collect::<Result<Vec<_>, Error>>()?;
    let views = inputs.iter().map(D::Space::view);
    let given = Given { sizes, extents, inputs: views, targets: &[], visible };
    act(Call::new(loaded.plan, loaded.code, device.in_call(host), given))
}

/// The forms of those outputs that are returned, among the forms of all.
fn given_back(
    forms: Vec<OutputForm>,
    plan: &ExecutionPlan,
    targets: &[Option<WriteTarget<'_, HostMemory>>],
) -> Vec<OutputForm> {
    let is_back = |output: &Returned| output.alias.and_then(|input| written(targets, input)).is_none();
    let back = forms.into_iter().zip(&plan.outputs).filter(|(_, output)| is_back(output));
    back.map(|(form, _)| form).collect()
}

fn downloaded<D: OwnsMemory>(
    device: &D,
    done: Done<D::Space>,
    host: Host<'_>,
) -> Result<Done<HostMemory>, Error> {
    match done {
        Done::Made(tensor) => device.download(&tensor, host).map(Done::Made),
        Done::Viewed(input, layout) => Ok(Done::Viewed(input, layout)),
        Done::Placed => unreachable!("no memory of the device was given for outputs"),
    }
}
