//! Ways to traverse memory, of which a measurement takes the best: that differs from machine to machine.

use std::hint::black_box;

/// Bytes up to which a copy goes through the caches; the C library may store longer ones non-temporally.
const PIECE: usize = 64 << 10;

/// Bytes of each of the runs that are read side by side: a page, at whose end the hardware prefetcher stops.
const RUN: usize = 4 << 10;

/// Bytes of a cache line.
const LINE: usize = 64;

/// A copy to the first place from the second, which has as many bytes.
pub type Copier = fn(&mut [u8], &[u8]);

/// A read, which returns a sum of the memory.
pub type Reader = fn(&[u8]) -> u64;

/// Through the caches, in two ways, and non-temporally.
pub const COPIES: [Copier; 3] = [at_once, in_pieces, non_temporal];

/// In order, and eight runs side by side.
pub const READS: [Reader; 2] = [read::<1>, read::<8>];

fn at_once(to: &mut [u8], from: &[u8]) {
    to.copy_from_slice(black_box(from));
}

fn in_pieces(to: &mut [u8], from: &[u8]) {
    to.chunks_mut(PIECE).zip(from.chunks(PIECE)).for_each(|(to, from)| at_once(to, from));
}

/// Always non-temporally, like kernels' stores of values that are not read soon: the C library does that only for copies
/// larger than the last-level cache, even if other virtual machines share that cache.
fn non_temporal(to: &mut [u8], from: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has these instructions.
        return unsafe { streamed::by_64(to, from) };
    } else if is_x86_feature_detected!("avx") {
        // SAFETY: as above.
        return unsafe { streamed::by_32(to, from) };
    }
    at_once(to, from);
}

#[cfg(target_arch = "x86_64")]
mod streamed {
    use std::arch::x86_64::*;

    /// Bytes between the copy and the prefetch.
    const DISTANCE: usize = 2 << 10;

    /// A copy with non-temporal stores of one register each.
    macro_rules! streamed {
        ($name:ident, $feature:literal, $register:ty, $load:ident, $store:ident) => {
            /// Copies `from` to `to`, of the same length, by non-temporal stores of this register.
            #[target_feature(enable = $feature)]
            pub fn $name(to: &mut [u8], from: &[u8]) {
                assert_eq!(to.len(), from.len(), "a copy of as many bytes");
                // SAFETY: registers may hold any bytes.
                let (head, registers, tail) = unsafe { to.align_to_mut::<$register>() };
                let whole = head.len() + size_of_val(registers);
                head.copy_from_slice(&from[..head.len()]);
                tail.copy_from_slice(&from[whole..]);
                for (to, from) in
                    registers.iter_mut().zip(from[head.len()..].chunks_exact(size_of::<$register>()))
                {
                    let next_line = from.as_ptr().wrapping_add(DISTANCE);
                    // SAFETY: any address may be prefetched; `from` has the bytes of a register, and `to` is one, aligned.
                    unsafe {
                        _mm_prefetch::<_MM_HINT_T0>(next_line.cast());
                        $store(to, $load(from.as_ptr().cast()));
                    }
                }
                // Other threads may read the memory after this returns.
                _mm_sfence();
            }
        };
    }

    streamed!(by_64, "avx512f", __m512i, _mm512_loadu_si512, _mm512_stream_si512);
    streamed!(by_32, "avx", __m256i, _mm256_loadu_si256, _mm256_stream_si256);
}

/// A sum of the contents of memory, read a line of each of several runs in turn.
fn read<const RUNS: usize>(memory: &[u8]) -> u64 {
    let mut sums = [0; LINE / size_of::<u64>()];
    let blocks = memory.chunks_exact(RUNS * RUN);
    let rest = blocks.remainder();
    for block in blocks {
        for line in (0..RUN).step_by(LINE) {
            (0..RUNS).for_each(|run| add(&mut sums, &block[run * RUN + line..][..LINE]));
        }
    }
    rest.chunks(LINE).for_each(|line| add(&mut sums, line));
    sums.iter().fold(0, |total, sum| total.wrapping_add(*sum))
}

fn add(sums: &mut [u64], line: &[u8]) {
    for (sum, word) in sums.iter_mut().zip(line.chunks_exact(size_of::<u64>())) {
        *sum = sum.wrapping_add(u64::from_le_bytes(word.try_into().expect("eight bytes")));
    }
}
