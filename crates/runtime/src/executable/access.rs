//! What a call may do with the memory of its arguments: which it writes, and which outputs may be views of.

use ir::array::{Footprint, shared};
use ir::definition::Definition;
use ir::graph::InputSignature;
use smallvec::SmallVec;

use crate::Error;
use crate::device::{AddressSpace, WriteTarget};

/// What a call may do with each of its arguments.
pub(super) struct Access<'a, S: AddressSpace> {
    /// The memory that outputs are written to, where it is that of the argument.
    pub targets: SmallVec<[Option<WriteTarget<'a, S>>; 8]>,
    /// Whether outputs may be views of it.
    pub visible: SmallVec<[bool; 8]>,
}

/// An argument, as far as its memory matters.
pub(super) struct ArgumentMemory<'a, S: AddressSpace> {
    /// The argument; `None` if it is in other memory than the device's.
    pub argument: Option<&'a S::Argument<'a>>,
    /// Whether kernels read a copy of it.
    pub is_copied: bool,
}

impl<'a, S: AddressSpace> Access<'a, S> {
    /// For a call that writes to no argument.
    pub fn reading(is_copied: impl Iterator<Item = bool>) -> Access<'a, S> {
        Access { targets: SmallVec::new(), visible: is_copied.map(|is_copied| !is_copied).collect() }
    }

    /// For a call that writes in-place outputs to their inputs.
    ///
    /// # Errors
    /// For an input that outputs cannot be written to.
    pub fn writing(
        definition: &Definition,
        signature: &InputSignature,
        arguments: &[ArgumentMemory<'a, S>],
    ) -> Result<Access<'a, S>, Error> {
        let aliases = || definition.fusion.outputs().iter().filter_map(|output| output.alias);
        if aliases().next().is_none() {
            return Ok(Access::reading(arguments.iter().map(|argument| argument.is_copied)));
        }
        let footprints: SmallVec<[Option<Footprint<'a>>; 8]> =
            arguments.iter().map(|memory| memory.argument.map(S::footprint)).collect();
        let shared = shared(footprints.iter().copied());
        let mut targets: SmallVec<[Option<WriteTarget<'a, S>>; 8]> = arguments.iter().map(|_| None).collect();
        for place in aliases() {
            let place = place as usize;
            let name = || signature.input_name(place).to_owned();
            let ArgumentMemory { argument, is_copied } = arguments[place];
            let argument = argument.ok_or_else(|| Error::ReadOnly { input: name() })?;
            targets[place] = Some(WriteTarget::checked(argument, !shared[place] && !is_copied, name)?);
        }
        let is_written = |place: usize| {
            let meets = |target: &WriteTarget<'_, S>| {
                footprints[place].is_some_and(|footprint| target.footprint().overlaps(&footprint))
            };
            targets[place].is_some() || (shared[place] && targets.iter().flatten().any(meets))
        };
        let is_visible = |place: usize| !arguments[place].is_copied && !is_written(place);
        let visible = (0..arguments.len()).map(is_visible).collect();
        Ok(Access { targets, visible })
    }
}

impl<S: AddressSpace> Clone for ArgumentMemory<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: AddressSpace> Copy for ArgumentMemory<'_, S> {}
