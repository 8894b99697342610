//! Indices out of range, which kernels report in the host's memory: the host learns of them in a later call.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use cuda::{GraphWords, Reports};
use smallvec::SmallVec;

use crate::Error;
use crate::device::{CheckedIndex, first_fault};
use crate::error::IndexFault;

/// What an index out of range is in words of its definition.
pub(crate) type Located = Arc<dyn Fn(IndexFault) -> Error + Send + Sync>;

/// Who tells of an index out of range, and in which words.
pub(crate) enum Telling<'c> {
    /// The call itself, which waits.
    Itself,
    /// A later one.
    Later(Located),
    /// The same, after each launch of the graph that captures the call, which is to have its words if it is ours.
    Captured(Located, Option<&'c GraphFaults>),
}

/// The fault words of a graph.
pub(crate) type GraphFaults = RefCell<Vec<GraphWords<Watched>>>;

/// What the fault words of a call are about.
#[derive(Clone)]
pub(crate) struct Watched {
    /// The values whose indices are checked, each with a word.
    pub checked: SmallVec<[CheckedIndex; 2]>,
    /// What a later call says; `None` where the call itself waits and looks.
    pub located: Option<Located>,
}

impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.checked.fmt(f)
    }
}

impl Telling<'_> {
    /// What a later call says.
    pub fn located(&self) -> Option<&Located> {
        match self {
            Telling::Itself => None,
            Telling::Later(located) | Telling::Captured(located, _) => Some(located),
        }
    }
}

/// The first index out of range of an earlier call that the host knows of by now; those are told of once.
pub(super) fn earlier(faults: &Reports<Watched>) -> Option<Error> {
    faults.written().into_iter().find_map(|(Watched { checked, located }, words)| {
        Some(located?(first_fault(words.into_iter(), &checked)?))
    })
}
