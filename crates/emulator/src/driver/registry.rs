//! What the handles of one kind stand for. A handle is never reused, and faults when dereferenced.

use std::collections::BTreeMap;

use super::ffi::Handle;
use super::result::{DriverResult, Status};

/// Things by their handles.
#[derive(Debug)]
pub struct Registry<T> {
    /// The name of their kind, as in `a stream`.
    what: &'static str,
    /// The upper bits of their handles; with a bit above the 47 of an address, no pointer is one.
    kind: usize,
    next: usize,
    alive: BTreeMap<Handle, T>,
}

impl<T> Registry<T> {
    /// Holds nothing. `kind` differs from that of other registries.
    pub fn new(what: &'static str, kind: usize) -> Registry<T> {
        Registry { what, kind, next: 1, alive: BTreeMap::new() }
    }

    /// A new handle for a thing.
    pub fn insert(&mut self, thing: T) -> Handle {
        let handle = Handle(1 << 56 | self.kind << 48 | self.next << 4);
        self.next += 1;
        self.alive.insert(handle, thing);
        handle
    }

    /// What a handle stands for.
    pub fn get(&self, handle: Handle) -> DriverResult<&T> {
        self.alive.get(&handle).ok_or_else(|| self.unknown(handle))
    }

    /// What a handle stands for, to change it.
    pub fn get_mut(&mut self, handle: Handle) -> DriverResult<&mut T> {
        if !self.alive.contains_key(&handle) {
            return Err(self.unknown(handle));
        }
        Ok(self.alive.get_mut(&handle).expect("it was just found"))
    }

    /// Removes a thing; its handle becomes invalid.
    pub fn remove(&mut self, handle: Handle) -> DriverResult<T> {
        let failure = self.unknown(handle);
        self.alive.remove(&handle).ok_or(failure)
    }

    /// Keeps the things for which the predicate holds.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.alive.retain(|_, thing| keep(thing));
    }

    /// All handles with what they stand for.
    pub fn iter(&self) -> impl Iterator<Item = (Handle, &T)> {
        self.alive.iter().map(|(&handle, thing)| (handle, thing))
    }

    /// All that they stand for, to change it.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.alive.values_mut()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.alive.len()
    }

    fn unknown(&self, handle: Handle) -> super::result::Failure {
        let what = self.what;
        Status::ERROR_INVALID_HANDLE.because(format!("{:#x} is not {what}, or is one no more", handle.0))
    }
}
