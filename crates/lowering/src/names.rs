//! The names in the text of a group's kernels: they tell a reader which values of the definition buffers and strides are of.

use kernel::identifier;

use crate::fold::partial_dtypes;
use crate::{BufferSource, Group, KernelArgument, LoweredSegment};

impl Group<'_> {
    /// The name of the main kernel, or of that of a combine step.
    pub(crate) fn kernel_name(&self, step: Option<usize>) -> String {
        step.map_or_else(|| self.name.to_owned(), |step| format!("{}_combine{step}", self.name))
    }

    pub(crate) fn buffer_name(&self, source: BufferSource) -> String {
        match source {
            BufferSource::Input(input) => self.view.inputs()[input].to_string(),
            BufferSource::Store(store) => self.witness.stores[store].val.to_string(),
            BufferSource::Temporary(number) => self.temporary_name(number),
            BufferSource::Faults => "faults".to_owned(),
        }
    }

    fn temporary_name(&self, number: usize) -> String {
        let states = |fold: usize| (0..partial_dtypes(self, fold).len()).map(move |state| (fold, state));
        let (fold, state) = self.crossing().flat_map(states).nth(number).expect("each belongs to a fold");
        format!("{}_partial{state}", self.witness.folds[fold].node)
    }

    pub(crate) fn argument_name(&self, argument: &KernelArgument) -> String {
        match argument {
            KernelArgument::Size(size) => size.as_sym().map_or("size".to_owned(), |sym| sym.to_string()),
            KernelArgument::Stride { input, axis } => format!("{}_stride{axis}", self.view.inputs()[*input]),
            KernelArgument::StoreStride { store, axis } => {
                format!("{}_stride{axis}", self.witness.stores[*store].val)
            }
        }
    }
}

impl LoweredSegment {
    /// The same kernels for a group that is equal except for which values it is about; `None` if they check indices, which
    /// are named after values too.
    pub fn renamed(&self, group: &Group<'_>) -> Option<LoweredSegment> {
        let mut lowered = self.checked.is_empty().then(|| self.clone())?;
        for (number, lowered) in lowered.kernels.iter_mut().enumerate() {
            let kernel = &mut lowered.kernel;
            kernel.name = group.kernel_name(number.checked_sub(1));
            let buffers = kernel.buffers.values_mut().zip(&lowered.buffers);
            buffers.for_each(|(buffer, &source)| buffer.name = identifier(&group.buffer_name(source)));
            for (&sym, argument) in kernel.arguments.iter().zip(&lowered.arguments) {
                if !matches!(argument, KernelArgument::Size(_)) {
                    kernel.symbols[sym] = identifier(&group.argument_name(argument));
                }
            }
        }
        Some(lowered)
    }
}
