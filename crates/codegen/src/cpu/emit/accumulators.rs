//! Accumulators, and their reduction over the lanes.
//!
//! An accumulator is a stack slot, which the passes promote to a register; with a copy per lane it is a vector.

use cranelift_entity::SecondaryMap;
use kernel::{Accumulator, Value, per_lane};
use ops::{DType, Monoid};

use super::layer::layer;
use super::memory::MemoryEmitter;
use super::operand::{Element, Operand, Type};
use super::scope::Scope;
use super::{EmitError, apply, convert};

/// Writes the opens, reads, sets and reductions of accumulators.
pub(super) struct AccumulatorEmitter<'k> {
    memory: MemoryEmitter<'k>,
    /// Stack slots: a scalar, or a vector where each lane has its copy.
    slots: SecondaryMap<Accumulator, Option<(Operand, Type)>>,
    pub(super) per_lane: SecondaryMap<Accumulator, bool>,
}

layer!(AccumulatorEmitter, memory: MemoryEmitter);

impl<'k> AccumulatorEmitter<'k> {
    pub(super) fn new(memory: MemoryEmitter<'k>) -> AccumulatorEmitter<'k> {
        AccumulatorEmitter { slots: SecondaryMap::new(), per_lane: per_lane(memory.kernel), memory }
    }

    /// The scope, after everything is written.
    pub(super) fn into_scope(self) -> Scope<'k> {
        self.memory.into_scope()
    }

    pub(super) fn open(&mut self, accumulator: Accumulator, init: Value) {
        let element = self.element_held(accumulator);
        let ty = if self.per_lane[accumulator] { self.vector(element) } else { Type::scalar(element) };
        // The body of a loop over lanes is written twice, and so is the slot if there are fewer lanes.
        let known = self.slots[accumulator].filter(|(_, known)| *known == ty);
        let slot = known.map_or_else(|| self.w.slot(ty), |(slot, _)| slot);
        self.slots[accumulator] = Some((slot, ty));
        let init = self.opened_with(accumulator, init);
        self.fill(slot, ty, init);
    }

    /// The contents of an accumulator; with a copy per lane, those of the lanes here, which come first.
    pub(super) fn get(&mut self, accumulator: Accumulator) -> Operand {
        let (slot, ty) = self.slot(accumulator);
        let contents = self.contents(slot, ty);
        let lanes = self.lanes();
        if self.is_part(ty) { self.w.slice(contents, 0, lanes) } else { contents }
    }

    fn contents(&mut self, slot: Operand, ty: Type) -> Operand {
        self.w.instruction(ty, format_args!("load {ty}, {}", slot.typed()))
    }

    /// Whether there are fewer lanes here than an accumulator of this type has copies.
    fn is_part(&self, ty: Type) -> bool {
        ty.lanes.is_some_and(|copies| copies > self.lanes())
    }

    /// Lanes without an iteration keep theirs.
    pub(super) fn set(&mut self, accumulator: Accumulator, value: Value) {
        let (slot, ty) = self.slot(accumulator);
        let keys = self.won(accumulator, value);
        let mask = self.lane.and_then(|lane| if keys.is_some() { lane.in_memory } else { lane.mask });
        let mut value = keys.unwrap_or_else(|| self.value(value));
        if let Some(mask) = mask {
            let old = self.get(accumulator);
            value = self.w.select(mask, value, old);
        }
        if self.is_part(ty) {
            let contents = self.contents(slot, ty);
            value = self.splat(value);
            value = self.w.overlaid(contents, value);
        }
        self.fill(slot, ty, value);
    }

    /// Moves the copies of the first lanes after all others if a scalar condition holds, so that the next lanes come first.
    pub(super) fn rotate(&mut self, accumulator: Accumulator, first: u32, condition: Operand) {
        let (slot, ty) = self.slot(accumulator);
        let contents = self.contents(slot, ty);
        let rotated = self.w.rotated(contents, first);
        let moved = self.w.select(condition, rotated, contents);
        self.fill(slot, ty, moved);
    }

