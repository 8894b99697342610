//! Loops that copy whole vectors to scratch asynchronously.

use kernel::{Loop, Stmt, from_zero};

use super::EmitError;
use super::accesses::VectorAccesses;
use super::body::KernelWriter;
use super::snippet::Snippet;
use super::vectorized::Guard;

impl KernelWriter<'_> {
    /// A loop that fetches vectors and does nothing else, over `trips` strips of each lane.
    pub(super) fn fetched(
        &mut self,
        for_loop: &Loop,
        accesses: &VectorAccesses,
        trips: i64,
    ) -> Result<(), EmitError> {
        self.prelude.add(Snippet::Fetch);
        let for_loop = &from_zero(for_loop);
        self.in_flight.note_lanes(self.kernel, for_loop, &for_loop.body, trips);
        self.with_bounds(for_loop, trips, |writer| {
            writer.each_strip(for_loop, trips, Guard::ByStrip, &mut |writer| {
                for &place in &accesses.fetches {
                    let Stmt::Fetch { scratch, index, buffer, from } = &for_loop.body[place] else {
                        continue;
                    };
                    let to = writer.address((*scratch).into(), index, for_loop, "first")?;
                    let from = writer.address((*buffer).into(), from, for_loop, "first")?;
                    writer.line(&(writer.dialect.asynchronous.fetch)(for_loop.width, &to, &from));
                }
                Ok(())
            })
        })
    }
}
