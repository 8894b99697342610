//! A product with its matrices: whether they fit, and the algorithm for it.

use std::ffi::c_void;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::descriptors::{Description, Descriptors, Layout, Preference};
use super::status::{CublasResult, CublasStatus};
use crate::driver::{ElementType, Handle, Matrices};

/// Workspace bytes that the stand-in's algorithms use if they may have any.
const WORKSPACE_BYTES: usize = 4096;

/// `cublasLtMatmulAlgo_t`: the hash of the problem that it is for, its workspace, and the alignments of the addresses.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Algorithm {
    problem: u64,
    workspace_bytes: u64,
    alignments: [u32; 4],
    rest: [u64; 4],
}

/// The places of a product's matrices.
#[derive(Clone, Copy, Debug)]
pub enum Operand {
    A,
    B,
    C,
    Result,
}

/// A product of matrices that fit.
#[derive(Clone, Copy, Debug)]
pub struct Product {
    description: Description,
    layouts: [Layout; 4],
}

impl Algorithm {
    /// The caller's.
    pub fn read(algorithm: *const Algorithm) -> CublasResult<Algorithm> {
        if algorithm.is_null() {
            return Err(CublasStatus::NOT_SUPPORTED
                .because("the stand-in chooses no algorithm within cublasLtMatmul"));
        }
        // SAFETY: whoever calls cuBLASLt passes null or an algorithm.
        Ok(unsafe { algorithm.read_unaligned() })
    }

    /// Bytes of workspace that it needs.
    pub fn workspace_bytes(&self) -> usize {
        self.workspace_bytes as usize
    }
}

impl Product {
    /// The product of these matrices.
    pub fn of(all: &Descriptors, description: Handle, layouts: [Handle; 4]) -> CublasResult<Product> {
        let [a, b, c, result] = layouts.map(|layout| all.layouts.get(layout).copied());
        let problem =
            Product { description: *all.descriptions.get(description)?, layouts: [a?, b?, c?, result?] };
        problem.check_fit()?;
        Ok(problem)
    }

    fn check_fit(&self) -> CublasResult {
        let [a, b, c, result] = &self.layouts;
        let [of_a, of_b] =
            [(a, 0), (b, 1)].map(|(layout, operand)| match self.description.transposed[operand] {
                false => (layout.rows, layout.columns),
                true => (layout.columns, layout.rows),
            });
        let fits = of_a.1 == of_b.0
            && [c, result].iter().all(|layout| (layout.rows, layout.columns) == (of_a.0, of_b.1))
            && self.layouts.iter().all(|layout| layout.count == result.count);
        if !fits {
            return Err(
                CublasStatus::INVALID_VALUE.because(format!("matrices that do not fit: {:?}", self.layouts))
            );
        }
        let kinds = (a.kind, result.kind, self.description.is_double);
        let half = matches!(a.kind, ElementType::F16 | ElementType::Bf16);
        let known = a.kind == b.kind
            && c.kind == result.kind
            && match kinds {
                (ElementType::F64, ElementType::F64, is_double) => is_double,
                (ElementType::F32, ElementType::F32, is_double) => !is_double,
                (operands, result, false) => half && (result == operands || result == ElementType::F32),
                _ => false,
            };
        let text = || format!("no product of types {:?}", self.layouts.map(|layout| layout.kind));
        known.then_some(()).ok_or_else(|| CublasStatus::NOT_SUPPORTED.because(text()))
    }

    /// The algorithm for it.
    pub fn algorithm(&self, preference: &Preference) -> Algorithm {
        let workspace_bytes = WORKSPACE_BYTES.min(preference.workspace_bytes) as u64;
        Algorithm { problem: self.hash(), workspace_bytes, alignments: preference.alignments, rest: [0; 4] }
    }

    fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let Description { is_double, transposed, adds_bias, bias: _ } = self.description;
        (is_double, transposed, adds_bias).hash(&mut hasher);
        for Layout { kind, rows, columns, leading, count, stride } in self.layouts {
            (kind, rows, columns, leading, count, stride).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Checks that an algorithm is for this problem, these addresses and this workspace.
    pub fn check(
        &self,
        algorithm: Algorithm,
        at: [u64; 4],
        workspace: u64,
        workspace_bytes: usize,
    ) -> CublasResult {
        let invalid = |text: String| Err(CublasStatus::INVALID_VALUE.because(text));
        if algorithm.problem != self.hash() {
            return invalid("the algorithm is for another problem".to_owned());
        }
        for (operand, (address, alignment)) in at.into_iter().zip(algorithm.alignments).enumerate() {
            if !address.is_multiple_of(alignment.into()) {
                return invalid(format!(
                    "matrix {operand} at {address:#x} is not aligned to {alignment} bytes"
                ));
            }
        }
        if (workspace_bytes as u64) < algorithm.workspace_bytes || !workspace.is_multiple_of(256) {
            let needed = algorithm.workspace_bytes;
            return invalid(format!(
                "{workspace_bytes} bytes of workspace at {workspace:#x}, not {needed} aligned to 256"
            ));
        }
        Ok(())
    }

    /// A scalar on the host.
    pub fn scalar(&self, scalar: *const c_void) -> CublasResult<f64> {
        if scalar.is_null() {
            return Err(CublasStatus::INVALID_VALUE.because("alpha or beta is null"));
        }
        // SAFETY: whoever calls cuBLASLt passes a number of the type of scalars, which is on the host unless it says otherwise.
        Ok(unsafe {
            match self.description.is_double {
                true => scalar.cast::<f64>().read_unaligned(),
                false => scalar.cast::<f32>().read_unaligned().into(),
            }
        })
    }

    /// The vector that is added to each column of the result, as a matrix of one column for all.
    pub fn bias(&self) -> CublasResult<Option<Matrices>> {
        let Description { adds_bias, bias, .. } = self.description;
        let Layout { kind, rows, .. } = self.layouts[Operand::Result as usize];
        if adds_bias && (bias == 0 || !bias.is_multiple_of(kind.size() as u64)) {
            let text = format!("a bias of elements of {} bytes at {bias:#x}", kind.size());
            return Err(CublasStatus::INVALID_VALUE.because(text));
        }
        let (columns, leading, count, stride, is_transposed) = (1, rows, 1, 0, false);
        let vector = Matrices { address: bias, kind, rows, columns, leading, count, stride, is_transposed };
        Ok(adds_bias.then_some(vector))
    }

    /// A matrix of it in memory.
    pub fn matrices(&self, operand: Operand, at: [u64; 4]) -> Matrices {
        let Layout { kind, rows, columns, leading, count, stride } = self.layouts[operand as usize];
        let is_transposed = self.description.transposed.get(operand as usize).is_some_and(|&is| is);
        let address = at[operand as usize];
        Matrices { address, kind, rows, columns, leading, count, stride, is_transposed }
    }
}
