//! Who touched an element last: finds races and reads of uninitialised elements. Takes each access as it is interpreted, in
//! any order of lanes and blocks, and reports what another order could have changed; moves no data.
//!
//! Accesses of one block between two barriers are unordered unless the same lane makes both. Code outside loops over lanes
//! is run by every lane when it loads, and by one lane that nobody knows when it stores. So two accesses, one of them a
//! store, race unless the same known lane makes both; the lane that stores in uniform code is always the same. `reduce` is
//! not counted as a barrier for memory.

/// Who makes an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Agent {
    /// A lane, inside a loop over lanes.
    Lane(u32),
    /// Uniform code: loads are by all lanes, stores by one of them.
    Uniform,
}

/// What is wrong with a new access, given the scratch memory's accesses so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// Nothing was ever stored there.
    Uninitialised,
    /// Another lane touched it since the last barrier.
    Race(Agent),
}

/// The accesses to one element of a scratch array. The *epoch* counts barriers.
#[derive(Clone, Copy, Debug, Default)]
struct Element {
    stored: Option<(u64, Agent)>,
    loaded: Option<(u64, Agent)>,
    /// Whether two lanes have loaded it in the epoch of `loaded`.
    loaded_by_many: bool,
}

/// The accesses to a scratch array.
#[derive(Clone, Debug)]
pub(super) struct Shadow {
    elements: Vec<Element>,
    one_lane: bool,
}

impl Shadow {
    /// The history of `len` untouched elements, in a block of `lanes` lanes.
    pub(super) fn new(len: usize, lanes: u32) -> Self {
        Self { elements: vec![Element::default(); len], one_lane: lanes == 1 }
    }

    /// Notes a load.
    pub(super) fn load(&mut self, index: usize, epoch: u64, agent: Agent) -> Result<(), Finding> {
        let element = &mut self.elements[index];
        let Some((when, writer)) = element.stored else { return Err(Finding::Uninitialised) };
        let ordered = self.one_lane || when < epoch || (agent == writer && agent != Agent::Uniform);
        if !ordered {
            return Err(Finding::Race(writer));
        }
        let earlier = element.loaded.filter(|&(when, _)| when == epoch);
        element.loaded_by_many = match earlier {
            Some((_, reader)) => element.loaded_by_many || reader != agent,
            None => agent == Agent::Uniform,
        };
        element.loaded = Some((epoch, agent));
        Ok(())
    }

    /// Notes a store.
    pub(super) fn store(&mut self, index: usize, epoch: u64, agent: Agent) -> Result<(), Finding> {
        let element = &mut self.elements[index];
        let other_writer = element.stored.filter(|&(when, writer)| when == epoch && writer != agent);
        let other_reader = element
            .loaded
            .filter(|&(when, reader)| when == epoch && (element.loaded_by_many || reader != agent));
        if let Some((_, other)) = other_writer.or(other_reader)
            && !self.one_lane
        {
            return Err(Finding::Race(other));
        }
        element.stored = Some((epoch, agent));
        Ok(())
    }
}

/// The stores to a buffer of the caller: at most one per element, whatever the block.
#[derive(Clone, Debug)]
pub(super) struct Stores(Vec<Option<(i64, Agent)>>);

impl Stores {
    /// The history of `len` elements, none stored yet.
    pub(super) fn new(len: usize) -> Self {
        Self(vec![None; len])
    }

    /// Notes a store; if the element was stored before, returns the block and agent that stored it.
    pub(super) fn store(&mut self, index: usize, block: i64, agent: Agent) -> Result<(), (i64, Agent)> {
        self.0[index].replace((block, agent)).map_or(Ok(()), Err)
    }
}
