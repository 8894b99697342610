//! The variants of an executable, and which one a call is for.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use ir::array::ArrayView;
use ir::interrupt::Interrupt;

use super::{Executable, Source};
use crate::Error;
use crate::background::in_background;
use crate::compile::{Variant, compile};
use crate::inputs::layouts;
use crate::variant_key::VariantKey;

/// The number of variants that an executable keeps; the one unused longest is dropped first.
const MAX_VARIANTS: usize = 64;

/// The variant of a call.
pub(super) struct Found {
    pub variant: Arc<Variant>,
    /// How long it took to compile, if it was compiled for this call; `None` also for a wait for another call's.
    pub compile: Option<Duration>,
}

/// A variant, or a wait for the thread that compiles it. A failed compilation is not kept.
#[derive(Debug, Default)]
pub(super) struct Cell {
    variant: OnceLock<Arc<Variant>>,
    /// Held while it is compiled.
    compiling: Mutex<()>,
}

impl Cell {
    /// The variant; if it is missing, one thread at a time compiles it.
    fn filled(&self, source: &Source, key: &VariantKey, interrupt: &Interrupt) -> Result<Found, Error> {
        let _only = self.compiling.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = self.found() {
            return Ok(found);
        }
        interrupt.check()?;
        let begin = Instant::now();
        let compiled = Arc::new(compile(&source.definition, key, &source.options, interrupt)?);
        let variant = Arc::clone(self.variant.get_or_init(|| compiled));
        Ok(Found { variant, compile: Some(begin.elapsed()) })
    }

    /// The variant, if an earlier call has compiled it.
    fn found(&self) -> Option<Found> {
        Some(Found { variant: Arc::clone(self.variant.get()?), compile: None })
    }
}

impl Executable {
    /// The variant for a key, compiled if it is new.
    pub(super) fn compiled(&self, key: VariantKey, interrupt: &Interrupt) -> Result<Found, Error> {
        let cell = self.cell(&key);
        if let Some(found) = cell.found() {
            return Ok(found);
        }
        let (source, asked) = (Arc::clone(&self.source), interrupt.clone());
        in_background(interrupt, move || cell.filled(&source, &key, &asked))?
    }

    /// The cell of the variant for such calls, now the most recently used.
    fn cell(&self, key: &VariantKey) -> Arc<Cell> {
        let mut variants = self.variants.lock();
        match variants.iter().position(|(known, _)| known == key) {
            Some(place) => variants[..=place].rotate_right(1),
            None => {
                variants.truncate(MAX_VARIANTS - 1);
                variants.insert(0, (key.clone(), Arc::default()));
            }
        }
        Arc::clone(&variants[0].1)
    }

    /// Whether the variant for such inputs exists, so that a call on them compiles nothing.
    ///
    /// # Errors
    /// Errors in the inputs.
    pub fn is_compiled(&self, inputs: &[ArrayView<'_>]) -> Result<bool, Error> {
        let sizes = self.signature.bind(inputs, &[])?;
        let layouts = layouts(inputs, self.source.options.executor.kind());
        let key = VariantKey::of(layouts, &sizes, self.shapes.as_ref());
        let variants = self.variants.lock();
        Ok(variants.iter().any(|(known, cell)| *known == key && cell.variant.get().is_some()))
    }

    /// The number of variants, compiled or being compiled.
    pub fn variants(&self) -> usize {
        self.variants.lock().len()
    }

    /// The variant that was used last: its plan and how it was compiled. `None` before the first call of one made by
    /// [`Executable::by_size`].
    pub fn latest(&self) -> Option<Arc<Variant>> {
        self.variants.lock().iter().find_map(|(_, cell)| cell.variant.get().cloned())
    }
}
