//! Non-temporal stores: whole vectors into large buffers that are not read soon.
//!
//! The caller of the kernel says which buffers are written non-temporally, by a bit for each; whether a vector can be
//! depends on its address. Both are one test before each store. LLVM would make ordinary stores of non-temporal ones of half
//! types, so the instruction is written as assembly.

use kernel::{Access, Buffer, Loop, Place, Stmt};

use super::memory::{LINE, MemoryEmitter};
use super::operand::{Element, Operand, Type};
use super::writer::Writer;

/// The most buffers that have a bit.
const MAX_BUFFERS: usize = 64;

/// The most rows or buffers to which non-temporal stores write parts of lines in turn. Each holds one of the processor's
/// fill buffers until its line is full; when they run out, parts are written to memory. In eight rows, 32 bytes each, a
/// gradient of softmax took three times as long as with ordinary stores, four buffers 0.95 of that (Xeon, AVX2).
const MAX_PARTIAL_LINES: usize = 4;

impl MemoryEmitter<'_> {
    /// For each written buffer a number: 1 if its stores are cached, 0 if they are non-temporal.
    pub(super) fn non_temporal_buffers(&mut self, bits: Operand) {
        if !self.w.isa.non_temporal_stores {
            return;
        }
        let kernel = self.kernel;
        for (place, (buffer, decl)) in kernel.buffers.iter().enumerate().take(MAX_BUFFERS) {
            if decl.access == Access::Write {
                let bit = self.w.binary("lshr", bits, place as i64);
                let bit = self.w.binary("and", bit, 1);
                let is_cached = self.w.binary("xor", bit, 1);
                self.is_cached.insert(buffer, is_cached);
            }
        }
    }

    /// The number of a buffer, if vectors of this type can be stored to it non-temporally.
    pub(super) fn is_cached(&self, buffer: Buffer, ty: Type) -> Option<Operand> {
        let bits = ty.lanes.unwrap_or(1) * ty.element.bits();
        let fills_lines = self.lane.is_some_and(|lane| lane.fills_lines);
        let unit = if fills_lines { self.w.isa.vector_bits } else { 8 * LINE as u32 };
        self.is_cached.get(&buffer).copied().filter(|_| bits.is_multiple_of(unit))
    }

    /// Whether iterations of a loop over lanes fill the lines that they write, if not each one, then one of the next.
    pub(super) fn fills_lines(&self, for_loop: &Loop) -> bool {
        let stores_vector = |statement: &&Stmt| match statement {
            Stmt::Store { place: Place::Buffer(_), index, guard: None, .. } => {
                index.split_linear(for_loop.var).is_some_and(|(step, _)| step.is_one())
            }
            _ => false,
        };
        for_loop.body.iter().filter(stores_vector).count() <= MAX_PARTIAL_LINES
    }

    /// Stores a vector non-temporally if its address allows it and `is_cached` is 0, otherwise normally.
    pub(super) fn store_non_temporal(
        &mut self,
        address: Operand,
        value: Operand,
        is_cached: Operand,
        store: &str,
    ) {
        let register = self.w.isa.vector_bits / 8;
        let place = self.w.convert("ptrtoint", address, Element::I64);
        let odd = self.w.binary("or", place, is_cached);
        let odd = self.w.binary("and", odd, i64::from(register) - 1);
        let plain = self.w.compare("icmp ne", odd, 0);
        let (cached, non_temporal, done) = (self.w.label(), self.w.label(), self.w.label());
        self.w.branch_if(plain, cached, non_temporal);
        self.w.begin(cached);
        self.w.effect(store);
        self.w.branch(done);
        self.w.begin(non_temporal);
        store_registers(&mut self.w, address, value);
        self.w.branch(done);
        self.w.begin(done);
    }

    /// Makes non-temporal stores visible to other processors before these are told of them.
    pub(super) fn fence(&mut self, bits: Operand) {
        if self.is_cached.is_empty() {
            return;
        }
        let any = self.w.compare("icmp ne", bits, 0);
        self.w.only_if(any, |w| w.intrinsic_effect("llvm.x86.sse.sfence", &[], &[]));
    }
}

/// Register by register.
fn store_registers(w: &mut Writer<'_>, address: Operand, value: Operand) {
    let floats = w.isa.vector_bits / 32;
    let count = value.ty.lanes.unwrap_or(1) * value.ty.element.bits() / 32;
    let whole = Type { element: Element::F32, lanes: Some(count) };
    let value = w.instruction(whole, format_args!("bitcast {} to {whole}", value.typed()));
    let opcode = if w.isa.vector_bits > 128 { "vmovntps" } else { "movntps" };
    for from in (0..count).step_by(floats as usize) {
        let piece = if count == floats { value } else { w.slice(value, from, floats) };
        let constraint = if w.isa.avx512 { "v" } else { "x" };
        let offset = Operand::integer(from.into(), Type::scalar(Element::I64));
        let to = w.address(Element::F32, address, offset);
        w.effect(format_args!(
            "call void asm sideeffect \"{opcode} $1, $0\", \"=*m,{constraint}\"(ptr elementtype({}) {to}, {})",
            piece.ty,
            piece.typed(),
        ));
    }
}
