//! Inputs in memory: takes a program's inputs, returns their elements between pages that fault, and copies that a call may
//! write to. Inputs may share memory.

use std::sync::Arc;

use emulator::{GuardedBuffer, GuardedEnd};
use ferrofuse::{Argument, ArrayView, DType};
use ir::array::{ArrayViewMut, Layout};

use super::Draws;
use super::data::{Input, Placement};
use super::program::Tensor;

/// An input in memory.
#[derive(Clone, Debug)]
pub struct Placed {
    memory: Arc<GuardedBuffer>,
    /// The end at which its memory touches a page that faults.
    end: GuardedEnd,
    start: usize,
    dtype: DType,
    sizes: Vec<usize>,
    strides: Vec<isize>,
}

/// The inputs of a program, in its order.
pub fn place(inputs: &[(Tensor, Input)]) -> Vec<Placed> {
    let mut placed: Vec<Placed> = Vec::with_capacity(inputs.len());
    for (place, (_, input)) in inputs.iter().enumerate() {
        let host = input.within.and_then(|(host, element)| {
            let host = inputs[..place].iter().position(|(tensor, _)| *tensor == host)?;
            input.place_within(&inputs[host].1, &placed[host], element)
        });
        placed.push(host.unwrap_or_else(|| input.place()));
    }
    placed
}

impl Input {
    /// Puts the input into separate memory; the bytes between its elements are random too.
    pub fn place(&self) -> Placed {
        let Span { strides, extent, first } = self.placement.span(&self.sizes);
        let mut draws = Draws::new(self.seed);
        let parts = if self.dtype.is_complex() { 2 } else { 1 };
        let mut bytes = vec![0; self.placement.offset];
        for _ in 0..extent * parts {
            let part = self.numbers.draw(self.dtype.real(), &mut draws).bits().to_le_bytes();
            bytes.extend(&part[..self.dtype.real().size()]);
        }
        let start = self.placement.offset + first * self.dtype.size();
        let end = if self.seed.is_multiple_of(2) { GuardedEnd::First } else { GuardedEnd::Last };
        let memory = Arc::new(guarded(&bytes, end));
        Placed { memory, end, start, dtype: self.dtype, sizes: self.sizes.clone(), strides }
    }

    /// The input in the memory of another from this element on, if it fits there.
    fn place_within(&self, host: &Input, placed: &Placed, element: usize) -> Option<Placed> {
        let Span { strides, extent, first } = self.placement.span(&self.sizes);
        let room = host.placement.span(&host.sizes).extent;
        if self.dtype != host.dtype || host.within.is_some() || element + extent > room {
            return None;
        }
        let start = host.placement.offset + (element + first) * self.dtype.size();
        Some(Placed { start, sizes: self.sizes.clone(), strides, ..placed.clone() })
    }

    /// The elements of its memory.
    pub fn extent(&self) -> usize {
        self.placement.span(&self.sizes).extent
    }
}

/// The extent of a layout for some sizes.
struct Span {
    strides: Vec<isize>,
    /// Elements of the memory.
    extent: usize,
    /// The element of the memory at index 0 of all axes.
    first: usize,
}

impl Placement {
    fn span(&self, sizes: &[usize]) -> Span {
        let rank = sizes.len();
        let order: Vec<usize> = if self.order.is_empty() { (0..rank).collect() } else { self.order.clone() };
        let mut span = Span { strides: vec![0; rank], extent: 1, first: 0 };
        for &axis in order.iter().rev() {
            let step = self.steps.get(axis).copied().unwrap_or(1);
            let stride = step * span.extent as isize;
            span.strides[axis] = stride;
            if step < 0 {
                span.first += sizes[axis].saturating_sub(1) * stride.unsigned_abs();
            }
            span.extent *= (sizes[axis] * step.unsigned_abs()).max(1);
        }
        span
    }
}

impl Placed {
    /// The input as its user sees it.
    pub fn view(&self) -> ArrayView<'_> {
        self.view_of(self.memory.bytes())
    }

    /// Its elements in a copy of its memory.
    fn view_of<'a>(&self, memory: &'a [u8]) -> ArrayView<'a> {
        ArrayView::new(memory, self.start, self.dtype, &self.sizes, &self.strides)
            .expect("the memory was made for these strides")
    }

    /// Its elements for writing in a copy of its memory.
    fn view_mut_of<'a>(&self, memory: &'a mut [u8]) -> ArrayViewMut<'a> {
        ArrayViewMut::new(memory, self.start, self.dtype, &self.sizes, &self.strides)
            .expect("as long as the memory it copies")
    }
}

