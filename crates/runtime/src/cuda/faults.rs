//! Indices out of range that the host learns of when the work is done, in a later call.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use cuda::{Event, PinnedWords, Stream};

use super::CudaDevice;
use crate::Error;
use crate::device::{CheckedIndex, first_fault};
use crate::error::IndexFault;

/// The words of a piece of page-locked memory, which are more than most calls have.
const WORDS: usize = 64;

/// What an index out of range is in words of its definition.
pub(crate) type Located = Arc<dyn Fn(IndexFault) -> Error + Send + Sync>;

/// What calls of a device are still to be told of.
#[derive(Default)]
pub(crate) struct PendingFaults {
    pending: Mutex<Vec<Pending>>,
    /// Memory that no stream copies to any more.
    free: Mutex<Vec<PinnedWords>>,
}

struct Pending {
    /// When the words are there.
    event: Event,
    words: PinnedWords,
    checked: Vec<CheckedIndex>,
    located: Located,
}

impl fmt::Debug for PendingFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PendingFaults")
    }
}

impl PendingFaults {
    /// Has a stream tell the host what the words at an address say when it comes to that.
    ///
    /// # Errors
    /// What the driver says.
    pub fn tell(
        &self,
        device: &CudaDevice,
        stream: &Stream,
        from: u64,
        checked: &[CheckedIndex],
        located: &Located,
    ) -> Result<(), Error> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = free.iter().position(|words| words.len() >= checked.len());
        let words = fits.map(|place| free.swap_remove(place));
        drop(free);
        let mut words = match words {
            Some(words) => words,
            None => PinnedWords::new(device.gpu(), checked.len().max(WORDS))?,
        };
        // SAFETY: the fault words are a slot of the call, whose memory the stream frees after this, and there is one for each value
        // that is checked. The words are neither read nor dropped before the event: see `take`.
        unsafe { words.download(stream, from, checked.len()) }?;
        let event = Event::record(stream)?;
        let pending = Pending { event, words, checked: checked.to_vec(), located: Arc::clone(located) };
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).push(pending);
        Ok(())
    }

    /// The first index out of range that the host knows of by now; it is told once.
    ///
    /// # Errors
    /// What the driver says, also of work that was given before.
    pub fn take(&self) -> Result<Option<Error>, Error> {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut at, mut first) = (0, None);
        while at < pending.len() {
            if !pending[at].event.is_done()? {
                at += 1;
                continue;
            }
            let Pending { words, checked, located, .. } = pending.remove(at);
            // SAFETY: the copy is done, being before the event.
            let fault = first_fault(unsafe { words.words() }.iter().copied(), &checked);
            first = first.or_else(|| fault.map(|fault| located(fault)));
            self.free.lock().unwrap_or_else(PoisonError::into_inner).push(words);
        }
        Ok(first)
    }
}

impl Drop for PendingFaults {
    fn drop(&mut self) {
        let pending = std::mem::take(self.pending.get_mut().unwrap_or_else(PoisonError::into_inner));
        for Pending { words, event, .. } in pending {
            if !event.is_done().unwrap_or(true) {
                std::mem::forget(words); // the device may still write there
            }
        }
    }
}
