//! What the memory of this machine can do: a copy and a read by the same threads, of the same footprint, in the same
//! minute as the kernel that they are compared with.

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

/// Bytes up to which a copy goes through the caches; longer ones the C library streams past them.
const PIECE: usize = 64 << 10;

/// Memory to copy from and to.
pub struct Bandwidth {
    from: Vec<u8>,
    to: Vec<u8>,
    threads: usize,
}

impl Bandwidth {
    /// Memory of this footprint, half of it read and half of it written, touched once.
    pub fn new(footprint: usize, threads: usize) -> Bandwidth {
        let half = (footprint / 2).max(1 << 20);
        Bandwidth { from: vec![1; half], to: vec![2; half], threads }
    }

    /// Bytes that a copy moves: each read and each written.
    pub fn copied_bytes(&self) -> usize {
        2 * self.from.len()
    }

    /// Bytes that a read moves.
    pub fn read_bytes(&self) -> usize {
        self.from.len() + self.to.len()
    }

    /// The time of a copy: the better of one that goes through the caches and one that the C library may stream.
    pub fn copy(&mut self) -> Duration {
        let whole = self.timed_copy(usize::MAX);
        whole.min(self.timed_copy(PIECE))
    }

    fn timed_copy(&mut self, piece: usize) -> Duration {
        let share = self.from.len().div_ceil(self.threads);
        let start = Instant::now();
        thread::scope(|scope| {
            for (to, from) in self.to.chunks_mut(share).zip(self.from.chunks(share)) {
                scope.spawn(move || {
                    let piece = piece.min(from.len());
                    to.chunks_mut(piece)
                        .zip(from.chunks(piece))
                        .for_each(|(to, from)| to.copy_from_slice(from));
                });
            }
        });
        let time = start.elapsed();
        black_box(&self.to);
        time
    }

    /// The time of a read of all of the memory.
    pub fn read(&self) -> Duration {
        let start = Instant::now();
        thread::scope(|scope| {
            for memory in [&self.from, &self.to] {
                for part in memory.chunks(memory.len().div_ceil(self.threads)) {
                    scope.spawn(move || black_box(sum(part)));
                }
            }
        });
        start.elapsed()
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