/// Inputs in copies of their memory that may be written to; those that share memory share the copy.
pub struct WritableInputs<'p> {
    placed: &'p [Placed],
    /// For each input the number of its memory.
    memory_of: Vec<usize>,
    memories: Vec<GuardedBuffer>,
}

impl<'p> WritableInputs<'p> {
    /// Copies of these.
    pub fn new(placed: &'p [Placed]) -> WritableInputs<'p> {
        let mut owners: Vec<&Placed> = Vec::new();
        let memory_of = placed.iter().map(|input| {
            let known = owners.iter().position(|owner| Arc::ptr_eq(&owner.memory, &input.memory));
            known.unwrap_or_else(|| {
                owners.push(input);
                owners.len() - 1
            })
        });
        let memory_of = memory_of.collect();
        let memories = owners.iter().map(|owner| guarded(owner.memory.bytes(), owner.end)).collect();
        WritableInputs { placed, memory_of, memories }
    }

    /// The inputs as arguments of one call.
    pub fn arguments(&mut self) -> Vec<Argument<'_>> {
        let bases: Vec<*mut u8> = self.memories.iter_mut().map(GuardedBuffer::as_mut_ptr).collect();
        let argument = |(input, &memory): (&Placed, &usize)| {
            let (sizes, strides) = (input.sizes.as_slice().into(), input.strides.as_slice().into());
            let layout = Layout { offset: 0, sizes, strides };
            // SAFETY: the copy is as long as the input's memory, so all its elements are within, and it is borrowed mutably
            // as long as the arguments live.
            unsafe { Argument::from_raw_parts(bases[memory].add(input.start), input.dtype, layout) }
        };
        self.placed.iter().zip(&self.memory_of).map(argument).collect()
    }

    /// The contents of an input.
    pub fn view(&self, input: usize) -> ArrayView<'_> {
        self.placed[input].view_of(self.memories[self.memory_of[input]].bytes())
    }

    /// Whether two inputs are in one memory.
    pub fn share_memory(&self, one: usize, other: usize) -> bool {
        self.memory_of[one] == self.memory_of[other]
    }

    /// Whether all bytes that are no element of these inputs are unchanged.
    pub fn are_others_intact(&self, written: &[usize]) -> bool {
        let inputs = || self.placed.iter().zip(&self.memory_of);
        self.memories.iter().enumerate().all(|(number, memory)| {
            let original = inputs().find(|(_, of)| **of == number).map(|(input, _)| input.memory.bytes());
            let mut wanted = original.expect("a memory has inputs").to_vec();
            for &input in written.iter().filter(|&&input| self.memory_of[input] == number) {
                let mut elements = self.placed[input].view_mut_of(&mut wanted);
                elements.copy_from(&self.view(input)).expect("of one shape");
            }
            wanted == memory.bytes()
        })
    }
}

fn guarded(bytes: &[u8], end: GuardedEnd) -> GuardedBuffer {
    GuardedBuffer::at_end(bytes, end, 1).expect("the machine has memory for an input")
}

#[cfg(test)]
mod tests {
    use super::super::data::Numbers;
    use super::*;

    fn input(sizes: &[usize], within: Option<(Tensor, usize)>) -> Input {
        Input {
            dtype: DType::F32,
            sizes: sizes.to_vec(),
            is_scalar: false,
            symbolic: Vec::new(),
            expanded: Vec::new(),
            declared_order: Vec::new(),
            placement: Placement::default(),
            numbers: Numbers::Normal,
            seed: 1,
            within,
        }
    }

    #[test]
    fn an_input_within_another_has_its_numbers() {
        let inputs = [(Tensor(0), input(&[6], None)), (Tensor(1), input(&[2, 2], Some((Tensor(0), 2))))];
        let placed = place(&inputs);
        for number in 0..4 {
            assert_eq!(placed[1].view().scalar(number), placed[0].view().scalar(number + 2));
        }
        let too_far = [inputs[0].clone(), (Tensor(1), input(&[2, 2], Some((Tensor(0), 3))))];
        assert!(!WritableInputs::new(&place(&too_far)).share_memory(0, 1));
    }

    #[test]
    fn a_change_beside_what_is_written_is_seen() {
        let inputs = [(Tensor(0), input(&[6], None)), (Tensor(1), input(&[2], Some((Tensor(0), 1))))];
        let placed = place(&inputs);
        let mut copies = WritableInputs::new(&placed);
        let memory = copies.memories[0].as_mut_ptr();
        // SAFETY: the second element of the first input is the first of the other.
        unsafe { memory.cast::<f32>().add(1).write_unaligned(1e30) };
        assert!(copies.are_others_intact(&[1]) && copies.are_others_intact(&[0]));
        assert!(!copies.are_others_intact(&[]));
    }
}
