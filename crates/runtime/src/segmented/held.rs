//! The contents of the slots of a call.

use std::rc::Rc;

use ir::array::Layout;

use super::account::{OwnMemory, Piece};
use super::engine::Input;
use crate::call::Done;
use crate::device::AddressSpace;

/// The contents of a slot.
pub(super) enum Held<S: AddressSpace> {
    Nothing,
    /// The input of this number, with this layout.
    Input(usize, Layout),
    /// A tensor with this layout; several slots may hold it.
    Own(Rc<S::Tensor>, Layout),
    /// An output that is in memory of the caller's.
    Placed,
}

impl<S: AddressSpace> Held<S> {
    /// A tensor of the call.
    pub fn made(tensor: S::Tensor) -> Self {
        let layout = S::tensor_form(&tensor).1.clone();
        Held::Own(Rc::new(tensor), layout)
    }

    /// The number of the input that it is a view of.
    pub fn input_number(&self) -> Option<usize> {
        match self {
            Held::Input(input, _) => Some(*input),
            Held::Own(..) | Held::Nothing | Held::Placed => None,
        }
    }

    /// The address and the layout of its memory, unless it is a view of an input.
    pub fn own_place(&self) -> Option<(usize, Layout)> {
        match self {
            Held::Own(tensor, layout) => Some((S::piece(tensor).0, layout.clone())),
            Held::Nothing | Held::Input(..) | Held::Placed => None,
        }
    }

    /// Moves the tensor out, if no other slot holds it; the slot is empty then.
    pub fn take(&mut self) -> Option<S::Tensor> {
        match std::mem::replace(self, Held::Nothing) {
            Held::Own(tensor, layout) => match Rc::try_unwrap(tensor) {
                Ok(tensor) => return Some(S::tensor_relaid(tensor, layout)),
                Err(tensor) => *self = Held::Own(tensor, layout),
            },
            other => *self = other,
        }
        None
    }

    /// The same memory with another layout, if that covers all memory of the call: a view of a part would keep the rest
    /// alive.
    pub fn shown_as(&self, layout: &Layout) -> Option<Self> {
        match self {
            Held::Input(place, _) => Some(Held::Input(*place, layout.clone())),
            Held::Own(tensor, _) => {
                let (dtype, _) = S::tensor_form(tensor);
                let bytes = layout.distinct().numel()?.checked_mul(dtype.size())?;
                let is_all = bytes == S::piece(tensor).1;
                is_all.then(|| Held::Own(Rc::clone(tensor), layout.clone()))
            }
            Held::Nothing | Held::Placed => None,
        }
    }

    /// The contents, as an input of a segment of a call on these.
    pub fn input<'h>(&'h self, inputs: &'h [Input<'_, S>]) -> Input<'h, S> {
        match self {
            Held::Input(place, layout) => inputs[*place].relaid(layout.clone()),
            Held::Own(tensor, layout) => Input::Device(S::shared(tensor, layout.clone())),
            Held::Nothing | Held::Placed => {
                unreachable!("what is freed, or placed by the last segment, was read for the last time")
            }
        }
    }
}

impl<S: AddressSpace> OwnMemory for Held<S> {
    fn own(&self) -> Option<Piece> {
        match self {
            Held::Nothing | Held::Input(..) | Held::Placed => None,
            Held::Own(tensor, _) => Some(S::piece(tensor)),
        }
    }
}

impl<S: AddressSpace> OwnMemory for Done<S> {
    fn own(&self) -> Option<Piece> {
        match self {
            Done::Made(tensor) => Some(S::piece(tensor)),
            Done::Viewed(..) | Done::Placed => None,
        }
    }
}
