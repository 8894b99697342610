//! Loads, stores and faults: scalars, whole vectors of neighbours, or one element per lane.
//!
//! A lane without an iteration, or whose guard is false, touches no memory and loads zero. A load with one guard for all
//! lanes reads zeros from the stack if it must not happen, without a branch or a mask.

use std::collections::BTreeMap;

use index::Expr;
use kernel::{Buffer, Place, Scratch, Value};
use ops::DType;

use super::deinterleave;
use super::indices::Lanewise;
use super::layer::layer;
use super::operand::{Element, Operand, Type};
use super::scope::Scope;
use super::writer::Writer;

/// Bytes of a cache line on all CPUs that code is made for.
pub(super) const LINE: usize = 64;

/// The cache levels of a prefetch, as the intrinsic numbers them.
const L1: i64 = 3;
const L2: i64 = 2;

/// Writes memory accesses.
pub(super) struct MemoryEmitter<'k> {
    scope: Scope<'k>,
    pub(super) buffers: BTreeMap<Buffer, Operand>,
    pub(super) scratch: BTreeMap<Scratch, Operand>,
    /// For buffers whose stores may be non-temporal: 0 if they are, 1 if not.
    pub(super) is_cached: BTreeMap<Buffer, Operand>,
}

layer!(MemoryEmitter, scope: Scope);

impl<'k> MemoryEmitter<'k> {
    pub(super) fn new(scope: Scope<'k>) -> MemoryEmitter<'k> {
        let (buffers, scratch, is_cached) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        MemoryEmitter { scope, buffers, scratch, is_cached }
    }

    /// One element of an array of parameters.
    pub(super) fn element_of(&mut self, array: Operand, element: Element, position: usize) -> Operand {
        let index = Operand::integer(position as i64, Type::scalar(Element::I64));
        let address = self.w.address(element, array, index);
        self.w.instruction(Type::scalar(element), format_args!("load {element}, {}", address.typed()))
    }

    /// The scope, once all is written.
    pub(super) fn into_scope(self) -> Scope<'k> {
        self.scope
    }

    pub(super) fn load(&mut self, dtype: DType, place: Place, index: &Expr, guard: Option<Value>) -> Operand {
        let element = Element::in_memory(dtype);
        let (base, guard) = (self.base(place), guard.map(|guard| self.value(guard)));
        let loaded = match self.lanewise(index) {
            Lanewise::Same(index) => match guard {
                Some(guard) if guard.ty.lanes.is_some() => self.gather(element, base, index, Some(guard)),
                guard => self.load_one(element, base, index, guard),
            },
            Lanewise::Neighbours(rest, iteration) => {
                let address = self.neighbours(element, base, rest, iteration);
                let loaded = self.load_vector(place, element, address, guard);
                if self.is_shuffled(place, element) {
                    deinterleave::from_memory(&mut self.w, loaded)
                } else {
                    loaded
                }
            }
            Lanewise::Strided(first, stride) if guard.is_none() && self.has_all_lanes() => {
                self.load_strided(element, base, first, stride)
            }
            Lanewise::Reversed(first) if guard.is_none() && self.has_all_lanes() => {
                self.load_reversed(element, base, first)
            }
            Lanewise::Strided(first, stride) => {
                let indices = self.strided(first, i64::from(stride));
                self.gather(element, base, indices, guard)
            }
            Lanewise::Reversed(first) => {
                let indices = self.strided(first, -1);
                self.gather(element, base, indices, guard)
            }
            Lanewise::Any(indices) => self.gather(element, base, indices, guard),
        };
        if dtype == DType::Bool { self.w.compare("icmp ne", loaded, 0) } else { loaded }
    }

    pub(super) fn store(&mut self, place: Place, index: &Expr, value: Value, guard: Option<Value>) {
        let dtype = self.kernel.values[value];
        let element = Element::in_memory(dtype);
        let (base, guard) = (self.base(place), guard.map(|guard| self.value(guard)));
        let value = self.as_in_memory(value);
        let varying = |operand: Operand| operand.ty.lanes.is_some();
        match self.lanewise(index) {
            Lanewise::Same(index) if !varying(value) && !guard.is_some_and(varying) => {
                self.store_one(base, index, value, guard);
            }
            Lanewise::Same(index) | Lanewise::Any(index) => self.scatter(base, index, value, guard),
            Lanewise::Strided(first, stride) => {
                if !self.store_interleaved(place, index) {
                    let indices = self.strided(first, i64::from(stride));
                    self.scatter(base, indices, value, guard);
                }
            }
            Lanewise::Reversed(first) => {
                let indices = self.strided(first, -1);
                self.scatter(base, indices, value, guard);
            }
            Lanewise::Neighbours(rest, iteration) => {
                let address = self.neighbours(element, base, rest, iteration);
                self.store_vector(place, address, value, guard);
            }
        }
    }

