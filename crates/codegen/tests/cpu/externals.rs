//! The functions that compiled kernels may call.

use ferrofuse_codegen::cpu::externals::address;
use ops::{CpuSpelling, ScalarOp};

#[test]
fn what_the_rows_call_is_here() {
    for op in ScalarOp::ALL {
        let row = op.row();
        for spelling in [row.cpu.float, row.cpu.int, row.cpu.unsigned].into_iter().flatten() {
            if let CpuSpelling::Call { narrow, wide } = spelling {
                assert!(address(narrow).is_some() && address(wide).is_some(), "{}", op.name());
            }
        }
    }
    assert_eq!(address("system"), None);
}
