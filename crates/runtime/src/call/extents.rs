//! What the sizes of a call determine: the values of formulas, and how large each slot is. Kept for the next call on the same
//! sizes, since evaluating them takes as long as a small kernel.

use std::sync::{Arc, Mutex, TryLockError};

use cranelift_entity::PrimaryMap;
use ir::array::Dims;
use ir::graph::{SizeError, Sizes};

use crate::formulas::Formula;
use crate::plan::{ExecutionPlan, Slot};
use crate::tensor::bytes_of;

/// What the sizes of a call determine.
#[derive(Debug)]
pub(crate) struct Extents {
    /// The sizes.
    known: Sizes,
    /// The values of the plan's formulas.
    pub formulas: PrimaryMap<Formula, i64>,
    /// Sizes of each slot.
    pub sizes: PrimaryMap<Slot, Dims>,
    /// Bytes of each slot without gaps; `None` where the number is beyond the machine.
    pub bytes: PrimaryMap<Slot, Option<usize>>,
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
        Ok(Extents { known: known.clone(), formulas, sizes, bytes })
    }
}

/// The extents of the latest call.
#[derive(Debug, Default)]
pub(crate) struct Latest(Mutex<Option<Arc<Extents>>>);

impl Latest {
    /// The extents for these sizes: the kept ones, or new ones. Nobody waits here: a call that finds another looking makes
    /// its own.
    ///
    /// # Errors
    /// A formula without a value, a size below zero.
    pub fn of(&self, plan: &ExecutionPlan, known: &Sizes) -> Result<Arc<Extents>, SizeError> {
        if let Some(kept) = self.change(|kept| kept.clone()).flatten().filter(|kept| kept.known == *known) {
            return Ok(kept);
        }
        let extents = Arc::new(Extents::new(plan, known)?);
        self.change(|kept| *kept = Some(Arc::clone(&extents)));
        Ok(extents)
    }

    fn change<R>(&self, change: impl FnOnce(&mut Option<Arc<Extents>>) -> R) -> Option<R> {
        match self.0.try_lock() {
            Ok(mut kept) => Some(change(&mut kept)),
            Err(TryLockError::Poisoned(kept)) => Some(change(&mut kept.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}