    /// Prefetches the lines of the elements of all lanes, if they are neighbours. The first may begin within a line, so the
    /// line of the last byte is prefetched too, in which most of the remainder lies; otherwise that line is prefetched
    /// twice. The instruction faults at no address.
    pub(super) fn prefetch(&mut self, buffer: Buffer, index: &Expr, l2: bool) {
        if self.lane.is_some_and(|lane| lane.mask.is_some()) {
            return;
        }
        let element = Element::in_memory(self.kernel.buffers[buffer].dtype);
        let base = self.base(Place::Buffer(buffer));
        let (first, elements) = match self.lanewise(index) {
            Lanewise::Same(index) => (self.w.address(element, base, index), 1),
            Lanewise::Neighbours(rest, iteration) => {
                (self.neighbours(element, base, rest, iteration), self.lanes())
            }
            Lanewise::Strided(first, stride) => (self.w.address(element, base, first), stride * self.lanes()),
            Lanewise::Reversed(first) => (self.last_of_reversed(element, base, first), self.lanes()),
            Lanewise::Any(_) => return,
        };
        let length = elements * bytes(element);
        // Elements may begin within a line. The last byte of a single line's worth is in the next iteration's first line.
        let last = (length > LINE as u32).then_some(length - 1);
        for byte in (0..length).step_by(LINE).chain(last) {
            let offset = Operand::integer(i64::from(byte), Type::scalar(Element::I64));
            let address = self.w.address(Element::I8, first, offset);
            let cache = if l2 { L2 } else { L1 };
            let [read, cache, data] =
                [0, cache, 1].map(|hint| Operand::integer(hint, Type::scalar(Element::I32)));
            self.w.intrinsic_effect("llvm.prefetch", &[address.ty], &[address, read, cache, data]);
        }
    }

    /// A value in its representation in memory.
    pub(super) fn as_in_memory(&mut self, value: Value) -> Operand {
        let (dtype, value) = (self.kernel.values[value], self.value(value));
        if dtype == DType::Bool { self.w.convert("zext", value, Element::I8) } else { value }
    }

    pub(super) fn base(&self, place: Place) -> Operand {
        match place {
            Place::Buffer(buffer) => self.buffers[&buffer],
            Place::Scratch(scratch) => self.scratch[&scratch],
        }
    }

    /// The address of the element of lane 0, in two steps: the first does not change within the loop.
    fn neighbours(&mut self, element: Element, base: Operand, rest: Operand, iteration: Operand) -> Operand {
        let start = self.w.address(element, base, rest);
        self.w.address(element, start, iteration)
    }

    fn load_one(
        &mut self,
        element: Element,
        base: Operand,
        index: Operand,
        guard: Option<Operand>,
    ) -> Operand {
        let mut address = self.w.address(element, base, index);
        if let Some(guard) = guard {
            let zero = self.w.zeros(Type::scalar(element));
            address = self.w.select(guard, address, zero);
        }
        let align = bytes(element);
        let text = format!("load {element}, {}, align {align}", address.typed());
        self.w.instruction(Type::scalar(element), text)
    }

    pub(super) fn load_vector(
        &mut self,
        place: Place,
        element: Element,
        mut address: Operand,
        mut guard: Option<Operand>,
    ) -> Operand {
        let (ty, align) = (self.vector(element), bytes(element));
        if let Some(whole) = guard.take_if(|guard| guard.ty.lanes.is_none()) {
            let zeros = self.w.zeros(ty);
            address = self.w.select(whole, address, zeros);
        }
        if let (None, Some(left)) = (guard, self.lanes_in_pairs(place, element)) {
            return self.load_pairs(element, address, left);
        }
        match self.mask_of(place, guard) {
            None => self.w.instruction(ty, format_args!("load {ty}, {}, align {align}", address.typed())),
            Some(mask) => {
                let args = [address, alignment(element), mask, zero(ty)];
                self.w.intrinsic("llvm.masked.load", &[ty, address.ty], ty, &args)
            }
        }
    }

    fn gather(&mut self, element: Element, base: Operand, index: Operand, guard: Option<Operand>) -> Operand {
        let ty = self.vector(element);
        let mask = self.full_mask(guard);
        let index = self.splat(index);
        let addresses = self.w.address(element, base, index);
        let args = [addresses, alignment(element), mask, zero(ty)];
        self.w.intrinsic("llvm.masked.gather", &[ty, addresses.ty], ty, &args)
    }

    fn store_one(&mut self, base: Operand, index: Operand, value: Operand, guard: Option<Operand>) {
        let address = self.w.address(value.ty.element, base, index);
        let store =
            format!("store {}, {}, align {}", value.typed(), address.typed(), bytes(value.ty.element));
        match guard {
            None => self.w.effect(store),
            Some(guard) => self.w.only_if(guard, |w| w.effect(store)),
        }
    }

