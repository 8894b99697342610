//! The steps of a call on a GPU, enqueued on a stream. The host does what the GPU has no kernel for, on copies.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use codegen_c::cuda::Parameter;
use cranelift_entity::EntityRef;
use cuda::{Event, LaunchShape, Stream, Words};
use index::Sym;
use ir::array::products::{ProductBatch, batches_of_matmul, of_groups};
use ir::array::{Array, ArrayView, Layout, StridedArray};
use ir::graph::{ExternalOp, Val};
use ops::{DType, Scalar};
use smallvec::SmallVec;

use super::CudaDevice;
use super::block::Block;
use super::code::GpuKernel;
use super::faults::{Telling, Watched};
use super::member_table::{MAX_BLOCKS, MemberTable};
use super::products::batches;
use super::tensor::{GpuMemory, GpuTensor, GpuView, GpuViewMut, Place};
use crate::accelerator::LoadedKernel;
use crate::device::{CheckedIndex, Device, Host, KernelLaunch, Memory, SlotContents, first_fault};
use crate::error::IndexFault;
use crate::{Error, Tensor};
use cpu::external;
use execution::Operands;

/// A GPU for one call.
pub(crate) struct OnStream<'c> {
    pub device: &'c CudaDevice,
    pub stream: &'c Arc<Stream>,
    pub host: Host<'c>,
    telling: Telling<'c>,
    block: Block,
    /// The fault words of the call's kernels.
    faults: RefCell<SmallVec<[Words<'c, Watched>; 1]>>,
}

impl<'c> OnStream<'c> {
    /// A GPU for a call that works on a stream.
    pub fn new(
        device: &'c CudaDevice,
        stream: &'c Arc<Stream>,
        host: Host<'c>,
        telling: Telling<'c>,
    ) -> OnStream<'c> {
        OnStream { device, stream, host, telling, block: Block::default(), faults: RefCell::default() }
    }

    /// The elements of a place, in an array of the host of its layout, once all work before is done.
    fn downloaded(&self, place: &Place) -> Result<StridedArray, Error> {
        let bytes = place.stretch().map_or(0, |(_, bytes)| bytes);
        let mut elements = Array::zeros(place.dtype, &[bytes / place.dtype.size()])?;
        if let Some((start, _)) = place.stretch() {
            // SAFETY: the place is of a tensor that lives as long as the call, and the array has as many bytes.
            unsafe { self.stream.download(elements.as_mut_bytes(), start) }?;
        }
        Ok(StridedArray::new(elements, place.layout_of_stretch())?)
    }

    /// Copies elements of the host, in the layout of the place, to it.
    fn uploaded(&self, place: &Place, elements: &StridedArray) -> Result<(), Error> {
        if let Some((start, _)) = place.stretch() {
            // SAFETY: the place is of a tensor that lives as long as the call, and the array has as many bytes, in pageable memory.
            unsafe { self.stream.upload(start, elements.storage().as_bytes()) }?;
        }
        Ok(())
    }

    /// Makes the host compute an op on copies.
    fn external_on_host(
        &self,
        op: &ExternalOp,
        operands: &[GpuView<'_>],
        results: Vec<GpuViewMut<'_>>,
        val: Val,
    ) -> Result<(), Error> {
        let machine = self.host.machine;
        let made = self.on_host(operands, |operands| {
            let form = |result: &GpuViewMut<'_>| {
                Tensor::allocate(&machine.allocator, result.0.dtype, Layout::dense(&result.0.layout.sizes))
            };
            let mut made = results.iter().map(form).collect::<Result<Vec<Tensor>, Error>>()?;
            let views = made.iter_mut().map(Tensor::view_mut).collect();
            external::run(op, operands, views, val, &self.host.workers())?;
            Ok::<_, Error>(made)
        })??;
        results.into_iter().zip(&made).try_for_each(|(result, made)| self.store(result, &made.view()))
    }

    /// Launches a kernel for members from this one on, as many as one launch runs; returns the number of the next.
    fn launch_members(
        &self,
        given: &KernelLaunch<'_, GpuKernel>,
        first: usize,
        memory: &Memory<'_, GpuMemory>,
    ) -> Result<usize, Error> {
        let KernelLaunch { code, members, .. } = *given;
        let mut table = MemberTable::new(code);
        let mut next = first;
        while next < members.len() && table.has_room() {
            let shape = self.shape(given, next)?;
            if shape.blocks > 0 {
                if !table.fits(shape) {
                    break;
                }
                table.add(shape, self.parameters(given, next, memory));
            }
            next += 1;
        }
        if table.is_empty() {
            return Ok(next);
        }
        // SAFETY: the parameters are those that the text declares, one word each. A kernel is lowered so that its indices stay
        // within tensors of the sizes and strides that its arguments give. These are the very tensors: of the caller's, alive
        // until the call has returned, or of the call's own, whose memory the stream frees after this. Nobody else writes
        // there: see [`crate::host`], whose kernels have the same contract, and no member writes what another touches.
        let launched = unsafe { table.launch(&code.function, self.stream) };
        launched.map_err(|error| self.failed(&members[first].name, error))?;
        Ok(next)
    }

    /// The shape of a launch of one member; of no blocks if it has nothing to do.
    fn shape(&self, given: &KernelLaunch<'_, GpuKernel>, member: usize) -> Result<LaunchShape, Error> {
        let KernelLaunch { kernel, code, members, values, .. } = *given;
        let Operands { name, blocks, .. } = members[member];
        let holds = |assumption: &kernel::Assumption| {
            argument(given, member, assumption.symbol()).is_some_and(|value| assumption.holds(value))
        };
        assert!(kernel.assumptions.iter().all(holds), "{name}: a call of another variant");
        let threads = code.threads;
        let blocks = values[*blocks];
        if blocks <= 0 {
            return Ok(LaunchShape { blocks: 0, threads, shared_bytes: 0 });
        }
        let blocks =
            blocks.unsigned_abs().div_ceil(kernel.teams.into()).saturating_mul(kernel.cluster.into());
        let blocks = u32::try_from(blocks).ok().filter(|&blocks| blocks <= MAX_BLOCKS);
        let dynamic = code.dynamic_shared_bytes.eval(&|sym| argument(given, member, sym)).unwrap_or(i64::MAX);
        let shared = dynamic.saturating_add(code.static_shared_bytes.into());
        let most = self.device.gpu().facts().shared_bytes;
        let too_large = |what: String| Error::TooLargeLaunch { kernel: name.clone(), what };
        let blocks = blocks.ok_or_else(|| too_large("2^31 blocks or more".to_owned()))?;
        if shared > most.into() {
            let what = format!("{shared} bytes of shared memory a block, of which {most} are there");
            return Err(too_large(what));
        }
        Ok(LaunchShape { blocks, threads, shared_bytes: dynamic.max(0) as usize })
    }

    /// The driver's error for a step.
    fn failed(&self, step: &str, error: cuda::Error) -> Error {
        Error::Step { step: step.to_owned(), device: self.device.name(), error }
    }

    /// The parameters of a kernel for a member.
    fn parameters(
        &self,
        given: &KernelLaunch<'_, GpuKernel>,
        member: usize,
        memory: &Memory<'_, GpuMemory>,
    ) -> SmallVec<[u64; 16]> {
        let buffers = &given.members[member].buffers;
        let word = |parameter: &Parameter| match *parameter {
            Parameter::Buffer(buffer) => memory[buffers[buffer.index()]].view().0.start(),
            Parameter::Argument(sym) => {
                argument(given, member, sym).expect("a kernel takes its arguments") as u64
            }
        };
        given.code.parameters.iter().map(word).collect()
    }
}

