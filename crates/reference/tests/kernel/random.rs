//! Random kernels: those that the builder writes verify, print and read back equal, and run the same in every order unless
//! they race; damaged texts never cause a panic.

use ferrofuse_reference::interpret::{DenseMemory, LaneOrder, Options, interpret};
use index::{Expr, Sym};
use kernel::{
    Access, Accumulator, Buffer, Kernel, KernelBuilder, LoopKind, Scratch, Value, has_width, one_at_a_time,
    parse, uniformity, verify,
};
use ops::{DType, Monoid, Operand, Scalar, ScalarOp, signature};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

/// The source of choices; when it is empty, every choice is the first.
struct Choices<'a>(&'a [u64]);

impl Choices<'_> {
    fn draw(&mut self) -> u64 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.draw() % bound as u64) as usize
    }

    fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

/// The names in scope in an open body.
struct Scope {
    values: usize,
    accumulators: usize,
    variables: usize,
    over_lanes: bool,
}

/// A random kernel that obeys the verifier.
struct Writer<'a> {
    choices: Choices<'a>,
    builder: KernelBuilder,
    values: Vec<Value>,
    /// Accumulators that have a copy per lane.
    accumulators: Vec<Accumulator>,
    variables: Vec<Sym>,
    scopes: Vec<Scope>,
    read: [Buffer; 2],
    written: Buffer,
    scratch: Scratch,
    /// The array that `transpose` loops copy to.
    reversed: Scratch,
    /// The number of stores to elements of the output that no other statement stores to.
    own_stores: i64,
}

/// Stores a number to every element of scratch, for all lanes to read.
fn fill(builder: &mut KernelBuilder, scratch: Scratch, size: Sym) {
    let dtype = builder.element_dtype(scratch);
    let one = builder.constant(Scalar::one(dtype));
    let end = Expr::sym(size) + Expr::constant(8);
    builder.for_lanes(Expr::zero(), end, |builder, x| builder.store(scratch, Expr::sym(x), one));
    builder.barrier();
}

impl<'a> Writer<'a> {
    fn new(choices: &'a [u64]) -> Self {
        let mut choices = Choices(choices);
        let mut builder = KernelBuilder::new("random", 1 << choices.below(5));
        let size = builder.argument("i0");
        let read = [DType::F32, DType::BF16].map(|dtype| builder.buffer("T0", dtype, Access::Read));
        let written = builder.buffer("T1", choices.one_of(&DType::REAL), Access::Write);
        let scratch = builder.scratch(choices.one_of(&DType::REAL), Expr::sym(size) + Expr::constant(8));
        let reversed = builder.scratch(DType::F32, Expr::constant(8));
        let block = builder.blocks(Expr::sym(size));
        let first = builder.constant(Scalar::from_f64(DType::F32, 0.1));
        if choices.below(4) > 0 {
            fill(&mut builder, scratch, size);
        }
        let (values, accumulators, variables) = (vec![first], vec![], vec![size, block]);
        Self {
            choices,
            builder,
            values,
            accumulators,
            variables,
            scopes: vec![],
            read,
            written,
            scratch,
            reversed,
            own_stores: 0,
        }
    }

    fn write(mut self, statements: usize) -> Kernel {
        for _ in 0..statements {
            self.statement();
        }
        while !self.scopes.is_empty() {
            self.leave();
        }
        self.builder.finish()
    }

    fn in_lanes(&self) -> bool {
        self.scopes.iter().any(|scope| scope.over_lanes)
    }

    fn statement(&mut self) {
        match self.choices.below(15) {
            0 => self.constant(),
            1 => {
                let index = self.index();
                let value = self.builder.index(index);
                self.values.push(value);
            }
            2 | 3 => self.apply(),
            4 => {
                let (arg, dtype) = (self.value(), self.choices.one_of(&DType::REAL));
                let value = self.builder.cast(arg, dtype);
                self.values.push(value);
            }
            5 => self.load(),
            6 => self.store(),
            7 => self.accumulator(),
            8 => self.reuse_accumulator(),
            9 => self.enter(true),
            10 => self.enter(false),
            11 if !self.scopes.is_empty() => self.leave(),
            12 if !self.in_lanes() => self.builder.barrier(),
            13 if !self.in_lanes() => {
                self.builder.barrier();
                self.transpose();
            }
            14 => {
                let (buffer, index) = (self.choices.one_of(&self.read), self.index());
                let l2 = self.choices.below(2) == 1;
                self.builder.prefetch(buffer, index, l2);
            }
            _ => self.reduce(),
        }
    }

    fn constant(&mut self) {
        let dtype = self.choices.one_of(&DType::REAL);
        let value = self.builder.constant(Scalar::from_bits(dtype, self.choices.draw()));
        self.values.push(value);
    }

    fn value(&mut self) -> Value {
        self.choices.one_of(&self.values)
    }

