//! A kernel written from the outside in.

use ferrofuse_kernel::{Access, KernelBuilder, verify};
use index::Expr;
use ops::{DType, ScalarOp};

#[test]
fn what_is_written_verifies() {
    let mut b = KernelBuilder::new("double", 8);
    let size = b.argument("i0");
    let input = b.buffer("T0", DType::F32, Access::Read);
    let output = b.buffer("T1", DType::F32, Access::Write);
    b.for_lanes(Expr::zero(), Expr::sym(size), |b, x| {
        let value = b.load(input, Expr::sym(x));
        let doubled = b.apply(ScalarOp::Add, &[value, value]);
        b.store(output, Expr::sym(x), doubled);
    });
    let kernel = b.finish();
    assert_eq!(verify(&kernel), Ok(()));
}
