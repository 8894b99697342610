//! Reductions that lanes do together.

use ferrofuse_kernel::{Stmt, joined_reductions, parse};

#[test]
fn reductions_are_joined_unless_what_they_reduce_changes() {
    let kernel = parse(
        "kernel k(i0) lanes 32 {
  symbols block, i0, x0
  blocks block in 0 .. 1
  write b0: f32 n0
  v0: f32 = const 0.0
  acc a0: f32 = v0
  acc a1: f32 = v0
  acc a2: f32 = v0
  v1: f32 = reduce sum a0
  v2: f32 = reduce max a1
  v3: f32 = reduce sum a1
  set a2 = v1
  v4: f32 = reduce sum a2
  store b0[0] = v4
}
",
    );
    let kernel = kernel.expect("it is a kernel");
    let is_reduction = |statement: &Stmt| matches!(statement, Stmt::Reduce { .. });
    let first = kernel.body.iter().position(is_reduction).expect("it reduces");
    assert_eq!(joined_reductions(&kernel, &kernel.body, first).places, [first, first + 2]);
    assert_eq!(joined_reductions(&kernel, &kernel.body, first + 1).places, [first + 1]);
}
