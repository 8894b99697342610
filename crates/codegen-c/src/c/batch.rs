//! Launches of several members: the kernel is a function of one member's block, and the function that is launched finds the
//! member of its block in a table of parameters.

use kernel::Kernel;

use super::dialect::{BatchForm, BatchText, Dialect};
use super::names::Names;
use super::signature::{element_type, launch_head};

/// How many of `members` members one launch runs: as many as have room for their parameters. One if the dialect has no
/// batches.
pub fn members_of_launch(kernel: &Kernel, members: usize, dialect: &Dialect) -> usize {
    let Some(batch) = &dialect.function.batch else { return 1 };
    let words_of_member = 1 + kernel.buffers.len() + kernel.arguments.len();
    members.min(batch.most_bytes / (8 * words_of_member)).max(1)
}

/// The function that is launched.
pub(super) fn launched_function(
    kernel: &Kernel,
    names: &Names,
    members: usize,
    dialect: &Dialect,
    batch: &BatchForm,
) -> String {
    let buffers = kernel.buffers.values().map(|decl| format!("{}*", element_type(decl, dialect)));
    let arguments = kernel.arguments.iter().map(|_| dialect.index_type().to_owned());
    (batch.launched)(&BatchText {
        head: launch_head(kernel, dialect),
        name: &names.kernel,
        members,
        types: buffers.chain(arguments).collect(),
    })
}