    fn value_as(&mut self, dtype: DType) -> Value {
        let value = self.value();
        self.builder.cast(value, dtype)
    }

    fn index(&mut self) -> Expr {
        let (a, b) = (self.choices.one_of(&self.variables), self.choices.one_of(&self.variables));
        let number = Expr::constant(self.choices.below(9) as i64);
        match self.choices.below(4) {
            0 => number,
            1 => Expr::sym(a) + number,
            2 => (Expr::sym(a) * Expr::sym(b)).modulo(&(number + Expr::constant(1))),
            _ => Expr::max(&(Expr::sym(a) - Expr::sym(b)), &number),
        }
    }

    fn guard(&mut self) -> Option<Value> {
        (self.choices.below(2) == 1).then(|| self.value_as(DType::Bool))
    }

    /// Any op on any values, cast to the compute dtypes; an op that does not apply leaves no trace.
    fn apply(&mut self) {
        let op = self.choices.one_of(ScalarOp::ALL);
        if op.touches_complex() {
            return;
        }
        let args: Vec<Value> = op.row().params.iter().map(|_| self.value()).collect();
        let operands: Vec<Operand> =
            args.iter().map(|&arg| Operand::tensor(self.builder.dtype(arg))).collect();
        let Ok(signature) = signature(op, &operands) else { return };
        let casts = args.iter().zip(&signature.compute).map(|(&arg, &dtype)| self.builder.cast(arg, dtype));
        let args: Vec<Value> = casts.collect();
        let value = self.builder.apply(op, &args);
        self.values.push(value);
    }

    fn load(&mut self) {
        let (index, guard) = (self.index(), self.guard());
        let value = match self.choices.below(3) {
            2 => self.builder.load_if(self.scratch, index, guard),
            which => self.builder.load_if(self.read[which], index, guard),
        };
        self.values.push(value);
    }

    fn store(&mut self) {
        if self.scopes.is_empty() && self.own_stores < 5 {
            return self.store_own();
        }
        let (index, guard) = (self.index(), self.guard());
        if self.choices.below(8) == 0 {
            let value = self.value_as(self.builder.element_dtype(self.written));
            self.builder.store_if(self.written, index, value, guard);
        } else {
            let value = self.value_as(self.builder.element_dtype(self.scratch));
            self.builder.store_if(self.scratch, index, value, guard);
        }
    }

    /// Copies eight elements, or half of them, across.
    fn transpose(&mut self) {
        let rows = Expr::constant(1 + self.choices.below(2) as i64);
        let row = Expr::sym(self.builder.open_loop("x0", Expr::zero(), rows, LoopKind::Transpose, 1));
        let column =
            Expr::sym(self.builder.open_loop("x1", Expr::zero(), Expr::constant(4), LoopKind::Lanes, 1));
        let value = self.builder.load(self.read[0], row.clone() * Expr::constant(4) + column.clone());
        self.builder.store(self.reversed, column * Expr::constant(2) + row, value);
        self.builder.close_loop();
        self.builder.close_loop();
        self.builder.barrier();
        let value = self.builder.load(self.reversed, Expr::constant(2));
        self.values.push(value);
    }

    /// Each of the three blocks that the tests run has its own five elements of the output.
    fn store_own(&mut self) {
        let index = Expr::sym(self.variables[1]) + Expr::constant(3 * self.own_stores);
        let value = self.value_as(self.builder.element_dtype(self.written));
        self.builder.store(self.written, index, value);
        self.own_stores += 1;
    }

    /// Opens an accumulator and adds to it in a loop over lanes, so that it has a copy per lane.
    fn accumulator(&mut self) {
        let init = self.value();
        let accumulator = self.builder.open(init);
        if self.in_lanes() {
            self.builder.set(accumulator, init);
        } else {
            let end = self.index();
            self.builder.for_lanes(Expr::zero(), end, |builder, _| {
                let value = builder.get(accumulator);
                builder.set(accumulator, value);
            });
        }
        self.accumulators.push(accumulator);
    }

    fn reuse_accumulator(&mut self) {
        if self.accumulators.is_empty() {
            return;
        }
        let accumulator = self.choices.one_of(&self.accumulators);
        if self.in_lanes() {
            let value = self.builder.get(accumulator);
            self.values.push(value);
        } else {
            let value = self.value_as(self.builder.accumulator_dtype(accumulator));
            self.builder.set(accumulator, value);
        }
    }

    fn reduce(&mut self) {
        let floats: Vec<Accumulator> = self
            .accumulators
            .iter()
            .copied()
            .filter(|&id| [DType::F32, DType::F64].contains(&self.builder.accumulator_dtype(id)))
            .collect();
        if !self.in_lanes() && !floats.is_empty() {
            let accumulator = self.choices.one_of(&floats);
            let monoid = [Monoid::Sum, Monoid::Max][self.choices.below(2)].clone();
            let values = self.builder.reduce(monoid, &[accumulator], false);
            self.values.extend(values);
        }
    }

