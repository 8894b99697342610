//! The inputs of a call in the form that kernels can read.
//!
//! Which inputs are read in place depends on the executor: kernels need elements aligned to their size, the interpreter has
//! no memory before the first element. All others are copied.

use ir::array::{Array, ArrayView, Layout as ArrayLayout, StridedArray};
use ir::definition::Definition;
use ir::layout::LayoutClass;
use reference::evaluate::copy;

use crate::executor::Readable;
use crate::{Error, ExecutorKind};
use cpu::pool::{Workers, until_interrupted};

/// The inputs of a call.
pub(crate) struct Inputs<'a> {
    given: &'a [ArrayView<'a>],
    /// The copies that had to be made, by position.
    copies: Vec<(usize, StridedArray)>,
}

impl<'a> Inputs<'a> {
    /// Copies the inputs that must be copied.
    ///
    /// # Errors
    /// When there is no memory for a copy, and [`Error::Interrupted`].
    pub fn new(
        given: &'a [ArrayView<'a>],
        executor: ExecutorKind,
        workers: &Workers<'_>,
    ) -> Result<Inputs<'a>, Error> {
        let copied = given.iter().enumerate().filter(|(_, view)| !is_readable(view, executor));
        let copied = copied.map(|(place, view)| Ok((place, packed(view, workers)?)));
        let copies: Result<_, Error> = until_interrupted(|| copied.collect())?;
        Ok(Inputs { given, copies: copies? })
    }

    /// The inputs where all can be read as they are.
    pub fn uncopied(given: &'a [ArrayView<'a>], executor: ExecutorKind) -> Option<Inputs<'a>> {
        let are_readable = given.iter().all(|view| is_readable(view, executor));
        are_readable.then(|| Inputs { given, copies: Vec::new() })
    }

    /// Whether inputs had to be copied.
    pub fn has_copies(&self) -> bool {
        !self.copies.is_empty()
    }

    /// Whether an input had to be copied.
    pub fn is_copied(&self, place: usize) -> bool {
        self.copies.iter().any(|(copied, _)| *copied == place)
    }

    /// The inputs, with copies in place of those that were copied.
    pub fn views(&self) -> impl Iterator<Item = ArrayView<'_>> {
        let copy = |place: usize| self.copies.iter().find(|(copied, _)| *copied == place);
        self.given.iter().enumerate().map(move |(place, given)| match copy(place) {
            Some((_, copy)) => copy.view(),
            None => given.clone(),
        })
    }
}

/// The layouts of inputs, or of their copies if they must be copied.
pub(crate) fn layouts(given: &[ArrayView<'_>], executor: ExecutorKind) -> Vec<LayoutClass> {
    let layout = |view: &ArrayView<'_>| match is_readable(view, executor) {
        true => LayoutClass::from(view.layout()),
        false => LayoutClass::from(&of_packed(view)),
    };
    given.iter().map(layout).collect()
}

fn is_readable(view: &ArrayView<'_>, executor: ExecutorKind) -> bool {
    let is_aligned = || (view.as_ptr() as usize).is_multiple_of(view.dtype().real().size());
    match executor.readable() {
        Readable::All => true,
        Readable::Aligned => is_aligned(),
        Readable::Forward => is_aligned() && view.strides().iter().all(|&stride| stride >= 0),
        Readable::Packed => is_aligned() && is_packed(view),
    }
}

/// Whether a view has no gaps between its elements and begins with the first of them.
fn is_packed(view: &ArrayView<'_>) -> bool {
    let Some((first, last)) = view.layout().span() else { return true };
    let elements = view
        .layout()
        .distinct()
        .sizes
        .iter()
        .fold(1, |elements: i128, &size| elements.saturating_mul(size as i128));
    view.strides().iter().all(|&stride| stride >= 0) && last - first + 1 == elements
}

/// A copy without gaps that holds repeated elements once.
fn packed(view: &ArrayView<'_>, workers: &Workers<'_>) -> Result<StridedArray, Error> {
    let distinct = view.layout().distinct();
    let mut elements = Array::zeros(view.dtype(), &distinct.sizes)?;
    copy(&mut elements.view_mut(), &view.relaid(distinct).expect("a part of the view"), workers)?;
    Ok(StridedArray::new(elements, of_packed(view))?)
}

/// The layout of the packed copy.
fn of_packed(view: &ArrayView<'_>) -> ArrayLayout {
    ArrayLayout::dense(&view.layout().distinct().sizes).expanded(view.sizes())
}

/// The declared layouts of the inputs of a definition. Inputs that may have gaps are taken to have none.
pub fn declared_layouts(definition: &Definition) -> Vec<LayoutClass> {
    definition
        .input_decls()
        .iter()
        .map(|decl| decl.layout.as_ref().map_or(LayoutClass::Dense, LayoutClass::declared))
        .collect()
}
