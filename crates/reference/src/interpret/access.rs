//! Loads and stores of a run: checks bounds and the history of each element, and reports faults.

use index::Expr;
use kernel::{Buffer, Place, Scratch, Stmt, Value, print};
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
            Place::Buffer(buffer) => {
                let zero = || Scalar::zero(self.kernel.buffers[buffer].dtype);
                Ok(self.global.read(buffer, position).unwrap_or_else(zero))
            }
            Place::Scratch(scratch) => {
                self.landed(scratch, index, agent, statement)?;
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
                let found = self.global.note_store(buffer, position, (self.block, agent));
                found.map_err(|earlier| self.blame_stores(earlier, place, index, agent, statement))?;
                self.global.write(buffer, position, element);
            }
            Place::Scratch(scratch) => {
                self.landed(scratch, index, agent, statement)?;
                let epoch = self.epoch_of(scratch);
                let found = self.scratch[scratch].shadow.store(position, epoch, agent);
                found.map_err(|finding| self.blame(finding, place, index, agent, statement))?;
                self.scratch[scratch].memory.write(position, element);
            }
        }
        Ok(())
    }

    /// Fails if an element is in flight.
    fn landed(&self, scratch: Scratch, index: i64, agent: Agent, statement: &Stmt) -> Result<(), Fault> {
        if !self.fetches.has(scratch, index) {
            return Ok(());
        }
        let (statement, at) = (print::statement(self.kernel, statement), Location::new(self.block, agent));
        Err(Fault::InFlight { statement, at, place: scratch.into(), index })
    }

    /// Reports an access to the observer, if any, unless its guard is false. Private arrays do not count as memory.
    pub(super) fn observe(
        &mut self,
        statement: &Stmt,
        agent: Agent,
        place: Place,
        index: &Expr,
        guard: Option<Value>,
    ) -> Result<(), Fault> {
        let Some(mut observer) = self.observer.take() else { return Ok(()) };
        let dtype = match place {
            Place::Buffer(buffer) => Some(self.kernel.buffers[buffer].dtype),
            Place::Scratch(scratch) if self.kernel.scratch[scratch].private => None,
            Place::Scratch(scratch) => Some(self.kernel.scratch[scratch].dtype),
        };
        if let Some(dtype) = dtype {
            let index = if self.allows(guard) { Some(self.index(index, statement)?) } else { None };
            observer.access(statement, agent, (place, dtype.size() as u64), index);
        }
        self.observer = Some(observer);
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
        if self.global.read(buffer, position).is_some_and(|word| value.as_i64() < word.as_i64()) {
            self.global.write(buffer, position, value);
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
        let len = match place {
            Place::Buffer(buffer) => self.global.len(buffer),
            Place::Scratch(scratch) => self.scratch[scratch].memory.len(),
        };
        let position = usize::try_from(index).ok().filter(|&index| index < len);
        let position = position.ok_or_else(|| Fault::OutOfBounds {
            statement: print::statement(self.kernel, statement),
            at: Location::new(self.block, agent),
            place,
            index,
            len,
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
