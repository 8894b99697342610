//! Running a kernel as a program: its buffers are copied into the interpreter's memory, and those that it writes are copied
//! back.

use ir::array::{ArrayView, ArrayViewMut, StridedArray};
use kernel::{Access, Kernel};
use reference::interpret::{DenseMemory as Elements, Options, interpret};

use super::{HostCode, HostMemory};
use crate::Error;
use crate::device::KernelLaunch;
use crate::device::Memory;
use execution::Operands;

/// Interprets all blocks of a kernel, of one member after the other.
pub(super) fn run(
    options: &Options,
    given: &KernelLaunch<'_, HostCode>,
    memory: &mut Memory<'_, HostMemory>,
) -> Result<(), Error> {
    let kernel = given.kernel;
    (0..given.members.len()).try_for_each(|member| {
        let (operands, arguments) = (given.members[member], given.arguments_of(member));
        run_member(options, kernel, operands, arguments, memory)
    })
}

/// Interprets the blocks of a member.
fn run_member(
    options: &Options,
    kernel: &Kernel,
    operands: &Operands,
    arguments: &[i64],
    memory: &mut Memory<'_, HostMemory>,
) -> Result<(), Error> {
    let buffers = &operands.buffers;
    let mut elements = Vec::with_capacity(buffers.len());
    for &slot in buffers {
        elements.push(span(&memory[slot].view())?);
    }
    interpret(kernel, arguments, &mut elements, options)
        .map_err(|fault| Error::Fault { kernel: operands.name.clone(), fault })?;
    for ((decl, &slot), elements) in kernel.buffers.values().zip(buffers).zip(&elements) {
        if decl.access != Access::Read {
            write_back(&mut memory[slot].view_mut(), elements.bytes());
        }
    }
    Ok(())
}

/// Writes the elements of a span back, but nothing between them.
fn write_back(target: &mut ArrayViewMut<'_>, bytes: &[u8]) {
    let written = ArrayView::new(bytes, 0, target.dtype(), target.sizes(), target.strides());
    let copied = target.copy_from(&written.expect("the span is that of the view"));
    copied.expect("both have the same layout");
}

/// All elements from the one at index zero to the last that a view reaches; zeros for what lies between its own. The view has
/// no negative strides.
fn span(view: &ArrayView<'_>) -> Result<Elements, Error> {
    let copy = StridedArray::copy_of(view)?;
    let elements = Elements::from_bytes(view.dtype().real(), copy.storage().as_bytes().to_vec());
    Ok(elements.expect("an array has whole elements"))
}
