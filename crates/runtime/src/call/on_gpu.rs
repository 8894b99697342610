//! Calls of the host on a GPU: inputs go there, outputs come back.

use ir::array::ArrayView;

use super::outputs::written;
use super::{Call, Done, Finished, Given};
use crate::Error;
use crate::compile::Variant;
use crate::cuda::{CudaDevice, GpuKernel, GpuMemory, GpuTensor, OnStream};
use crate::destination::{Destinations, OutputForm};
use crate::device::{AddressSpace, Device, Host, WriteTarget};
use crate::host::HostMemory;
use crate::plan::Returned;

/// Arrays of the host that are called on, by an iterator.
type HostGiven<'c, 'a, I> = Given<'c, 'a, HostMemory, I>;

/// Does the steps of a variant, and writes outputs to memory of the host when all is done: to arguments, and the others where
/// `destinations` says for what they will be, if it does. The inputs are as [`crate::inputs`] has them.
pub(crate) fn call_on_gpu<'v, 'd>(
    variant: &Variant,
    code: &[GpuKernel],
    device: &CudaDevice,
    host: Host<'_>,
    given: HostGiven<'_, '_, impl Iterator<Item = ArrayView<'v>>>,
    timed: bool,
    destinations: impl FnOnce(&[OutputForm]) -> Result<Destinations<'d, HostMemory>, Error>,
) -> Result<Finished<HostMemory>, Error> {
    let targets = given.targets;
    let (destinations, done, report) = on_gpu(variant, code, device, host, given, |call| {
        let destinations = destinations(&given_back(call.forms(), variant, targets))?;
        let (done, report) = call.run(timed)?;
        let done: Result<Vec<Done<HostMemory>>, Error> =
            done.into_iter().map(|done| downloaded(&done, host)).collect();
        Ok((destinations, done?, report))
    })?;
    device.stream().synchronize()?;
    let mut back = Vec::new();
    for (done, output) in done.into_iter().zip(&variant.steps.outputs) {
        match (output.alias.and_then(|input| written(targets, input)), done) {
            (Some(target), Done::Made(tensor)) => host.copy(target.open_at_end(), &tensor.view())?,
            (_, done) => back.push(done),
        }
    }
    for (done, destination) in back.iter().zip(destinations.iter().flatten()) {
        match done {
            Done::Made(tensor) => host.copy(destination.open_at_end(), &tensor.view())?,
            Done::Viewed(..) | Done::Placed => unreachable!("calls with destinations see no input"),
        }
    }
    Ok((back, report))
}

/// What the outputs of such a call will be.
pub(crate) fn forms_on_gpu<'v>(
    variant: &Variant,
    code: &[GpuKernel],
    device: &CudaDevice,
    host: Host<'_>,
    given: HostGiven<'_, '_, impl Iterator<Item = ArrayView<'v>>>,
) -> Result<Vec<OutputForm>, Error> {
    let targets = given.targets;
    on_gpu(variant, code, device, host, given, |call| Ok(given_back(call.forms(), variant, targets)))
}

/// Does something with a call on inputs that are in the GPU's memory by then.
fn on_gpu<'v, R>(
    variant: &Variant,
    code: &[GpuKernel],
    device: &CudaDevice,
    host: Host<'_>,
    given: HostGiven<'_, '_, impl Iterator<Item = ArrayView<'v>>>,
    act: impl FnOnce(Call<'_, '_, OnStream<'_>>) -> Result<R, Error>,
) -> Result<R, Error> {
    let stream = device.stream();
    let Given { sizes, inputs, visible, .. } = given;
    let inputs =
        inputs.map(|view| GpuTensor::of_host(stream, &view)).collect::<Result<Vec<GpuTensor>, Error>>()?;
    let views = inputs.iter().map(GpuMemory::view);
    let given = Given { sizes, inputs: views, targets: &[], visible };
    act(Call::new(variant, code, OnStream::new(device, stream, host, None), given)?)
}

/// Of the forms of all outputs those that are given back.
fn given_back(
    forms: Vec<OutputForm>,
    variant: &Variant,
    targets: &[Option<WriteTarget<'_, HostMemory>>],
) -> Vec<OutputForm> {
    let is_back = |output: &Returned| output.alias.and_then(|input| written(targets, input)).is_none();
    let back = forms.into_iter().zip(&variant.steps.outputs).filter(|(_, output)| is_back(output));
    back.map(|(form, _)| form).collect()
}

fn downloaded(done: &Done<GpuMemory>, host: Host<'_>) -> Result<Done<HostMemory>, Error> {
    match done {
        Done::Made(tensor) => tensor.downloaded(&host.machine.allocator).map(Done::Made),
        Done::Viewed(input, layout) => Ok(Done::Viewed(*input, layout.clone())),
        Done::Placed => unreachable!("no memory of the GPU was given for outputs"),
    }
}
