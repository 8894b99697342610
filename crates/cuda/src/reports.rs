//! What the kernels of calls report to the host, which does not wait for them: each call has its own words of mapped memory,
//! and the host reads them whenever it likes.
//!
//! Words are given out stream by stream, one call after the other, from blocks. Work given to a stream before an event is
//! done when the event is, so one event for each full block says when its words may be given out again. Kernels write with
//! atomics of the device: those of one device see each other in mapped memory too. The host resets words that it has
//! reported, so if two launches of one graph overlap, one index may be reported twice.

use std::mem;
use std::ops::Range;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::Error;
use crate::event::Event;
use crate::gpu::Gpu;
use crate::mapped::MappedWords;
use crate::stream::Stream;

/// The words of a block, which are more than most calls have.
const WORDS: usize = 64;

/// The words of all calls on a device, each with a note of what it is.
#[derive(Debug)]
pub struct Reports<T> {
    device: Arc<Gpu>,
    /// The contents of a word that no kernel has written.
    unwritten: i64,
    blocks: Mutex<Blocks<T>>,
}

#[derive(Debug)]
struct Blocks<T> {
    /// Calls so far.
    calls: u64,
    /// Those from which words are given out, of a stream at most one, and those that are full.
    used: Vec<Block<T>>,
    /// Memory to which no stream writes any more.
    free: Vec<MappedWords>,
}

#[derive(Debug)]
struct Block<T> {
    memory: MappedWords,
    /// The stream, by its number; `None` if the work is a graph's, which may run any number of times.
    stream: Option<usize>,
    /// How many words were given out.
    given: usize,
    /// Whether no more will be.
    is_full: bool,
    /// Calls that may still enqueue work on the stream.
    unsent: usize,
    /// The point when all is written, once the block is full and no call is unsent.
    end: Option<Event>,
    /// The calls that were not reported yet.
    calls: Vec<Noted<T>>,
}

#[derive(Clone, Debug)]
struct Noted<T> {
    /// Its number among all calls.
    call: u64,
    words: Range<usize>,
    note: T,
}

/// Words of a call that may still enqueue work on its stream.
#[derive(Debug)]
pub struct Words<'r, T> {
    reports: &'r Reports<T>,
    stream: Arc<Stream>,
    address: u64,
}

/// Words for work that is captured in a graph: each launch may write there, and is reported.
#[derive(Debug)]
pub struct GraphWords<T: Clone> {
    reports: Arc<Reports<T>>,
    address: u64,
    /// The point when the launches so far have written everything.
    end: Option<Event>,
    /// Whether the words outlive this handle.
    is_kept: bool,
}

/// The note of a call, and the contents of its words.
pub type WrittenWords<T> = (T, Vec<i64>);

impl<T: Clone> Reports<T> {
    /// Without calls yet.
    pub fn new(device: &Arc<Gpu>, unwritten: i64) -> Reports<T> {
        let blocks = Blocks { calls: 0, used: Vec::new(), free: Vec::new() };
        Reports { device: Arc::clone(device), unwritten, blocks: Mutex::new(blocks) }
    }

