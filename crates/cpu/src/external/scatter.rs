//! Scatter: lines of the first operand, with elements of the source written at the index; the last one wins.

use std::sync::{Mutex, PoisonError};

use ir::array::{ArrayView, Element, with_element};
use ir::graph::Val;
use reference::evaluate::{EvaluateError, Looks, OutOfRange};

use super::lines::{Lines, Shared, read};
use crate::pool::Workers;

/// Elements between two checks of an interrupt.
const ELEMENTS_BETWEEN_CHECKS: usize = 1 << 16;

/// `arg` with elements of `src` written at `index` along the axis.
///
/// # Errors
/// [`EvaluateError::Index`]: the smallest index out of range.
pub fn scatter(
    [arg, index, src]: [&ArrayView<'_>; 3],
    axis: usize,
    result: &Shared<'_>,
    val: Val,
    workers: &Workers<'_>,
) -> Result<(), EvaluateError> {
    let scatter = Scatter {
        arg,
        index,
        src,
        axis,
        result,
        lines: [arg, index, src].map(|view| Lines::new(view.layout(), axis, arg.sizes())),
        outside: Mutex::new(None),
    };
    let length = arg.sizes()[axis].max(1);
    if result.numel() > 0 {
        with_element!(arg.dtype(), T => workers.run(scatter.lines[0].count(), ELEMENTS_BETWEEN_CHECKS.div_ceil(length), &|_, begin, end| {
            let mut buffers = Buffers::new();
            (begin..end).for_each(|number| scatter.line::<T>(number, &mut buffers, workers));
        }));
    } else {
        scatter.check_all();
    }
    match scatter.outside.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(index) => {
            let at = OutOfRange { axis, size: arg.sizes()[axis] as i64, index };
            Err(EvaluateError::Index { val, at })
        }
        None => Ok(()),
    }
}

struct Scatter<'s> {
    arg: &'s ArrayView<'s>,
    index: &'s ArrayView<'s>,
    src: &'s ArrayView<'s>,
    axis: usize,
    result: &'s Shared<'s>,
    /// The lines of the three operands, numbered alike.
    lines: [Lines; 3],
    /// The smallest index out of range.
    outside: Mutex<Option<i64>>,
}

/// One line of each operand.
struct Buffers<T> {
    arg: Vec<T>,
    index: Vec<i64>,
    src: Vec<T>,
}

impl<T: Element> Buffers<T> {
    fn new() -> Buffers<T> {
        Buffers { arg: Vec::new(), index: Vec::new(), src: Vec::new() }
    }
}

impl Scatter<'_> {
    fn line<T: Element>(&self, number: usize, buffers: &mut Buffers<T>, workers: &Workers<'_>) {
        let Buffers { arg, index, src } = buffers;
        let at = self.lines[0].index(number);
        let size = self.arg.sizes()[self.axis];
        arg.resize(size, T::from_int(0));
        read::<T, T>(self.arg, self.lines[0].at(&at, size), arg, |x| x);
        if self.has_index(&at) {
            let count = self.index.sizes()[self.axis];
            src.resize(count, T::from_int(0));
            read::<T, T>(self.src, self.lines[2].at(&at, count), src, |x| x);
            self.read_index(&at, index);
            let mut looks = Looks::new(workers);
            for (&place, &value) in index.iter().zip(src.iter()) {
                looks.step();
                match usize::try_from(place).ok().and_then(|place| arg.get_mut(place)) {
                    Some(element) => *element = value,
                    None => self.report(place),
                }
            }
        }
        let layout = self.result.layout();
        let first = Lines::new(layout, self.axis, &layout.sizes).at(&at, size).offset as usize;
        // SAFETY: the line of this number is this task's alone.
        unsafe { self.result.write::<T>(first, layout.strides[self.axis] as usize, arg) };
    }

    /// Whether the index reaches this line of the result.
    fn has_index(&self, at: &[usize]) -> bool {
        let sizes = self.index.sizes();
        let mut others = (0..sizes.len()).filter(|&axis| axis != self.axis).map(|axis| sizes[axis]);
        at.iter().all(|&place| others.next().is_some_and(|size| place < size))
    }

    fn read_index(&self, at: &[usize], index: &mut Vec<i64>) {
        index.resize(self.index.sizes()[self.axis], 0);
        let line = self.lines[1].at(at, index.len());
        with_element!(self.index.dtype(), I => read::<I, i64>(self.index, line, index, I::to_int));
    }

    /// No element can be written to a result without elements.
    fn check_all(&self) {
        if self.index.numel() > 0 {
            let mut indices = vec![0; self.index.numel()];
            with_element!(self.index.dtype(), I => self.index.read::<I, i64>(0, &mut indices, I::to_int));
            indices.into_iter().for_each(|index| self.report(index));
        }
    }

    fn report(&self, index: i64) {
        let mut outside = self.outside.lock().unwrap_or_else(PoisonError::into_inner);
        *outside = Some(outside.map_or(index, |min| min.min(index)));
    }
}
