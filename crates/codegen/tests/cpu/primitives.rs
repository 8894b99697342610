//! Every primitive on every dtype it has code for, at special values in all combinations.

use ferrofuse_codegen::cpu::Isa;
use llvm::CpuTarget;
use ops::{DType, Operand, Scalar, ScalarOp, signature};
use reference::interpret::DenseMemory;

use crate::harness::{check, compile, kernel, llvm, memory, runnable, special_values};

/// One application of a primitive: operand dtypes and that of the result.
struct Case {
    op: ScalarOp,
    operands: Vec<DType>,
    result: DType,
}

/// The applications that have code: each primitive on each compute dtype.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &op in ScalarOp::ALL {
        for dtype in DType::REAL.into_iter().filter(|dtype| op.row().cpu.of(*dtype).is_some()) {
            let mut operands = vec![dtype; op.row().params.len()];
            if op == ScalarOp::Where {
                operands[0] = DType::Bool;
            }
            let typed: Vec<Operand> = operands.iter().map(|&dtype| Operand::tensor(dtype)).collect();
            match signature(op, &typed) {
                Ok(signature) if signature.compute.as_slice() == operands => {
                    cases.push(Case { op, operands, result: signature.result_compute });
                }
                _ => {}
            }
        }
    }
    cases
}

impl Case {
    fn text(&self, lanes: u32) -> String {
        let mut text =
            format!("kernel one(n) lanes {lanes} {{\n symbols n, block, x\n blocks block in 0 .. 1\n");
        for (index, dtype) in self.operands.iter().enumerate() {
            text += &format!(" read b{index}: {dtype} in{index}\n");
        }
        let count = self.operands.len();
        text += &format!(" write b{count}: {} out\n for x in 0 .. n lanes {{\n", self.result);
        for (index, dtype) in self.operands.iter().enumerate() {
            text += &format!("  v{index}: {dtype} = load b{index}[x]\n");
        }
        let args: Vec<String> = (0..count).map(|index| format!("v{index}")).collect();
        let (name, result) = (self.op.name(), self.result);
        text + &format!(
            "  v{count}: {result} = {name} {}\n  store b{count}[x] = v{count}\n }}\n}}\n",
            args.join(", ")
        )
    }

    /// All combinations of special values, one array per operand, and room for the result.
    fn buffers(&self) -> Vec<DenseMemory> {
        let mut rows: Vec<Vec<Scalar>> = vec![vec![]];
        for &dtype in &self.operands {
            let values = special_values(dtype);
            rows = rows
                .iter()
                .flat_map(|row| values.iter().map(move |&value| [row.as_slice(), &[value]].concat()))
                .collect();
        }
        rows.retain(|row| row.first().is_none_or(|first| self.op.specifies(first.as_f64())));
        let column = |index: usize| rows.iter().map(|row| row[index]).collect::<Vec<Scalar>>();
        let mut buffers: Vec<DenseMemory> =
            self.operands.iter().enumerate().map(|(index, &dtype)| memory(dtype, &column(index))).collect();
        buffers.push(DenseMemory::zeros(self.result, rows.len()));
        buffers
    }

    /// The other allowed result of a product and a sum in one: the product is rounded too.
    fn rounded_twice(&self, lanes: u32) -> Option<String> {
        let apart = format!("v4: {0} = mul v0, v1\n  v3: {0} = add v4, v2\n", self.result);
        let together = format!("v3: {} = mul_add v0, v1, v2\n", self.result);
        (self.op == ScalarOp::MulAdd).then(|| self.text(lanes).replace(&together, &apart))
    }

    fn check(&self, lanes: u32, target: CpuTarget) {
        let buffers = self.buffers();
        let ulp = self.op.row().ulp;
        let allowed = if ulp <= 0.5 { 0.0 } else { ulp + 0.5 };
        let own = kernel(&self.text(lanes));
        let meant = self.rounded_twice(lanes).filter(|_| !Isa::new(&llvm(), target).fma);
        let meant = meant.map_or_else(|| own.clone(), |text| kernel(&text));
        check(&meant, &compile(&own, target), &[buffers[0].len() as i64], &buffers, allowed);
    }
}

#[test]
fn every_primitive_on_the_host_with_every_vector_length() {
    for case in cases() {
        for lanes in [1, 4, 8, 16] {
            case.check(lanes, CpuTarget::Host);
        }
    }
}

#[test]
fn every_primitive_for_every_target_that_runs_here() {
    for target in runnable() {
        for case in cases() {
            case.check(8, target);
        }
    }
}

#[test]
fn most_primitives_have_code() {
    let has_case = |op: &ScalarOp| cases().iter().any(|case| case.op == *op);
    // Kernels represent complex numbers by their parts.
    let left_out: Vec<ScalarOp> =
        ScalarOp::ALL.iter().copied().filter(|op| !op.touches_complex() && !has_case(op)).collect();
    assert!(left_out.is_empty(), "{left_out:?}");
}
