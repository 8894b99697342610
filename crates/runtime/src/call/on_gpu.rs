//! Calls of the host on a GPU: inputs go there, outputs come back.

use ir::array::ArrayView;

use super::outputs::written;
use super::{Call, Done, Finished, Given};
use crate::Error;
use crate::compile::Variant;
use crate::cuda::{CudaDevice, GpuKernel, GpuMemory, GpuTensor, OnStream, upload};
use crate::device::{AddressSpace, Device, Host};
use crate::host::HostMemory;

/// Does the steps of a variant, and writes outputs to arguments of the host when all is done. The inputs are as
/// [`crate::inputs`] has them.
pub(crate) fn call_on_gpu<'v>(
    variant: &Variant,
    code: &[GpuKernel],
    device: &CudaDevice,
    host: Host<'_>,
    given: Given<'_, '_, HostMemory, impl Iterator<Item = ArrayView<'v>>>,
    timed: bool,
) -> Result<Finished<HostMemory>, Error> {
    let stream = device.stream();
    let Given { sizes, inputs, targets, visible } = given;
    let inputs = inputs.map(|view| upload(stream, &view)).collect::<Result<Vec<GpuTensor>, Error>>()?;
    let views = inputs.iter().map(GpuMemory::view);
    let on_gpu = Given { sizes, inputs: views, targets: &[], visible };
    let call = Call::new(variant, code, OnStream { device, stream, host }, on_gpu)?;
    let (done, report) = call.run(timed)?;
    let downloaded: Result<Vec<Done<HostMemory>>, Error> =
        done.into_iter().map(|done| downloaded(&done, host)).collect();
    let downloaded = downloaded?;
    stream.synchronize()?;
    let mut given_back = Vec::new();
    for (done, output) in downloaded.into_iter().zip(&variant.steps.outputs) {
        match (output.alias.and_then(|input| written(targets, input)), done) {
            (Some(target), Done::Made(tensor)) => host.copy(target.open_at_end(), &tensor.view())?,
            (_, done) => given_back.push(done),
        }
    }
    Ok((given_back, report))
}

fn downloaded(done: &Done<GpuMemory>, host: Host<'_>) -> Result<Done<HostMemory>, Error> {
    match done {
        Done::Made(tensor) => tensor.downloaded(&host.machine.allocator).map(Done::Made),
        Done::Viewed(input, layout) => Ok(Done::Viewed(*input, layout.clone())),
    }
}
