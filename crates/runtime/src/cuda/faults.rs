//! Indices out of range, which kernels report in the host's memory: the host reads them in a later call.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use cuda::{GraphWords, Reports};
use smallvec::SmallVec;

use crate::Error;
use crate::device::{CheckedIndex, first_fault};
use crate::error::IndexFault;

/// An index out of range in words of its definition.
pub(crate) type Located = Arc<dyn Fn(IndexFault) -> Error + Send + Sync>;

/// Which call reports an index out of range, and in which words.
pub(crate) enum Telling<'c> {
    /// The call itself, which waits.
    Itself,
    /// A later one.
    Later(Located),
    /// The same, after each launch of the graph that captures the call; our graphs own its words.
    Captured(Located, Option<&'c GraphFaults>),
}

/// The fault words of a graph.
pub(crate) type GraphFaults = RefCell<Vec<GraphWords<Watched>>>;

/// The subject of the fault words of a call.
#[derive(Clone)]
pub(crate) struct Watched {
    /// The values whose indices are checked, each with a word.
    pub checked: SmallVec<[CheckedIndex; 2]>,
    /// The error of a later call; `None` if the call itself waits and checks.
    pub located: Option<Located>,
}

impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.checked.fmt(f)
    }
}

impl Telling<'_> {
    /// The error of a later call.
    pub fn located(&self) -> Option<&Located> {
        match self {
            Telling::Itself => None,
            Telling::Later(located) | Telling::Captured(located, _) => Some(located),
        }
    }
}

/// The first index out of range of an earlier call that the host knows by now; each is reported once.
pub(super) fn earlier(faults: &Reports<Watched>) -> Option<Error> {
    faults.written().into_iter().find_map(|(Watched { checked, located }, words)| {
        Some(located?(first_fault(words.into_iter(), &checked)?))
    })
}
