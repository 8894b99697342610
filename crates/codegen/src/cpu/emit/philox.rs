//! Random words: Philox 4x32-10 as [`ops::random`] defines it, on scalars and vectors of 64-bit lanes.
//!
//! A lane holds 32 bits in its lower half, so that a product of two fits. A counter gives four words. Lanes whose numbers
//! follow each other from a multiple of four share counters: a fourth of the lanes computes all their words. Otherwise each
//! lane computes the four of its counter, and keeps one.

use ops::philox::{KEY_STEPS, MULTIPLIERS, ROUNDS};

use super::operand::{Element, Operand};
use super::writer::Writer;

/// The lower half of a lane.
const LOW: i64 = 0xffff_ffff;

/// The words of a counter.
const WORDS: u32 = 4;

/// Word `number` of the sequence of a seed at an offset, all three of i64.
pub(super) fn word(w: &mut Writer<'_>, seed: Operand, offset: Operand, number: Operand) -> Operand {
    let lanes = number.ty.lanes.filter(|lanes| lanes % WORDS == 0 && *lanes > WORDS);
    let Some(lanes) = lanes.filter(|_| seed.ty.lanes.or(offset.ty.lanes).is_none()) else {
        return each(w, seed, offset, number);
    };
    let first = w.extract(number, 0);
    let following = w.binary("add", Operand::iota(Element::I64, lanes), first);
    let differs = w.compare("icmp ne", number, following);
    let differs = w.any(differs);
    let within = w.binary("and", first, i64::from(WORDS) - 1);
    let within = w.compare("icmp ne", within, 0);
    let alone = w.binary("or", differs, within);
    let register = w.isa.vector_bits / 64;
    let words = w.either(
        alone,
        |w| {
            w.by_pieces(number, register, Element::I32, |w, number| {
                let word = each(w, seed, offset, number);
                w.convert("trunc", word, Element::I32)
            })
        },
        |w| {
            let block = w.binary("lshr", first, 2);
            let block = w.binary("add", Operand::iota(Element::I64, lanes / WORDS), block);
            let words = of_block(w, seed, offset, block).map(|word| w.convert("trunc", word, Element::I32));
            w.interleaved(&words)
        },
    );
    w.convert("zext", words, Element::I64)
}

/// The word of each lane's own counter.
fn each(w: &mut Writer<'_>, seed: Operand, offset: Operand, number: Operand) -> Operand {
    let block = w.binary("lshr", number, 2);
    let words = of_block(w, seed, offset, block);
    choose(w, number, words)
}

/// The four words of a counter.
fn of_block(w: &mut Writer<'_>, seed: Operand, offset: Operand, block: Operand) -> [Operand; 4] {
    let key = halves(w, seed);
    let ([a, b], [c, d]) = (halves(w, offset), halves(w, block));
    let mut words = [a, b, c, d];
    for number in 0..i64::from(ROUNDS) {
        words = round(w, words, [0, 1].map(|k| (key[k], i64::from(KEY_STEPS[k]).wrapping_mul(number))));
    }
    words
}

fn halves(w: &mut Writer<'_>, x: Operand) -> [Operand; 2] {
    [w.binary("and", x, LOW), w.binary("lshr", x, 32)]
}

/// One round of mixing; each half of the key comes with the sum of its increments so far.
fn round(w: &mut Writer<'_>, words: [Operand; 4], key: [(Operand, i64); 2]) -> [Operand; 4] {
    let [[low_a, high_a], [low_c, high_c]] = [0, 1].map(|k| {
        let product = w.binary("mul", words[2 * k], i64::from(MULTIPLIERS[k]));
        halves(w, product)
    });
    let [key_a, key_c] = key.map(|(half, added)| {
        let sum = w.binary("add", half, added);
        w.binary("and", sum, LOW)
    });
    let mixed = |w: &mut Writer<'_>, high: Operand, word: Operand, key: Operand| {
        let both = w.binary("xor", high, word);
        w.binary("xor", both, key)
    };
    [mixed(w, high_c, words[1], key_a), low_c, mixed(w, high_a, words[3], key_c), low_a]
}

/// The word selected by the last two bits of the number.
fn choose(w: &mut Writer<'_>, number: Operand, [a, b, c, d]: [Operand; 4]) -> Operand {
    let bit = |w: &mut Writer<'_>, mask: i64| {
        let bit = w.binary("and", number, mask);
        w.compare("icmp ne", bit, 0)
    };
    let (odd, upper) = (bit(w, 1), bit(w, 2));
    let (low, high) = (w.select(odd, b, a), w.select(odd, d, c));
    w.select(upper, high, low)
}
