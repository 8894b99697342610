//! What the memory of this machine can do: a copy and a read by the same threads, of the same footprint, in the same
//! minute as the kernel that they are compared with.

use std::hint::black_box;
use std::ops::Range;
use std::thread;
use std::time::{Duration, Instant};

/// Bytes up to which a copy goes through the caches; longer ones the C library streams past them.
const PIECE: usize = 64 << 10;

/// Bytes that a measurement moves at least, so that starting threads costs little beside it.
const LEAST: usize = 64 << 20;

/// Memory to copy from and to: as many windows as there are sets of inputs, so that none is in the caches still.
pub struct Bandwidth {
    from: Vec<u8>,
    to: Vec<u8>,
    window: usize,
    threads: usize,
    /// How often a measurement goes over a window: more than once where there is but one, which stays in the caches.
    rounds: u32,
}

impl Bandwidth {
    /// Windows of this footprint, half of it read and half of it written, touched once.
    pub fn new(footprint: usize, windows: usize, threads: usize) -> Bandwidth {
        let window = (footprint / 2).max(if windows == 1 { 1 << 12 } else { 1 << 20 });
        let rounds = if windows == 1 { LEAST.div_ceil(2 * window) as u32 } else { 1 };
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

    /// The time of a copy: the better of one that goes through the caches and one that the C library may stream.
    pub fn copy(&mut self, turn: usize) -> Duration {
        let whole = self.timed_copy(2 * turn, usize::MAX);
        whole.min(self.timed_copy(2 * turn + 1, PIECE))
    }

    /// The place of a window; turns go round.
    fn range(&self, turn: usize) -> Range<usize> {
        let begin = turn * self.window % self.from.len();
        begin..begin + self.window
    }

    fn timed_copy(&mut self, turn: usize, piece: usize) -> Duration {
        let share = self.window.div_ceil(self.threads);
        let range = self.range(turn);
        let rounds = self.rounds;
        let start = Instant::now();
        thread::scope(|scope| {
            for (to, from) in self.to[range.clone()].chunks_mut(share).zip(self.from[range].chunks(share)) {
                scope.spawn(move || {
                    let piece = piece.min(from.len());
                    for _ in 0..rounds {
                        let pieces = to.chunks_mut(piece).zip(from.chunks(piece));
                        pieces.for_each(|(to, from)| to.copy_from_slice(black_box(from)));
                    }
                });
            }
        });
        let time = start.elapsed() / rounds;
        black_box(&self.to);
        time
    }

    /// The time of a read of a window.
    pub fn read(&self, turn: usize) -> Duration {
        let range = self.range(turn);
        let start = Instant::now();
        let share = self.window.div_ceil(self.threads);
        thread::scope(|scope| {
            for (from, to) in self.from[range.clone()].chunks(share).zip(self.to[range].chunks(share)) {
                let rounds = self.rounds;
                scope.spawn(move || {
                    for _ in 0..rounds {
                        black_box(sum(black_box(from)).wrapping_add(sum(to)));
                    }
                });
            }
        });
        start.elapsed() / self.rounds
    }
}

/// The sum of the words of some memory, in as many chains as vector registers like.
fn sum(memory: &[u8]) -> u64 {
    let mut sums = [0_u64; 32];
    for block in memory.chunks_exact(256) {
        for (sum, word) in sums.iter_mut().zip(block.chunks_exact(8)) {
            *sum = sum.wrapping_add(u64::from_le_bytes(word.try_into().expect("eight bytes")));
        }
    }
    sums.iter().fold(0, |total, sum| total.wrapping_add(*sum))
}