    pub(super) fn store_vector(
        &mut self,
        place: Place,
        address: Operand,
        value: Operand,
        guard: Option<Operand>,
    ) {
        let mut value = self.splat(value);
        let element = value.ty.element;
        if self.is_shuffled(place, element) {
            value = deinterleave::to_memory(&mut self.w, value);
        }
        if let (None, Some(left)) = (guard, self.lanes_in_pairs(place, element)) {
            return self.store_pairs(address, value, left);
        }
        match self.mask_of(place, guard) {
            None => self.store_unmasked(place, address, value),
            Some(mask) => {
                let args = [value, address, alignment(element), mask];
                self.w.intrinsic_effect("llvm.masked.store", &[value.ty, address.ty], &args);
            }
        }
    }

    pub(super) fn store_unmasked(&mut self, place: Place, address: Operand, value: Operand) {
        let align = bytes(value.ty.element);
        let store = format!("store {}, {}, align {align}", value.typed(), address.typed());
        let is_cached = match place {
            Place::Buffer(buffer) => self.is_cached(buffer, value.ty),
            Place::Scratch(_) => None,
        };
        match is_cached {
            Some(is_cached) => self.store_non_temporal(address, value, is_cached, &store),
            None => self.w.effect(store),
        }
    }

    fn scatter(&mut self, base: Operand, index: Operand, value: Operand, guard: Option<Operand>) {
        let value = self.splat(value);
        let mask = self.full_mask(guard);
        let index = self.splat(index);
        let addresses = self.w.address(value.ty.element, base, index);
        let args = [value, addresses, alignment(value.ty.element), mask];
        self.w.intrinsic_effect("llvm.masked.scatter", &[value.ty, addresses.ty], &args);
    }

    /// Lowers a fault word to the smallest value that the lanes report, in one step.
    pub(super) fn fault(&mut self, buffer: Buffer, word: u32, value: Value, condition: Value) {
        let (value, mut wrong) = (self.value(value), self.value(condition));
        let varies = value.ty.lanes.is_some() || wrong.ty.lanes.is_some();
        if let (true, Some(active)) = (varies, self.lane.and_then(|lane| lane.mask)) {
            wrong = self.w.binary("and", active, wrong);
        }
        let any = self.w.any(wrong);
        let position = Operand::integer(i64::from(word), Type::scalar(Element::I64));
        let (faults, lanes) = (self.buffers[&buffer], self.lanes());
        self.w.only_if(any, |w| {
            let min = min_of_lanes(w, value, wrong, lanes);
            let address = w.address(Element::I64, faults, position);
            let lower = format!("atomicrmw min {}, {} monotonic, align 8", address.typed(), min.typed());
            w.instruction(min.ty, lower);
        });
    }

    /// The lanes that have an iteration and whose guard holds; `None` for all.
    fn mask(&mut self, guard: Option<Operand>) -> Option<Operand> {
        let active = self.lane.and_then(|lane| lane.mask);
        self.both(active, guard)
    }

    /// The same for neighbours, in memory order.
    fn mask_of(&mut self, place: Place, guard: Option<Operand>) -> Option<Operand> {
        let by_lanes = self.holds_lanes(place);
        let active = self.lane.and_then(|lane| if by_lanes { lane.mask } else { lane.in_memory });
        self.both(active, guard)
    }

    /// Whether elements lie at a place in the order of deinterleaved lanes.
    pub(super) fn holds_lanes(&self, place: Place) -> bool {
        matches!(place, Place::Scratch(scratch) if self.analyses.deinterleaved.holds(scratch))
    }

    fn both(&mut self, active: Option<Operand>, guard: Option<Operand>) -> Option<Operand> {
        match (active, guard) {
            (Some(active), Some(guard)) => Some(self.w.binary("and", active, guard)),
            (active, guard) => active.or(guard).map(|mask| self.splat(mask)),
        }
    }

    fn full_mask(&mut self, guard: Option<Operand>) -> Operand {
        let all = Operand::integer(1, self.vector(Element::I1));
        self.mask(guard).unwrap_or(all)
    }
}

/// The smallest of `lanes` lanes where a condition holds.
fn min_of_lanes(w: &mut Writer<'_>, value: Operand, condition: Operand, lanes: u32) -> Operand {
    let (scalar, none) = (Type::scalar(Element::I64), kernel::NO_FAULT);
    if value.ty.lanes.or(condition.ty.lanes).is_none() {
        return value;
    }
    let value = w.splat(value, lanes);
    let reported = w.select(condition, value, none);
    w.intrinsic("llvm.vector.reduce.smin", &[reported.ty], scalar, &[reported])
}

fn bytes(element: Element) -> u32 {
    element.bits() / 8
}

/// The alignment as the operand that masked intrinsics take.
fn alignment(element: Element) -> Operand {
    Operand::integer(i64::from(bytes(element)), Type::scalar(Element::I32))
}

fn zero(ty: Type) -> Operand {
    if ty.element.is_float() { Operand::float(0.0, ty) } else { Operand::integer(0, ty) }
}