    fn enter(&mut self, over_lanes: bool) {
        if self.in_lanes() || self.scopes.len() == 3 {
            return;
        }
        let (begin, end) = (Expr::constant(self.choices.below(3) as i64), self.index());
        self.scopes.push(Scope {
            values: self.values.len(),
            accumulators: self.accumulators.len(),
            variables: self.variables.len(),
            over_lanes,
        });
        let kind = match over_lanes {
            true => LoopKind::Lanes,
            false => self.choices.one_of(&[LoopKind::Serial, LoopKind::Remainder]),
        };
        let width = if over_lanes { 1 << self.choices.below(3) } else { 1 };
        let var = self.builder.open_loop("x0", begin, end, kind, width);
        self.variables.push(var);
    }

    fn leave(&mut self) {
        let scope = self.scopes.pop().expect("a loop is open");
        self.builder.close_loop();
        self.values.truncate(scope.values);
        self.accumulators.truncate(scope.accumulators);
        self.variables.truncate(scope.variables);
    }
}

/// The contents of the buffers of a random kernel before it runs.
fn memory(kernel: &Kernel) -> Vec<DenseMemory> {
    let numbers: Vec<f64> = (0..16).map(|index| f64::from(index) * 0.3 - 1.0).collect();
    kernel.buffers.values().map(|decl| DenseMemory::from_f64s(decl.dtype, &numbers)).collect()
}

/// Their contents afterwards, or `None` if the run failed.
fn outcome(kernel: &Kernel, lanes: LaneOrder, seed: u64) -> Option<Vec<DenseMemory>> {
    let mut buffers = memory(kernel);
    let args = vec![3; kernel.arguments.len()];
    let options = Options { seed, lanes, step_limit: 40_000, contracts: false };
    interpret(kernel, &args, &mut buffers, &options).ok().map(|()| buffers)
}

#[test]
fn many_random_kernels_store_results() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let choices = prop::collection::vec(any::<u64>(), 100..300);
    let stores = |_: &u32| {
        let choices = choices.new_tree(&mut runner).expect("a list").current();
        let kernel = Writer::new(&choices).write(40);
        outcome(&kernel, LaneOrder::Forward, 0).is_some_and(|after| after != memory(&kernel))
    };
    let fruitful = (0..200).filter(stores).count();
    assert!((40..200).contains(&fruitful), "{fruitful} of 200");
}

proptest! {
    #[test]
    fn built_kernels_read_back_equal(choices in prop::collection::vec(any::<u64>(), 0..300)) {
        let kernel = Writer::new(&choices).write(60);
        prop_assert_eq!(verify(&kernel), Ok(()));
        let text = kernel.to_string();
        let again = parse(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(&again, &kernel);
        prop_assert_eq!(again.to_string(), text);
    }

    #[test]
    fn the_order_of_lanes_and_blocks_does_not_matter(choices in prop::collection::vec(any::<u64>(), 0..300)) {
        let kernel = Writer::new(&choices).write(40);
        let forward = outcome(&kernel, LaneOrder::Forward, 0);
        for (lanes, seed) in [(LaneOrder::Reverse, 1), (LaneOrder::Random(5), 2)] {
            prop_assert_eq!(&outcome(&kernel, lanes, seed), &forward);
        }
    }

    #[test]
    fn one_iteration_at_a_time_is_the_same_kernel(choices in prop::collection::vec(any::<u64>(), 0..300)) {
        let kernel = Writer::new(&choices).write(40);
        let narrow = one_at_a_time(&kernel);
        prop_assert!(!has_width(&narrow));
        prop_assert_eq!(verify(&narrow), Ok(()));
        if let Some(wide) = outcome(&kernel, LaneOrder::Forward, 0) {
            prop_assert_eq!(outcome(&narrow, LaneOrder::Reverse, 1), Some(wide));
        }
    }

    #[test]
    fn damaged_texts_do_no_harm(
        choices in prop::collection::vec(any::<u64>(), 0..200),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = Writer::new(&choices).write(25).to_string().into_bytes();
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = if byte < 128 { byte } else { bytes[usize::from(byte) % bytes.len()] };
        }
        if let Ok(kernel) = parse(&String::from_utf8_lossy(&bytes)) {
            let text = kernel.to_string();
            prop_assert_eq!(parse(&text), Ok(kernel.clone()));
            outcome(&kernel, LaneOrder::Forward, 0);
            if verify(&kernel).is_ok() {
                uniformity(&kernel);
            }
        }
    }

    #[test]
    fn any_text_is_read_or_rejected(text in "(\\PC|\n){0,200}") {
        let _ = parse(&format!("kernel k(i0) lanes 4 {{\nsymbols i0, x\nblocks x in 0 .. i0\n{text}"));
        let _ = parse(&text);
    }
}
