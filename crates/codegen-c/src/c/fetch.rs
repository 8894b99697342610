//! Asynchronous copies: elements that go to scratch while a lane goes on, whole vectors of them where its neighbours are such.

use index::Expr;
use kernel::{Buffer, Loop, Scratch, Stmt, from_zero};

use super::EmitError;
use super::accesses::VectorAccesses;
use super::body::KernelWriter;
use super::snippet::Snippet;
use super::vectorized::Guard;

impl KernelWriter<'_> {
    /// One element.
    pub(super) fn fetch(
        &mut self,
        scratch: Scratch,
        index: &Expr,
        buffer: Buffer,
        from: &Expr,
    ) -> Result<(), EmitError> {
        self.prelude.add(Snippet::Fetch);
        let (to, from) = (self.element(scratch.into(), index)?, self.element(buffer.into(), from)?);
        self.line(&(self.dialect.asynchronous.fetch)(1, &format!("&{to}"), &format!("&{from}")));
        Ok(())
    }

    /// The end of a group, and the wait for others.
    pub(super) fn await_fetches(&mut self, pending: u32) {
        self.prelude.add(Snippet::AwaitFetches);
        self.line(&(self.dialect.asynchronous.wait)(pending));
    }

    /// A loop that fetches vectors and does nothing else, of so many strips of each lane.
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
                accesses.fetches.iter().try_for_each(|&place| writer.fetched_vector(for_loop, place))
            })
        })
    }

    fn fetched_vector(&mut self, for_loop: &Loop, place: usize) -> Result<(), EmitError> {
        let Stmt::Fetch { scratch, index, buffer, from } = &for_loop.body[place] else { return Ok(()) };
        let to = self.address((*scratch).into(), index, for_loop, "first")?;
        let from = self.address((*buffer).into(), from, for_loop, "first")?;
        self.line(&(self.dialect.asynchronous.fetch)(for_loop.width, &to, &from));
        Ok(())
    }
}