    /// `count` unwritten words for the work of a call, which is enqueued on the stream while these live.
    ///
    /// # Errors
    /// What the driver says.
    pub fn words(&self, stream: &Arc<Stream>, count: usize, note: T) -> Result<Words<'_, T>, Error> {
        let mut blocks = self.lock();
        let place = match blocks.open(stream.number()) {
            Some(place) if blocks.used[place].has_room(count) => place,
            full => {
                if let Some(full) = full {
                    blocks.used[full].fill(stream);
                }
                self.new_block(&mut blocks, Some(stream.number()), count)?
            }
        };
        let address = blocks.note(place, count, note);
        Ok(Words { reports: self, stream: Arc::clone(stream), address })
    }

    /// `count` unwritten words for work that is captured.
    ///
    /// # Errors
    /// What the driver says.
    pub fn graph_words(self: &Arc<Self>, count: usize, note: T) -> Result<GraphWords<T>, Error> {
        let mut blocks = self.lock();
        let place = self.new_block(&mut blocks, None, count)?;
        let address = blocks.note(place, count, note);
        Ok(GraphWords { reports: Arc::clone(self), address, end: None, is_kept: false })
    }

    /// A block for a stream that has no open one, or for a graph.
    fn new_block(&self, blocks: &mut Blocks<T>, stream: Option<usize>, count: usize) -> Result<usize, Error> {
        blocks.reclaim(self.unwritten);
        let fits = blocks.free.iter().position(|memory| memory.words().len() >= count);
        let memory = match fits {
            Some(place) => blocks.free.swap_remove(place),
            None => MappedWords::new(&self.device, count.max(WORDS), self.unwritten)?,
        };
        blocks.used.push(Block::new(memory, stream));
        Ok(blocks.used.len() - 1)
    }

    /// What kernels have written by now, in the order of the calls; each is reported once.
    pub fn written(&self) -> Vec<WrittenWords<T>> {
        let mut blocks = self.lock();
        let of_block = |block: &mut Block<T>| {
            let noted = block.take_written(self.unwritten);
            noted.into_iter().map(|noted| (noted.call, block.told(noted, self.unwritten))).collect::<Vec<_>>()
        };
        let mut told: Vec<(u64, WrittenWords<T>)> = blocks.used.iter_mut().flat_map(of_block).collect();
        told.sort_unstable_by_key(|(call, _)| *call);
        told.into_iter().map(|(_, told)| told).collect()
    }
}

impl<T> Reports<T> {
    fn lock(&self) -> MutexGuard<'_, Blocks<T>> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Drop for Reports<T> {
    fn drop(&mut self) {
        let blocks = self.blocks.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !blocks.used.is_empty() && self.device.synchronize().is_err() {
            mem::forget(mem::take(&mut blocks.used)); // the device may still write there
        }
    }
}

impl<T> Blocks<T> {
    /// The block from which a stream gets words.
    fn open(&self, stream: usize) -> Option<usize> {
        self.used.iter().position(|block| block.stream == Some(stream) && !block.is_full)
    }

    /// Assigns words of a block to the next call.
    fn note(&mut self, place: usize, count: usize, note: T) -> u64 {
        self.calls += 1;
        let call = self.calls;
        self.used[place].note(count, |words| Noted { call, words, note })
    }

    /// The block that has a word, and the word's number there.
    fn holding(&mut self, address: u64) -> Option<(&mut Block<T>, usize)> {
        self.used.iter_mut().find_map(|block| block.word_at(address).map(|word| (block, word)))
    }

    /// Reclaims the memory of blocks that are done.
    fn reclaim(&mut self, unwritten: i64) {
        for block in self.used.extract_if(.., |block| block.is_done(unwritten)) {
            block.memory.words().iter().for_each(|word| word.store(unwritten, Ordering::Relaxed));
            self.free.push(block.memory);
        }
    }
}

impl<T> Block<T> {
    fn new(memory: MappedWords, stream: Option<usize>) -> Block<T> {
        Block { memory, stream, given: 0, is_full: stream.is_none(), unsent: 0, end: None, calls: Vec::new() }
    }

    fn has_room(&self, count: usize) -> bool {
        count <= self.memory.words().len() - self.given
    }

    /// Assigns words.
    fn note(&mut self, count: usize, noted: impl FnOnce(Range<usize>) -> Noted<T>) -> u64 {
        let words = self.given..self.given + count;
        let address = self.memory.address(words.start);
        self.given = words.end;
        self.unsent += 1;
        self.calls.push(noted(words));
        address
    }

    /// Ends the assignment of words.
    fn fill(&mut self, stream: &Stream) {
        self.is_full = true;
        self.end_if_sent(stream);
    }