/// The word of 32 bits that an element in memory repeats, if there is one.
fn repeated_word(element: Scalar) -> Result<Option<u32>, Error> {
    let array = Array::full(element, &[])?;
    let bytes = array.as_bytes();
    let word: [u8; 4] = std::array::from_fn(|place| bytes[place % bytes.len()]);
    let repeats = bytes.iter().zip(word.iter().cycle()).all(|(byte, of_word)| byte == of_word);
    Ok(repeats.then(|| u32::from_ne_bytes(word)))
}

/// The value of a kernel's argument for a member.
fn argument(given: &KernelLaunch<'_, GpuKernel>, member: usize, sym: Sym) -> Option<i64> {
    let place = given.kernel.arguments.iter().position(|&own| own == sym)?;
    Some(given.arguments_of(member)[place])
}

impl Device for OnStream<'_> {
    type Space = GpuMemory;
    type Code = LoadedKernel;
    type Moment = Event;

    fn host(&self) -> Host<'_> {
        self.host
    }

    fn memory_limit(&self) -> usize {
        self.device.gpu().facts().memory
    }

    fn allocate(&self, dtype: DType, layout: Layout) -> Result<GpuTensor, Error> {
        GpuTensor::allocate(self.stream, dtype, layout)
    }

    fn reserve(&self, bytes: impl Iterator<Item = usize>) -> Result<(), Error> {
        self.block.reserve(self.stream, bytes)
    }

    fn intermediate(&self, dtype: DType, layout: Layout) -> Result<GpuTensor, Error> {
        self.block.take(dtype, &layout).map_or_else(|| self.allocate(dtype, layout), Ok)
    }

    fn fill(&self, to: GpuViewMut<'_>, element: Scalar) -> Result<(), Error> {
        if let (true, Some((start, bytes)), Some(word)) =
            (to.0.is_packed(), to.0.stretch(), repeated_word(element)?)
        {
            // SAFETY: the place is of a tensor that lives as long as the call.
            if unsafe { self.stream.fill(start, bytes, word) }? {
                return Ok(());
            }
        }
        let elements = Array::full(element, &to.0.layout.sizes)?;
        self.store(to, &elements.view())
    }

    fn copy(&self, to: GpuViewMut<'_>, from: &GpuView<'_>) -> Result<(), Error> {
        self.device.copy(self.stream, &to.0, &from.0)
    }

    fn store(&self, to: GpuViewMut<'_>, from: &ArrayView<'_>) -> Result<(), Error> {
        let place = &to.0;
        let mut elements = if place.is_packed() {
            let elements: usize = place.layout.sizes.iter().product();
            StridedArray::new(Array::zeros(place.dtype, &[elements])?, place.layout_of_stretch())?
        } else {
            // Bytes between the elements stay as they are.
            self.downloaded(place)?
        };
        self.host.copy(elements.view_mut(), from)?;
        self.uploaded(place, &elements)
    }

    fn launch(
        &self,
        given: &KernelLaunch<'_, LoadedKernel>,
        memory: &mut Memory<'_, GpuMemory>,
    ) -> Result<(), Error> {
        let given = &given.with_code(given.code.of::<GpuKernel>());
        let mut next = 0;
        while next < given.members.len() {
            next = self.launch_members(given, next, memory)?;
        }
        Ok(())
    }

    fn external(
        &self,
        op: &ExternalOp,
        operands: &[GpuView<'_>],
        results: Vec<GpuViewMut<'_>>,
        val: Val,
    ) -> Result<(), Error> {
        let [result] = &results[..] else {
            return self.external_on_host(op, operands, results, val);
        };
        let products = |[a, b]: [&Place; 2], bias, made: &dyn Fn(&Layout, &Layout) -> Vec<ProductBatch>| {
            let library = self.device.products();
            let given = library.multiply(self.device, self.stream, [a, b], bias, &result.0, made);
            given.map_err(|error| match error {
                Error::Cuda(error @ cuda::Error::Cublas { .. }) => self.failed(op.name(), error),
                error => error,
            })
        };
        let sizes = &result.0.layout.sizes;
        let place = |number: usize| &operands[number].0;
        match op {
            ExternalOp::Matmul(_) | ExternalOp::Linear(_) if sizes.contains(&0) => Ok(()),
            ExternalOp::Matmul(_) => {
                products([place(0), place(1)], None, &|a, b| batches_of_matmul(a, b, sizes))
            }
            ExternalOp::Linear(_) => {
                let (weight, bias, rank) = (place(1), place(2), sizes.len());
                if weight.layout.sizes[1] == 0 {
                    let rows = bias.relaid(bias.layout.raised(rank).expanded(sizes));
                    return self.device.copy(self.stream, &result.0, &rows);
                }
                let weight = weight.relaid(weight.layout.permuted([1, 0]).raised(rank));
                products([place(0), &weight], Some(bias), &|a, b| batches_of_matmul(a, b, sizes))
            }
            ExternalOp::GroupedMatmul => {
                let [a, b] = [0, 1].map(|operand: usize| &operands[operand].0.layout.sizes);
                let groups =
                    self.on_host(&operands[2..], |ends| external::group_ranges(a, b, &ends[0]))??;
                let columns = sizes[sizes.len() - 1];
                products([place(0), place(1)], None, &|a, b| batches(&of_groups(a, b, columns, &groups)))
            }
            _ => self.external_on_host(op, operands, results, val),
        }
    }

    fn on_host<R>(
        &self,
        views: &[GpuView<'_>],
        work: impl FnOnce(&[ArrayView<'_>]) -> R,
    ) -> Result<R, Error> {
        let copies: Vec<StridedArray> =
            views.iter().map(|view| self.downloaded(&view.0)).collect::<Result<_, Error>>()?;
        let views: Vec<ArrayView<'_>> = copies.iter().map(StridedArray::view).collect();
        Ok(work(&views))
    }

    fn fault_words<'m>(&self, checked: &[CheckedIndex]) -> Result<SlotContents<'m, GpuMemory>, Error> {
        let watched = Watched { checked: checked.into(), located: self.telling.located().cloned() };
        let (faults, count) = (self.device.faults(), checked.len());
        let address = match &self.telling {
            Telling::Captured(_, graph) => {
                let words = faults.graph_words(count, watched)?;
                let address = words.address();
                match graph {
                    Some(graph) => graph.borrow_mut().push(words),
                    // There is no notice when the caller's graph is destroyed.
                    None => words.keep(),
                }
                address
            }
            Telling::Itself | Telling::Later(_) => {
                let words = faults.words(self.stream, count, watched)?;
                let address = words.address();
                self.faults.borrow_mut().push(words);
                address
            }
        };
        Ok(SlotContents::Target(GpuViewMut::of_words(address, count)))
    }

    fn fault(&self, words: GpuView<'_>, checked: &[CheckedIndex]) -> Result<Option<IndexFault>, Error> {
        if self.telling.located().is_some() {
            return Ok(None);
        }
        self.stream.synchronize()?;
        let faults = self.faults.borrow();
        let own = faults.iter().find(|own| own.address() == words.0.start()).expect("words of the call");
        Ok(own.take().and_then(|(_, words)| first_fault(words.into_iter(), checked)))
    }

    fn moment(&self) -> Result<Event, Error> {
        Ok(Event::record_timed(self.stream)?)
    }

    fn between(&self, begin: &Event, end: &Event) -> Result<Duration, Error> {
        Ok(end.since(begin)?)
    }
}
