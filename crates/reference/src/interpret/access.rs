//! Loads and stores of a run: bounds, the history of each element, and the fault when either says no.

use cranelift_entity::EntityRef;
use index::Expr;
use ir::kernel::{Buffer, Place, Stmt, print};
use ops::Scalar;

use super::race::{Agent, Finding};
use super::{Fault, Location, Run};

impl Run<'_, '_> {
    /// The element of a place.
    pub(super) fn load(
        &mut self,
        place: Place,
        index: &Expr,
        agent: Agent,
        statement: &Stmt,
    ) -> Result<Scalar, Fault> {
        let (index, position) = self.position(place, index, agent, statement)?;
        match place {
            Place::Buffer(buffer) => Ok(self.buffers[buffer.index()].read(position)),
            Place::Scratch(scratch) => {
                let epoch = self.epoch_of(scratch);
                let array = &mut self.scratch[scratch];
                let element = array.memory.read(position);
                let found = array.shadow.load(position, epoch, agent);
                found.map_err(|finding| self.blame(finding, place, index, agent, statement))?;
                Ok(element)
            }
        }
    }

    /// Replaces the element of a place.
    pub(super) fn store(
        &mut self,
        place: Place,
        index: &Expr,
        element: Scalar,
        agent: Agent,
        statement: &Stmt,
    ) -> Result<(), Fault> {
        let (index, position) = self.position(place, index, agent, statement)?;
        match place {
            Place::Buffer(buffer) => {
                let found = self.stores[buffer].store(position, self.block, agent);
                found.map_err(|earlier| self.blame_stores(earlier, place, index, agent, statement))?;
                self.buffers[buffer.index()].write(position, element);
            }
            Place::Scratch(scratch) => {
                let epoch = self.epoch_of(scratch);
                let found = self.scratch[scratch].shadow.store(position, epoch, agent);
                found.map_err(|finding| self.blame(finding, place, index, agent, statement))?;
                self.scratch[scratch].memory.write(position, element);
            }
        }
        Ok(())
    }

    /// Lowers a fault word.
    pub(super) fn report(
        &mut self,
        buffer: Buffer,
        word: u32,
        value: Scalar,
        agent: Agent,
        statement: &Stmt,
    ) -> Result<(), Fault> {
        let index = Expr::constant(i64::from(word));
        let (_, position) = self.position(buffer.into(), &index, agent, statement)?;
        let words = &mut self.buffers[buffer.index()];
        if value.as_i64() < words.read(position).as_i64() {
            words.write(position, value);
        }
        Ok(())
    }

    /// The index and where it is in the place's memory.
    fn position(
        &self,
        place: Place,
        index: &Expr,
        agent: Agent,
        statement: &Stmt,
    ) -> Result<(i64, usize), Fault> {
        let index = self.index(index, statement)?;
        let memory = match place {
            Place::Buffer(buffer) => &self.buffers[buffer.index()],
            Place::Scratch(scratch) => &self.scratch[scratch].memory,
        };
        let position = memory.position(index).ok_or_else(|| Fault::OutOfBounds {
            statement: print::statement(self.kernel, statement),
            at: Location::new(self.block, agent),
            place,
            index,
            len: memory.len(),
        })?;
        Ok((index, position))
    }

    fn blame(&self, finding: Finding, place: Place, index: i64, agent: Agent, statement: &Stmt) -> Fault {
        let statement = print::statement(self.kernel, statement);
        let at = Location::new(self.block, agent);
        match finding {
            Finding::Uninitialised => Fault::Uninitialised { statement, at, place, index },
            Finding::Race(other) => {
                Fault::Race { statement, at, other: Location::new(self.block, other), place, index }
            }
        }
    }

    fn blame_stores(
        &self,
        (block, other): (i64, Agent),
        place: Place,
        index: i64,
        agent: Agent,
        statement: &Stmt,
    ) -> Fault {
        let statement = print::statement(self.kernel, statement);
        let (at, other) = (Location::new(self.block, agent), Location::new(block, other));
        if at == other {
            Fault::StoredTwice { statement, at, place, index }
        } else {
            Fault::Race { statement, at, other, place, index }
        }
    }
}