    /// Sets the end, once all work is enqueued. Without one, if the driver fails, the memory is not reused.
    fn end_if_sent(&mut self, stream: &Stream) {
        if self.is_full && self.unsent == 0 {
            self.end = Event::record(stream).ok();
        }
    }

    /// The calls that have written something, which this reports. A graph may write again.
    fn take_written(&mut self, unwritten: i64) -> Vec<Noted<T>>
    where
        T: Clone,
    {
        let words = self.memory.words();
        if !is_written(&words[..self.given], unwritten) {
            return Vec::new();
        }
        let has_written = |noted: &Noted<T>| is_written(&words[noted.words.clone()], unwritten);
        match self.stream {
            Some(_) => self.calls.extract_if(.., |noted| has_written(noted)).collect(),
            None => self.calls.iter().filter(|noted| has_written(noted)).cloned().collect(),
        }
    }

    /// What a call has written, with its note; its words are then reset.
    fn told(&self, noted: Noted<T>, unwritten: i64) -> WrittenWords<T> {
        let words = self.memory.words()[noted.words].iter();
        (noted.note, words.map(|word| word.swap(unwritten, Ordering::AcqRel)).collect())
    }

    /// Whether nothing more will be written, and everything is reported.
    fn is_done(&self, unwritten: i64) -> bool {
        let words = self.memory.words();
        self.end.as_ref().is_some_and(|end| end.is_done().unwrap_or(false))
            && !self.calls.iter().any(|noted| is_written(&words[noted.words.clone()], unwritten))
    }

    /// The number of the word at an address, if it is one of these.
    fn word_at(&self, address: u64) -> Option<usize> {
        let word = address.checked_sub(self.memory.address(0))? / size_of::<i64>() as u64;
        usize::try_from(word).ok().filter(|&word| word < self.memory.words().len())
    }
}

/// Whether a kernel has written one of these words.
fn is_written(words: &[AtomicI64], unwritten: i64) -> bool {
    words.iter().any(|word| word.load(Ordering::Relaxed) != unwritten)
}

impl<T> Words<'_, T> {
    /// Their address on the device.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// What kernels have written by now; nobody else gets this report.
    pub fn take(&self) -> Option<WrittenWords<T>> {
        let (mut blocks, unwritten) = (self.reports.lock(), self.reports.unwritten);
        let (block, word) = blocks.holding(self.address)?;
        let place = block.calls.iter().position(|noted| noted.words.start == word)?;
        let words = block.calls[place].words.clone();
        let noted = is_written(&block.memory.words()[words], unwritten).then(|| block.calls.remove(place))?;
        Some(block.told(noted, unwritten))
    }
}

impl<T> Drop for Words<'_, T> {
    fn drop(&mut self) {
        if let Some((block, _)) = self.reports.lock().holding(self.address) {
            block.unsent -= 1;
            block.end_if_sent(&self.stream);
        }
    }
}

impl<T: Clone> GraphWords<T> {
    /// Their address on the device.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Notes a launch of the graph, the last work enqueued on the stream.
    ///
    /// # Errors
    /// What the driver says.
    pub fn launched(&mut self, stream: &Stream) -> Result<(), Error> {
        let recorded = match &self.end {
            Some(end) => end.again(stream),
            None => Event::record(stream).map(|end| self.end = Some(end)),
        };
        self.is_kept |= recorded.is_err();
        recorded
    }

    /// Keeps them as long as the device: for a graph whose destruction is not reported.
    pub fn keep(mut self) {
        self.is_kept = true;
    }
}

impl<T: Clone> Drop for GraphWords<T> {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        let mut blocks = self.reports.lock();
        let Some(place) = blocks.used.iter().position(|block| block.word_at(self.address).is_some()) else {
            return;
        };
        match self.end.take() {
            Some(end) => blocks.used[place].end = Some(end),
            None => {
                let unused = blocks.used.swap_remove(place);
                blocks.free.push(unused.memory);
            }
        }
    }
}
