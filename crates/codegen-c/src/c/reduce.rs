//! The functions that combine the copies of an accumulator over a block: one per monoid and dtypes, called by all lanes and
//! returning the result to all. The dialect says how lanes exchange states.
//!
//! The order is that of the kernel interpreter: for stride = lanes/2, lanes/4, …, 1, lane `t` below the stride takes
//! `combine(t, t + stride)`; first within each warp of the kernel, then over the warps.

use kernel::{Accumulator, Kernel, Value};
use ops::{DType, Monoid};

use super::EmitError;
use super::body::KernelWriter;
use super::cast::cast;
use super::combine::combine;
use super::dialect::{Dialect, Unpacked, UnpackedField};
use super::prelude::Prelude;
use super::values::{Reads, Text};

/// A reduction over `lanes` lanes, at least 2 where it has a function, of states of these dtypes, in which the monoid
/// computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reduction {
    /// How two states become one.
    pub monoid: Monoid,
    /// The dtype of each part of a state.
    pub dtypes: Vec<DType>,
    /// Lanes of a block, or of a cluster of them.
    pub lanes: u32,
    /// Lanes that combine first.
    pub warp: u32,
    /// Teams that reduce side by side.
    pub teams: u32,
    /// Blocks that the lanes are spread over.
    pub cluster: u32,
}

/// A reduction in a dialect, and the stem of its functions' names: the monoid, or `lambda` and a number.
#[derive(Debug)]
pub struct BlockReduction<'r> {
    /// The reduction.
    pub of: &'r Reduction,
    /// The stem of the name of the function that combines two states, as in `combine_sum`.
    pub stem: &'r str,
    dialect: &'static Dialect,
}

impl BlockReduction<'_> {
    /// The function that a kernel calls with its copies of the states.
    pub fn name(&self) -> String {
        format!("block_{}", self.stem)
    }

    /// Defines the function that the kernel calls; those that it calls go into the prelude.
    fn text(&self, prelude: &mut Prelude) -> Result<String, EmitError> {
        let combine = combine(self, prelude)?;
        (self.dialect.reductions.needs)(self.of).iter().for_each(|&snippet| prelude.add(snippet));
        let over_block = (self.dialect.reductions.over_block)(self);
        Ok(format!("{}{combine}{over_block}", self.structure()))
    }

    /// The names of the states: those of a monoid, or numbers if a call reduces several monoids of one state each.
    pub fn states(&self) -> Vec<String> {
        match self.of.monoid.row().filter(|row| row.states.len() == self.of.dtypes.len()) {
            Some(row) => row.states.iter().map(|state| state.name.to_owned()).collect(),
            None => (0..self.of.dtypes.len()).map(|state| format!("s{state}")).collect(),
        }
    }

    /// The dtype of all states, if they have one.
    fn common_dtype(&self) -> Option<DType> {
        let dtypes = &self.of.dtypes;
        dtypes.iter().all(|dtype| *dtype == dtypes[0]).then(|| dtypes[0])
    }

    /// The type of all states together: the dtype of the only one, or a structure.
    pub fn state_type(&self) -> String {
        let dtypes = &self.of.dtypes;
        match (dtypes.len(), self.common_dtype()) {
            (1, _) => self.type_name(dtypes[0]).to_owned(),
            (_, Some(dtype)) => format!("{}_{dtype}", self.stem),
            _ => {
                let names: Vec<String> = dtypes.iter().map(DType::to_string).collect();
                format!("{}_{}", self.stem, names.join("_"))
            }
        }
    }

    fn structure(&self) -> String {
        let states = self.states();
        if states.len() == 1 {
            return String::new();
        }
        let fields = match self.common_dtype() {
            Some(dtype) => format!("{} {};", self.type_name(dtype), states.join(", ")),
            None => {
                let typed = states.iter().zip(&self.of.dtypes);
                let fields: Vec<String> =
                    typed.map(|(state, &dtype)| format!("{} {state};", self.type_name(dtype))).collect();
                fields.join(" ")
            }
        };
        (self.dialect.structures.declared)(&self.state_type(), &fields)
    }

    fn type_name(&self, dtype: DType) -> &'static str {
        (self.dialect.type_name)(dtype)
    }

    /// A call of the function as the lines that name its results; `copies` are this lane's states.
    fn unpacked(&self, values: &[Value], copies: &[String]) -> Vec<String> {
        // The type is named, as the same monoid of other dtypes is an overload of this function.
        let structure = self.state_type();
        let states = (self.dialect.structures.value)(&structure, &copies.join(", "));
        let fields = self.states().into_iter().zip(values).zip(&self.of.dtypes);
        let fields = fields.map(|((field, value), &dtype)| UnpackedField {
            type_name: self.type_name(dtype),
            field,
            variable: value.to_string(),
        });
        let unpacked =
            Unpacked { structure: &structure, value: &self.call(&states), fields: fields.collect() };
        (self.dialect.structures.unpacked)(&unpacked)
    }

    fn call(&self, states: &str) -> String {
        (self.dialect.reductions.call)(self, states)
    }
}

impl KernelWriter<'_> {
    /// Values computed from all lanes' copies of some accumulators.
    pub(super) fn reduce(
        &mut self,
        values: &[Value],
        monoid: &Monoid,
        accumulators: &[Accumulator],
    ) -> Result<(), EmitError> {
        let dtypes = values.iter().map(|&value| self.kernel.values[value]).collect();
        let copies: Vec<String> =
            values.iter().zip(accumulators).map(|(&value, &state)| self.widened(value, state)).collect();
        let Kernel { lanes, warp, teams, cluster, .. } = *self.kernel;
        let reduction = Reduction { monoid: monoid.clone(), dtypes, lanes, warp, teams, cluster };
        let stem = self.prelude.stem(&reduction);
        let named = BlockReduction { of: &reduction, stem: &stem, dialect: self.dialect };
        if lanes > 1 && self.prelude.lacks(&reduction) {
            let text = named.text(self.prelude)?;
            self.prelude.add_reduction(reduction.clone(), text);
        }
        match values {
            _ if lanes == 1 => {
                for (&value, code) in values.iter().zip(copies) {
                    self.declare(value, &Text { code, reads: Reads::ACCUMULATOR });
                }
            }
            &[value] => {
                let code = named.call(&copies[0]);
                self.declare(value, &Text { code, reads: Reads::ACCUMULATOR });
            }
            _ => named.unpacked(values, &copies).iter().for_each(|line| self.line(line)),
        }
        Ok(())
    }

    /// This lane's copy of an accumulator, in the dtype of the result over all lanes.
    fn widened(&mut self, value: Value, accumulator: Accumulator) -> String {
        let (from, to) = (self.kernel.accumulators[accumulator], self.kernel.values[value]);
        if from == to {
            return accumulator.to_string();
        }
        cast(from, to, &accumulator.to_string(), self.prelude)
    }
}
