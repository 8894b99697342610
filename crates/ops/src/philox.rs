//! The random numbers of programs: Philox 4x32-10, a bijection that maps a counter and a key to four random-looking words.
//!
//! A draw has no state, so recomputing an element gives the same bits, anywhere and in any order. Uniform and normal numbers
//! are expressions over the words (in the crate `frontend`); this file has only the bits.
//!
//! Source: Salmon, Moraes, Dror, Shaw, *Parallel random numbers: as easy as 1, 2, 3*, SC 2011.

/// The multipliers of the first and the third word of the counter in each round.
pub const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
/// The increments of the halves of the key after a round: from the golden ratio and the root of three.
pub const KEY_STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
/// How often the words are mixed.
pub const ROUNDS: u32 = 10;

/// The four words for a counter and a key.
pub fn philox(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let mut words = counter;
    for round in 0..ROUNDS {
        let [a, b] = [0, 1].map(|k| u64::from(MULTIPLIERS[k]) * u64::from(words[2 * k]));
        let [key_a, key_b] = [0, 1].map(|k| key[k].wrapping_add(KEY_STEPS[k].wrapping_mul(round)));
        words = [high(b) ^ words[1] ^ key_a, b as u32, high(a) ^ words[3] ^ key_b, a as u32];
    }
    words
}

/// Word `number` of the sequence of `seed` at `offset`: the counter is the offset and a quarter of the number, low halves
/// first, the key is the seed, and the remainder of the number selects one of the four words. Signs are bits here.
pub fn word(seed: i64, offset: i64, number: i64) -> u32 {
    let halves = |x: u64| [x as u32, high(x)];
    let ([c0, c1], [c2, c3]) = (halves(offset as u64), halves(number as u64 / 4));
    philox([c0, c1, c2, c3], halves(seed as u64))[number as usize % 4]
}

const fn high(x: u64) -> u32 {
    (x >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers that come with the authors' Random123.
    #[test]
    fn philox_gives_the_known_answers() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox([!0; 4], [!0; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        assert_eq!(
            philox([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn the_number_of_a_word_is_the_counter_and_the_place() {
        let seed = 0x299f_31d0_a409_3822;
        let offset = 0x85a3_08d3_243f_6a88_u64 as i64;
        let first = 0x0370_7344_1319_8a2e * 4;
        let words = [0, 1, 2, 3].map(|k| word(seed, offset, first + k));
        assert_eq!(words, [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]);
        assert_eq!(word(-1, -1, -1), philox([!0, !0, !0, 0x3fff_ffff], [!0, !0])[3]);
    }
}
