//! A plan for a GPU, run by the emulator: every segment's kernels as CUDA C++, one after the other.
//!
//! Inputs must be dense; segments without a kernel are rejected, since what is to be shown here is the kernels.

use codegen::cuda::{CudaKernel, Parameter, emit};
use compiler::lower::{BufferSource, KernelArgument, Lowered};
use compiler::outputs::{Placement, View};
use compiler::{Decision, Kernels, Plan};
use cranelift_entity::EntityRef;
use emulator::{Arg, Emulator, Function, GuardedBuffer, Launch, Order};
use index::{Expr, Sym};
use ir::array::{Array, ArrayView, Layout};
use ir::graph::{Fusion, InputSignature, Output, Sizes, Stream, Val};
use ir::kernel::{Access, NO_FAULT, index_of_fault};
use reference::evaluate::{EvaluateOptions, evaluate};
use rustc_hash::FxHashMap;

/// A plan whose kernels are compiled for the emulator.
pub struct EmulatedPlan<'a> {
    plan: &'a Plan,
    /// For each segment its kernels.
    functions: Vec<Vec<(CudaKernel, Function)>>,
}

impl<'a> EmulatedPlan<'a> {
    /// Compiles all kernels of a plan.
    ///
    /// # Errors
    /// In words: a segment without a kernel, or a text that is not accepted.
    pub fn new(plan: &'a Plan, emulator: &Emulator) -> Result<EmulatedPlan<'a>, String> {
        let compile = |lowered: &Lowered| {
            let cuda = emit(&lowered.kernel).map_err(|error| error.to_string())?;
            let module = emulator.compile(&cuda.source, &cuda.name);
            let function = module.and_then(|module| module.function(&cuda.name));
            Ok((cuda, function.map_err(|error| error.to_string())?))
        };
        let segment = |number: usize| match &plan.segments[number].decision {
            Decision::Kernels(kernels) => kernels.lowered.kernels.iter().map(compile).collect(),
            Decision::External(call) => {
                Err(format!("segment {number} has no kernel: a library computes {}", call.op.name()))
            }
            Decision::Evaluate { reason, .. } => Err(format!("segment {number} has no kernel: it {reason}")),
        };
        let functions = (0..plan.segments.len()).map(segment).collect::<Result<Vec<_>, String>>()?;
        Ok(EmulatedPlan { plan, functions })
    }

    /// How many kernels there are.
    pub fn kernels(&self) -> usize {
        self.functions.iter().map(Vec::len).sum()
    }

    /// The text of all kernels.
    pub fn source(&self) -> String {
        self.functions.iter().flatten().map(|(cuda, _)| cuda.source.as_str()).collect()
    }

    /// The outputs on these inputs, threads running in this order; draws without a seed begin a stream.
    ///
    /// # Errors
    /// In words: inputs that do not fit, or what a launch reports.
    pub fn run(&self, inputs: &[ArrayView<'_>], order: Order) -> Result<Vec<Array>, String> {
        let (graph, fusion) = (&self.plan.graph, &self.plan.fusion);
        let mut sizes = InputSignature::new(graph, fusion, |_| None)
            .bind(inputs, &[])
            .map_err(|error| error.to_string())?;
        Stream::default().symbols(graph).for_each(|(sym, value)| sizes.set(sym, value));
        let mut values: FxHashMap<Val, Vec<u8>> = FxHashMap::default();
        for (&val, input) in fusion.inputs().iter().zip(inputs) {
            let dense = input.to_array().map_err(|error| error.to_string())?;
            values.insert(val, dense.as_bytes().to_vec());
        }
        for (segment, functions) in self.plan.segments.iter().zip(&self.functions) {
            let Decision::Kernels(kernels) = &segment.decision else { unreachable!("checked when compiled") };
            let run = SegmentRun { sizes: &sizes, kernels, inputs: segment.view.inputs() };
            run.launch_all(self.plan, functions, &mut values, order)?;
        }
        let output = |(output, view): (&Output, &Option<View>)| match view {
            None => self.array(&sizes, output.val, &values[&output.val]),
            Some(View { source, .. }) => {
                let source = (*source, self.array(&sizes, *source, &values[source])?);
                self.viewed(&sizes, source, output.val)
            }
        };
        fusion.outputs().iter().zip(&self.plan.views).map(output).collect()
    }

    /// A view of a value, as the evaluator makes it.
    fn viewed(&self, sizes: &Sizes, (source, array): (Val, Array), val: Val) -> Result<Array, String> {
        let (graph, facts) = (&self.plan.graph, self.plan.fusion.facts().clone());
        let changes = Fusion::new(graph, vec![source], vec![val.into()], facts);
        let changes = changes.map_err(|error| error.to_string())?;
        let options = EvaluateOptions { sizes: sizes.known().collect(), ..EvaluateOptions::default() };
        let mut viewed =
            evaluate(graph, &changes, &[array.view()], &options).map_err(|error| error.to_string())?;
        Ok(viewed.outputs.remove(0).value)
    }

    fn array(&self, sizes: &Sizes, val: Val, bytes: &[u8]) -> Result<Array, String> {
        let shape = sizes.sizes(self.plan.graph.shape(val)).map_err(|error| error.to_string())?;
        let layout = match self.plan.placements.get(&val) {
            Some(Placement::Ordered(order)) => Layout::ordered(&shape, order.iter().map(|&axis| axis.into())),
            // What has the layout of an input has that of the dense copy that this has of it.
            Some(Placement::Like(_)) | None => Layout::dense(&shape),
        };
        let view = ArrayView::new(bytes, 0, self.plan.graph.dtype(val), &shape, &layout.strides);
        view.and_then(|view| view.to_array()).map_err(|error| error.to_string())
    }
}

/// Memory that the kernels of a segment share.
struct Own {
    temporaries: Vec<Vec<u8>>,
    faults: Vec<u8>,
}

impl Own {
    /// Whether no index was out of range.
    fn check(&self, checked: &[Val]) -> Result<(), String> {
        let words = self.faults.chunks_exact(size_of::<i64>());
        let words = words.map(|word| i64::from_ne_bytes(word.try_into().expect("eight bytes")));
        let found = words.map(index_of_fault);
        match checked.iter().zip(found).find_map(|(val, index)| Some((val, index?))) {
            Some((val, index)) => Err(format!("{val}: index {index} is out of range")),
            None => Ok(()),
        }
    }
}

/// One segment being run.
struct SegmentRun<'a> {
    sizes: &'a Sizes,
    kernels: &'a Kernels,
    inputs: &'a [Val],
}

impl SegmentRun<'_> {
    fn launch_all(
        &self,
        plan: &Plan,
        functions: &[(CudaKernel, Function)],
        values: &mut FxHashMap<Val, Vec<u8>>,
        order: Order,
    ) -> Result<(), String> {
        let number = |expr: &Expr| self.sizes.value(expr).map_err(|error| error.to_string());
        for store in &self.kernels.witness.stores {
            let bytes = number(&plan.graph.ty(store.val).bytes())?;
            values.insert(store.val, vec![0; bytes as usize]);
        }
        let words = self.kernels.lowered.checked.len();
        let mut memory = Own { temporaries: Vec::new(), faults: NO_FAULT.to_ne_bytes().repeat(words) };
        for temporary in &self.kernels.lowered.temporaries {
            memory.temporaries.push(vec![0; number(&temporary.len)? as usize * temporary.dtype.size()]);
        }
        for (lowered, (cuda, function)) in self.kernels.lowered.kernels.iter().zip(functions) {
            self.launch(lowered, (cuda, function), values, &mut memory, order)?;
        }
        memory.check(&self.kernels.lowered.checked)
    }

