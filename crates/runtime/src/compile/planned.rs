//! Plans: for calls of a variant key, for a call that is only described, and for any calls.

use compiler::{Cut, Plan, PlanError, PlanOptions, PlanRequest, cut, plan};
use ir::array::ArrayView;
use ir::definition::Definition;
use ir::graph::Sizes;
use ir::layout::LayoutClass;
use scheduler::hints::Hints;
use target::{Processor, Target};

use crate::background::in_background;
use crate::inputs::layouts;
use crate::variant_key::{Shapes, VariantKey};
use crate::{CompileOptions, Error, ExecutorKind};

/// What decisions depend on in a call.
#[derive(Clone, Debug)]
pub struct CallFacts {
    /// The layouts of the inputs.
    pub layouts: Vec<LayoutClass>,
    /// The sizes, as far as they are known.
    pub sizes: Sizes,
    /// Whether decisions are made for the order of magnitude of the sizes, as by [`Executable::by_size`]; otherwise for the
    /// sizes themselves, as by [`Executable::for_inputs`] with them as hints.
    ///
    /// [`Executable::by_size`]: crate::Executable::by_size
    /// [`Executable::for_inputs`]: crate::Executable::for_inputs
    pub by_order: bool,
}

impl CallFacts {
    /// Of a call of [`Executable::by_size`] on these inputs.
    ///
    /// # Errors
    /// The first input that is not as the definition needs it.
    ///
    /// [`Executable::by_size`]: crate::Executable::by_size
    pub fn of(definition: &Definition, inputs: &[ArrayView<'_>]) -> Result<CallFacts, Error> {
        let sizes = definition.signature().bind(inputs, &[])?;
        Ok(CallFacts { layouts: layouts(inputs, ExecutorKind::Compiled), sizes, by_order: true })
    }
}

/// Plans a definition as an executable does for a call, and compiles nothing: what `explain` needs. Returns the sizes that
/// decisions are made for, too.
///
/// # Errors
/// [`Error::Plan`] when choices of the user do not fit the definition.
pub fn plan_for_call(
    definition: &Definition,
    target: &Target,
    options: &PlanOptions,
    call: CallFacts,
) -> Result<(Plan, Hints), Error> {
    let on_gpu = matches!(target.processor, Processor::Gpu(_));
    let shapes = Shapes::new(definition, call.by_order, options, on_gpu);
    let key = VariantKey::of(call.layouts, &call.sizes, Some(&shapes));
    let hints = key.expected().unwrap_or_else(|| Hints::new(call.sizes.known()));
    let plan = made_in_background(definition, key, target, &hints, options, plan)?;
    Ok((plan, hints))
}

/// Plans a definition for inputs with the declared layouts, of any size, and for any machine, and compiles nothing: what
/// `emit` needs. Kernels of calls whose rows are whole vectors are these without the remainder.
///
/// # Errors
/// [`Error::Plan`] when choices of the user do not fit the definition.
pub fn plan_declared(
    definition: &Definition,
    target: &Target,
    options: &CompileOptions,
) -> Result<Plan, Error> {
    declared(definition, target, options, plan)
}

/// Cuts a definition as [`plan_declared`], and makes no kernels.
///
/// # Errors
/// As [`plan_declared`].
pub fn cut_declared(
    definition: &Definition,
    target: &Target,
    options: &CompileOptions,
) -> Result<Cut, Error> {
    declared(definition, target, options, cut)
}

fn declared<T: Send + 'static>(
    definition: &Definition,
    target: &Target,
    CompileOptions { hints, plan, .. }: &CompileOptions,
    make: Make<T>,
) -> Result<T, Error> {
    made_in_background(definition, VariantKey::declared(definition), target, hints, plan, make)
}

/// A function of the compiler over a definition.
type Make<T> = fn(PlanRequest<'_>) -> Result<T, PlanError>;

/// [`made`] on a thread of its own, which an interrupt leaves behind.
fn made_in_background<T: Send + 'static>(
    definition: &Definition,
    key: VariantKey,
    target: &Target,
    hints: &Hints,
    options: &PlanOptions,
    make: Make<T>,
) -> Result<T, Error> {
    let (definition, target) = (definition.clone(), target.clone());
    let (hints, options, interrupt) = (hints.clone(), options.clone(), options.interrupt.clone());
    let made = move || made(&definition, &key, &target, &hints, &options, make);
    Ok(in_background(&interrupt, made)??)
}

/// What such a function makes for calls of a key.
pub(super) fn made<T>(
    definition: &Definition,
    key: &VariantKey,
    target: &Target,
    hints: &Hints,
    options: &PlanOptions,
    make: Make<T>,
) -> Result<T, PlanError> {
    let fusion = key.known(&definition.fusion);
    let made = make(PlanRequest {
        graph: &definition.graph,
        fusion: &fusion,
        tasks: &definition.tasks,
        layouts: key.layouts(),
        target,
        hints,
        options,
    });
    made.map_err(|error| error.in_words(|val| definition.record.in_words(val)))
}