    fn slot(&self, accumulator: Accumulator) -> (Operand, Type) {
        self.slots[accumulator].expect("the kernel was verified: accumulators are open where they are used")
    }

    fn fill(&mut self, slot: Operand, ty: Type, value: Operand) {
        let value = self.w.shaped(value, ty.lanes);
        self.w.effect(format_args!("store {}, {}", value.typed(), slot.typed()));
    }

    /// Restores an accumulator's slot with a copy per lane, each with the contents of the scalar one.
    pub(super) fn part_again(&mut self, accumulator: Accumulator, (slot, ty): (Operand, Type)) {
        let contents = self.get(accumulator);
        self.slots[accumulator] = Some((slot, ty));
        self.fill(slot, ty, contents);
    }

    /// Whether some lane has other bits than the first: zeros of different sign are equal but not the same.
    pub(super) fn differs(&mut self, accumulator: Accumulator) -> Operand {
        let contents = self.get(accumulator);
        let bits = match contents.ty.element {
            Element::F32 => self.w.convert("bitcast", contents, Element::I32),
            Element::F64 => self.w.convert("bitcast", contents, Element::I64),
            _ => contents,
        };
        let first = self.w.extract(bits, 0);
        let differing = self.w.compare("icmp ne", bits, first);
        self.w.any(differing)
    }

    /// Gives an accumulator a scalar slot with the contents of its first lane; returns its slot with a copy per lane.
    pub(super) fn unite(&mut self, accumulator: Accumulator) -> (Operand, Type) {
        let (slot, ty) = self.slot(accumulator);
        let contents = self.contents(slot, ty);
        let first = self.w.extract(contents, 0);
        let scalar = Type::scalar(ty.element);
        let united = self.w.slot(scalar);
        self.slots[accumulator] = Some((united, scalar));
        self.fill(united, scalar, first);
        (slot, ty)
    }

    /// The states of all lanes combined: the lower half of a vector with its upper half, until one lane is left.
    pub(super) fn reduce(
        &mut self,
        values: &[Value],
        monoid: &Monoid,
        accumulators: &[Accumulator],
    ) -> Result<Vec<Operand>, EmitError> {
        if let Some(state) = self.reduce_integer_min_max(accumulators[0]) {
            return Ok(vec![state]);
        }
        let dtypes: Vec<DType> = values.iter().map(|&value| self.kernel.values[value]).collect();
        let mut states: Vec<Operand> = Vec::with_capacity(dtypes.len());
        for (&accumulator, &dtype) in accumulators.iter().zip(&dtypes) {
            let copies = self.get(accumulator);
            let held = self.kernel.accumulators[accumulator];
            states.push(convert::cast(&mut self.w, copies, held, dtype));
        }
        let mut lanes = self.lanes();
        if self.kernel.warp < lanes {
            states = states.into_iter().map(|state| self.by_warps(state)).collect();
        }
        while lanes > 1 {
            lanes /= 2;
            let [low, high] = [0, lanes].map(|from| {
                let half = states.iter().map(|&state| self.part(state, from, lanes));
                half.collect::<Vec<Operand>>()
            });
            states = apply::combine(&mut self.w, monoid, &dtypes, &low, &high)?;
        }
        let alone = |state: Operand| if state.ty.lanes.is_some() { self.part(state, 0, 1) } else { state };
        Ok(states.into_iter().map(alone).collect())
    }

    /// The lanes in the order of their places within their warps, so that halves are halves of each warp.
    fn by_warps(&mut self, vector: Operand) -> Operand {
        let (warp, warps) = (self.kernel.warp, self.lanes() / self.kernel.warp);
        let order = (0..warp).flat_map(|place| (0..warps).map(move |number| number * warp + place));
        self.w.picked(vector, order)
    }

    /// The `lanes` lanes of a vector from `from` on; one alone is a scalar.
    pub(super) fn part(&mut self, vector: Operand, from: u32, lanes: u32) -> Operand {
        if lanes == 1 { self.w.extract(vector, from) } else { self.w.slice(vector, from, lanes) }
    }
}
