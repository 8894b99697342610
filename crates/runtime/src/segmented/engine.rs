//! Where the segments of a call run: on the host, or in the order of a GPU's stream.

use ir::array::{ArrayView, Footprint, Layout};
use ops::DType;

use crate::call::Finished;
use crate::destination::{OutputForm, Place};
use crate::device::{AddressSpace, Device, TensorOf};
use crate::executable::CallMode;
use crate::{CallOptions, Error, Executable};

/// What calls of segments need of the place where they run.
pub(super) trait Engine {
    /// The device that allocates and copies between segments.
    type Device: Device;

    /// The device.
    fn device(&self) -> &Self::Device;

    /// Calls a segment; outputs are written to memory of the caller's where `place` says so.
    ///
    /// # Errors
    /// Those of the call.
    fn call<'d>(
        &self,
        segment: &Executable,
        options: &CallOptions,
        inputs: &[Input<'_, SpaceOf<Self>>],
        place: Option<impl Place<ArgumentOf<'d, Self>>>,
        mode: CallMode,
    ) -> Result<Finished<SpaceOf<Self>>, Error>;

    /// A copy of an array of the host.
    ///
    /// # Errors
    /// When there is no memory.
    fn uploaded(&self, view: &ArrayView<'_>) -> Result<TensorOf<Self::Device>, Error>;

    /// Checks that the call may allocate the outputs for which the caller has no memory.
    ///
    /// # Errors
    /// [`Error::AllocatesInCapture`].
    fn check_placed<A>(&self, _: &[OutputForm], _: &[Option<A>]) -> Result<(), Error> {
        Ok(())
    }
}

/// The memory of an engine's tensors.
pub(super) type SpaceOf<E> = <<E as Engine>::Device as Device>::Space;
pub(super) type ArgumentOf<'a, E> = <SpaceOf<E> as AddressSpace>::Argument<'a>;

/// An input of a call of segments, or of one of them.
pub(super) enum Input<'v, S: AddressSpace> {
    /// In the device's memory.
    Device(S::Argument<'v>),
    /// An array of the host, such as the number of a scalar input.
    Host(ArrayView<'v>),
}

impl<S: AddressSpace> Input<'_, S> {
    /// Element type and layout.
    pub fn form(&self) -> (DType, &Layout) {
        match self {
            Input::Device(argument) => {
                let Footprint { dtype, layout, .. } = S::footprint(argument);
                (dtype, layout)
            }
            Input::Host(view) => (view.dtype(), view.layout()),
        }
    }

    /// Its memory, if that is the device's.
    pub fn footprint(&self) -> Option<Footprint<'_>> {
        match self {
            Input::Device(argument) => Some(S::footprint(argument)),
            Input::Host(_) => None,
        }
    }

    /// The same input, for a call within the one that this is an input of.
    pub fn again(&self) -> Input<'_, S> {
        match self {
            Input::Device(argument) => Input::Device(S::again(argument)),
            Input::Host(view) => Input::Host(view.clone()),
        }
    }

    /// The same elements through another layout, to be read.
    pub fn relaid(&self, layout: Layout) -> Input<'_, S> {
        match self {
            Input::Device(argument) => Input::Device(S::argument_relaid(argument, layout)),
            Input::Host(view) => Input::Host(view.relaid(layout).expect("view ops reach no further")),
        }
    }
}
