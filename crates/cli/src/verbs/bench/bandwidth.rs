//! The bandwidth of this machine's memory: a copy and a read by the same threads, of the same footprint, in the same minute
//! as the kernel that they are compared with.

use std::hint::black_box;
use std::ops::Range;
use std::thread;
use std::time::{Duration, Instant};

use super::moves::{COPIES, Copier, READS, Reader};

/// The minimum of bytes of a measurement, so that starting threads costs little compared with it; in debug builds, whose
/// loops are slow, only tests measure.
const MIN_BYTES: usize = if cfg!(debug_assertions) { 1 << 20 } else { 64 << 20 };

/// Memory to copy from and to: as many windows as sets of inputs, so that none is still in the caches.
pub struct Bandwidth {
    from: Vec<u8>,
    to: Vec<u8>,
    window: usize,
    threads: usize,
    /// How often a measurement repeats a window: more than once if there is only one, which is in the caches.
    rounds: u32,
}

impl Bandwidth {
    /// Windows of this footprint, half of it read and half of it written, touched once.
    pub fn new(footprint: usize, windows: usize, threads: usize) -> Bandwidth {
        let window = (footprint / 2).max(if windows == 1 { 1 << 12 } else { 1 << 20 });
        let rounds = if windows == 1 { MIN_BYTES.div_ceil(2 * window) as u32 } else { 1 };
        Bandwidth { from: vec![1; window * windows], to: vec![2; window * windows], window, threads, rounds }
    }

    /// Bytes that a copy moves: each read and each written.
    pub fn copied_bytes(&self) -> usize {
        2 * self.window
    }

    /// Bytes that a read moves.
    pub fn read_bytes(&self) -> usize {
        2 * self.window
    }

    /// The time of a copy: the minimum over all ways, each on a separate window.
    pub fn copy(&mut self, round: usize) -> Duration {
        let way = |(place, &copy)| self.timed_copy(round * COPIES.len() + place, copy);
        COPIES.iter().enumerate().map(way).min().expect("some way")
    }

    /// The time of a read, likewise.
    pub fn read(&self, round: usize) -> Duration {
        let way = |(place, &read)| self.timed_read(round * READS.len() + place, read);
        READS.iter().enumerate().map(way).min().expect("some way")
    }

    /// The range of a window; rounds wrap around.
    fn range(&self, round: usize) -> Range<usize> {
        let begin = round * self.window % self.from.len();
        begin..begin + self.window
    }

    fn timed_copy(&mut self, round: usize, copy: Copier) -> Duration {
        let share = self.window.div_ceil(self.threads);
        let range = self.range(round);
        let rounds = self.rounds;
        let start = Instant::now();
        thread::scope(|scope| {
            for (to, from) in self.to[range.clone()].chunks_mut(share).zip(self.from[range].chunks(share)) {
                scope.spawn(move || (0..rounds).for_each(|_| copy(to, black_box(from))));
            }
        });
        let time = start.elapsed() / rounds;
        black_box(&self.to);
        time
    }

    fn timed_read(&self, round: usize, read: Reader) -> Duration {
        let share = self.window.div_ceil(self.threads);
        let range = self.range(round);
        let rounds = self.rounds;
        let start = Instant::now();
        thread::scope(|scope| {
            for (from, to) in self.from[range.clone()].chunks(share).zip(self.to[range].chunks(share)) {
                let once = move || read(black_box(from)).wrapping_add(read(black_box(to)));
                scope.spawn(move || black_box((0..rounds).fold(0, |sum: u64, _| sum.wrapping_add(once()))));
            }
        });
        start.elapsed() / rounds
    }
}
