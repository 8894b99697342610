//! The texts of a kernel's values: which are declared and have a name, which are written wherever they are used, and which
//! wait for their one use.

use cranelift_entity::SecondaryMap;
use index::Expr;
use indexmap::IndexMap;
use kernel::{Kernel, Value};

use super::single_use::single_use;
use super::spelling::bare;

/// The longest text that is written where it is used instead of getting a line and a name.
const LONGEST_INLINE: usize = 48;

/// The text of a value that has not been written yet.
#[derive(Clone)]
pub(super) struct Text {
    pub(super) code: String,
    pub(super) reads: Reads,
}

/// What a text reads that may change, so that it must be written before.
#[derive(Clone, Copy, Default)]
pub(super) struct Reads {
    pub(super) accumulator: bool,
    /// A buffer whose memory may be that of one that the kernel writes.
    pub(super) overwritten: bool,
}

impl Reads {
    pub(super) const NOTHING: Reads = Reads { accumulator: false, overwritten: false };
    pub(super) const ACCUMULATOR: Reads = Reads { accumulator: true, overwritten: false };

    pub(super) fn and(self, other: Reads) -> Reads {
        Reads {
            accumulator: self.accumulator || other.accumulator,
            overwritten: self.overwritten || other.overwritten,
        }
    }

    pub(super) fn is_any(self) -> bool {
        self.accumulator || self.overwritten
    }
}

/// The texts of values that are not declared.
pub(super) struct ValueTexts {
    single_use: SecondaryMap<Value, bool>,
    /// Constants, names, and elements of vectors.
    substitutes: SecondaryMap<Value, Option<String>>,
    /// Values that wait for their one use, in the order of the kernel.
    pending: IndexMap<Value, Text>,
    /// Index expressions that values hold.
    indices: SecondaryMap<Value, Option<Expr>>,
}

impl ValueTexts {
    /// Those of a kernel of which nothing is written yet.
    pub(super) fn of(kernel: &Kernel) -> ValueTexts {
        ValueTexts {
            single_use: single_use(kernel),
            substitutes: SecondaryMap::new(),
            pending: IndexMap::new(),
            indices: SecondaryMap::new(),
        }
    }

    /// Writes a text wherever a value is used.
    pub(super) fn substitute(&mut self, value: Value, code: String) {
        self.substitutes[value] = Some(code);
    }

    /// The text that is written wherever a value is used, which is declared instead.
    pub(super) fn take_substitute(&mut self, value: Value) -> String {
        self.substitutes[value].take().unwrap_or_default()
    }

    /// Takes note of a value's text; returns it if it must be declared.
    pub(super) fn define(&mut self, value: Value, text: Text) -> Option<Text> {
        if self.single_use[value] && text.code.len() <= LONGEST_INLINE {
            self.pending.insert(value, text);
        } else if is_negated_name(&text.code) && !text.reads.is_any() {
            self.substitutes[value] = Some(text.code);
        } else {
            return Some(text);
        }
        None
    }

    /// The text of a value at its use.
    pub(super) fn at_use(&mut self, value: Value) -> Text {
        if let Some(text) = self.pending.shift_remove(&value) {
            return text;
        }
        let code = self.substitutes[value].clone().unwrap_or_else(|| value.to_string());
        Text { code, reads: Reads::NOTHING }
    }

    /// The text of a waiting value that is more than a word.
    pub(super) fn take_long(&mut self, value: Value) -> Option<Text> {
        let is_long = self.pending.get(&value).is_some_and(|text| !is_word(&text.code));
        if is_long { self.pending.shift_remove(&value) } else { None }
    }

    /// The waiting values that read something.
    pub(super) fn take_reading(&mut self, reads: fn(Reads) -> bool) -> Vec<(Value, Text)> {
        let reading = self.pending.iter().filter(|(_, text)| reads(text.reads));
        let reading: Vec<Value> = reading.map(|(&value, _)| value).collect();
        let take = |value: Value| Some((value, self.pending.shift_remove(&value)?));
        reading.into_iter().filter_map(take).collect()
    }

    /// Takes note of the index that a value holds.
    pub(super) fn holds_index(&mut self, value: Value, index: &Expr) {
        self.indices[value] = Some(index.clone());
    }

    /// The index that a value holds.
    pub(super) fn index(&self, value: Value) -> Option<&Expr> {
        self.indices[value].as_ref()
    }
}

/// Whether a text is one word.
fn is_word(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether a text is a name with a minus before it, which needs no name of its own.
fn is_negated_name(text: &str) -> bool {
    bare(text).strip_prefix('-').is_some_and(is_word)
}