    fn launch(
        &self,
        lowered: &Lowered,
        (cuda, function): (&CudaKernel, &Function),
        values: &mut FxHashMap<Val, Vec<u8>>,
        memory: &mut Own,
        order: Order,
    ) -> Result<(), String> {
        let mut guarded = Vec::new();
        for source in &lowered.buffers {
            let bytes = match *source {
                BufferSource::Input(input) => &values[&self.inputs[input]],
                BufferSource::Store(store) => &values[&self.kernels.witness.stores[store].val],
                BufferSource::Temporary(temporary) => &memory.temporaries[temporary],
                BufferSource::Faults => &memory.faults,
            };
            guarded.push(GuardedBuffer::new(bytes).map_err(|error| error.to_string())?);
        }
        let argument = |sym: Sym| {
            let place = lowered.kernel.arguments.iter().position(|&own| own == sym)?;
            match lowered.arguments[place] {
                KernelArgument::Size(size) => self.sizes.get(size),
                KernelArgument::Stride { .. } | KernelArgument::StoreStride { .. } => None,
            }
        };
        let parameters = cuda.parameters.iter().map(|parameter| match *parameter {
            Parameter::Buffer(buffer) => Ok(Arg::Pointer(guarded[buffer.index()].as_mut_ptr())),
            Parameter::Argument(sym) => argument(sym).map(Arg::I64).ok_or("a stride of a dense input"),
        });
        let parameters = parameters.collect::<Result<Vec<Arg>, _>>()?;
        let number = |expr: &Expr| expr.eval(&argument).map_err(|error| error.to_string());
        let launch = Launch {
            grid: [u32::try_from(number(&cuda.blocks)?).map_err(|error| error.to_string())?, 1, 1],
            block: [cuda.block_threads, 1, 1],
            dynamic_shared_bytes: number(&cuda.dynamic_shared_bytes)? as usize,
            order,
        };
        if launch.grid[0] > 0 {
            // SAFETY: every pointer is that of a guarded buffer as large as the kernel's plan says, alive until below.
            unsafe { function.launch(&launch, &parameters) }.map_err(|error| error.to_string())?;
        }
        let written = lowered.kernel.buffers.values().zip(&lowered.buffers).zip(&guarded);
        for ((_, source), guarded) in written.filter(|((decl, _), _)| decl.access != Access::Read) {
            match *source {
                BufferSource::Input(_) => unreachable!("inputs are read"),
                BufferSource::Store(store) => {
                    values.insert(self.kernels.witness.stores[store].val, guarded.bytes().to_vec());
                }
                BufferSource::Temporary(temporary) => {
                    memory.temporaries[temporary] = guarded.bytes().to_vec();
                }
                BufferSource::Faults => memory.faults = guarded.bytes().to_vec(),
            }
        }
        Ok(())
    }
}
