//! Where the partial results of folds that cross blocks lie: chunk by chunk, each row-major over the axes that the fold
//! keeps.

use index::Expr;
use ir::graph::{Shape, Val};
use ops::DType;

use crate::address::row_major;
use crate::loops::LoopEmitter;
use crate::states::States;
use crate::{Group, Temporary};
use scheduler::legal::Fold;
use space::Axis;

/// Where the partial results of one fold lie.
pub(crate) struct PartialLayout<'a> {
    fold: &'a Fold,
    /// The divided axes among those that the fold reduces, outermost first.
    pub divided: Vec<Axis>,
    /// The number of the first of its temporaries, one a state.
    pub first_temporary: usize,
}

/// The dtypes of the partial results of a fold.
pub(crate) fn partial_dtypes(group: &Group<'_>, fold: usize) -> Vec<DType> {
    States::of(group.graph, group.witness.folds[fold].node).partial_dtypes()
}

impl<'a> PartialLayout<'a> {
    /// The layout of a fold's partial results. Temporaries are numbered through the crossing folds, by the folds' numbers.
    pub fn of(group: &Group<'a>, number: usize) -> PartialLayout<'a> {
        let fold = &group.witness.folds[number];
        let divided = group.schedule.divided(fold);
        PartialLayout { fold, divided, first_temporary: first_temporary(group, number) }
    }

    /// How many chunks there are, over the graph's size symbols.
    pub fn chunks(&self, group: &Group<'_>) -> Expr {
        let count = |axis: &Axis| {
            let chunk = group.schedule.chunk(*axis).expect("a divided axis has chunks");
            group.schedule.extent(group.witness, *axis).ceil_div(&Expr::constant(chunk as i64))
        };
        self.divided.iter().fold(Expr::one(), |n, axis| n * count(axis))
    }

    /// The position of this block's partial result at an index along the axes that the fold keeps.
    pub fn position(&self, loops: &mut LoopEmitter<'_>, index: &[Expr]) -> Expr {
        let group = loops.emitter.group;
        let mut chunk = Expr::zero();
        for axis in &self.divided {
            let length = group.schedule.chunk(*axis).expect("a divided axis has chunks");
            let count = group.schedule.extent(group.witness, *axis).ceil_div(&Expr::constant(length as i64));
            let count = loops.emitter.size(&count);
            chunk = chunk * count + loops.open_loops.chunks[axis].2.clone();
        }
        let sizes = loops.emitter.sizes(kept_shape(&group, self.fold));
        let kept = sizes.iter().fold(Expr::one(), |n, size| n * size.clone());
        chunk * kept + row_major(index, &sizes)
    }
}

/// The shape of a fold's result.
pub(crate) fn kept_shape<'a>(group: &Group<'a>, fold: &Fold) -> &'a Shape {
    group.graph.shape(Val::from(fold.node))
}

/// Temporaries are numbered fold by fold, by the folds' numbers.
fn first_temporary(group: &Group<'_>, number: usize) -> usize {
    group.crossing().take_while(|&fold| fold < number).map(|fold| partial_dtypes(group, fold).len()).sum()
}

/// The memory that the kernels of a group will share: the partial results of folds that cross blocks, in order.
pub fn temporaries(group: &Group<'_>) -> Vec<Temporary> {
    let mut temporaries = Vec::new();
    for number in group.crossing() {
        let layout = PartialLayout::of(group, number);
        let kept = kept_shape(group, layout.fold).iter().fold(Expr::one(), |n, size| n * size.clone());
        let len = layout.chunks(group) * kept;
        let dtypes = partial_dtypes(group, number).into_iter();
        temporaries.extend(dtypes.map(|dtype| Temporary { dtype, len: len.clone() }));
    }
    temporaries
}
