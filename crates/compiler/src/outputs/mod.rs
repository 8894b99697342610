//! Layouts of outputs: which are views of inputs or of one another, which axes are outermost in memory, and the placement
//! of those that segments make.
//!
//! `view` (outputs that are views of existing memory) · `order` (of axes in memory) · `placement` (of each output).

mod order;
mod placement;
mod view;

pub(crate) use order::{ordered, with_orders};
pub use placement::Placement;
pub(crate) use placement::placements;
pub use view::{View, copied_from, sees_operand};
pub(crate) use view::{computed, views};
