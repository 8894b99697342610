//! What the sizes of a call determine: the values of formulas, and the size of each slot. Cached for the next call on the
//! same sizes, since evaluating them takes as long as a small kernel. Symbols that no size depends on, such as the seed and
//! offset of draws, may have other values then.

use std::sync::Arc;

use cranelift_entity::PrimaryMap;
use index::Sym;
use ir::array::Dims;
use ir::graph::{SizeError, Sizes};

use crate::tensor::bytes_of;
use cpu::last_call::LastCall;
use execution::{ExecutionPlan, ReuseDistances, Slot};
use ir::graph::Formula;

/// What the sizes of a call determine.
#[derive(Debug)]
pub(crate) struct Extents {
    known: Sizes,
    /// The values of the plan's formulas.
    pub formulas: PrimaryMap<Formula, i64>,
    pub sizes: Arc<PrimaryMap<Slot, Dims>>,
    /// Bytes of each slot without gaps; `None` if the number overflows.
    pub bytes: Arc<PrimaryMap<Slot, Option<usize>>>,
    /// The reuse distances of what kernels write.
    pub reuse: Arc<ReuseDistances>,
    /// The symbols that all of this depends on, except for formulas that are just a symbol.
    from: Arc<[Sym]>,
}

impl Extents {
    fn new(plan: &ExecutionPlan, known: &Sizes) -> Result<Extents, SizeError> {
        let formulas = plan.formulas.evaluate(known)?;
        let size = |&formula: &Formula| {
            usize::try_from(formulas[formula]).map_err(|_| SizeError::Negative {
                formula: plan.formulas.expr(formula).to_string(),
                value: formulas[formula],
            })
        };
        let mut sizes = PrimaryMap::with_capacity(plan.slots.len());
        let mut bytes = PrimaryMap::with_capacity(plan.slots.len());
        for data in plan.slots.values() {
            let shape = data.shape.iter().map(size).collect::<Result<Dims, SizeError>>()?;
            bytes.push(bytes_of(data.dtype, &shape));
            sizes.push(shape);
        }
        let reuse = ReuseDistances::new(plan, |slot| bytes[slot].map_or(u64::MAX, |bytes| bytes as u64));
        let (sizes, bytes, reuse) = (Arc::new(sizes), Arc::new(bytes), Arc::new(reuse));
        Ok(Extents { known: known.clone(), formulas, sizes, bytes, reuse, from: deciding(plan).into() })
    }

    /// The same for other values of symbols that no size depends on; `None` if a changed symbol is none of those.
    fn with(&self, plan: &ExecutionPlan, known: &Sizes) -> Option<Extents> {
        if self.from.iter().any(|&sym| self.known.get(sym) != known.get(sym)) {
            return None;
        }
        let mut formulas = self.formulas.clone();
        for (formula, value) in formulas.iter_mut() {
            if let Some(sym) = plan.formulas.expr(formula).as_sym() {
                *value = known.get(sym)?;
            }
        }
        let Extents { sizes, bytes, reuse, from, .. } = self;
        let (sizes, bytes, reuse, from) = (sizes.clone(), bytes.clone(), reuse.clone(), from.clone());
        Some(Extents { known: known.clone(), formulas, sizes, bytes, reuse, from })
    }
}

/// The symbols in sizes of slots and in formulas that are more than a symbol.
fn deciding(plan: &ExecutionPlan) -> Vec<Sym> {
    let shapes = plan.slots.values().flat_map(|slot| slot.shape.iter().copied());
    let composed = plan.formulas.all().filter(|&formula| plan.formulas.expr(formula).as_sym().is_none());
    let mut symbols: Vec<Sym> =
        shapes.chain(composed).flat_map(|formula| plan.formulas.expr(formula).symbols()).collect();
    symbols.sort_unstable();
    symbols.dedup();
    symbols
}

/// The extents for these sizes: those of the last call, or new ones.
///
/// # Errors
/// A formula without a value, a size below zero.
pub(crate) fn extents(
    last_call: &LastCall<Extents>,
    plan: &ExecutionPlan,
    known: &Sizes,
) -> Result<Arc<Extents>, SizeError> {
    let kept = last_call.get();
    if let Some(kept) = kept.as_ref().filter(|kept| kept.known == *known) {
        return Ok(Arc::clone(kept));
    }
    let extents = match kept.and_then(|kept| kept.with(plan, known)) {
        Some(extents) => Arc::new(extents),
        None => Arc::new(Extents::new(plan, known)?),
    };
    last_call.keep(&extents);
    Ok(extents)
}
