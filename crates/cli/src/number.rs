//! Whole numbers as options of a command, in Python's notation: `0777` and `1_0` are rejected.

use std::num::NonZeroUsize;
use std::str::FromStr;

use cpu::pool::Pool;
use index::integer;

/// The number in a word.
pub fn number<N: FromStr>(word: &str) -> Result<N, String> {
    integer(word).ok_or_else(|| format!("`{word}` is not a whole number, as in 8"))
}

/// The positive number in a word.
pub fn positive(word: &str) -> Result<NonZeroUsize, String> {
    integer(word).ok_or_else(|| format!("`{word}` is not a whole number above 0, as in 8"))
}

/// A number of threads that a pool can have.
pub fn threads(word: &str) -> Result<NonZeroUsize, String> {
    let asked = positive(word)?;
    let most = Pool::new(Some(asked)).threads();
    if asked.get() > most { Err(format!("there are at most {most} threads")) } else { Ok(asked) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_one_way() {
        assert_eq!(number("8"), Ok(8_u64));
        for word in ["0777", "+7", "1_0", "-1", "8.0", "", "18446744073709551616"] {
            assert_eq!(number::<u64>(word), Err(format!("`{word}` is not a whole number, as in 8")));
        }
        let above = positive("0");
        assert_eq!(above, Err("`0` is not a whole number above 0, as in 8".to_owned()));
        assert_eq!(threads("1024").map(usize::from), Ok(1024));
        assert_eq!(threads("1025"), Err("there are at most 1024 threads".to_owned()));
    }
}
