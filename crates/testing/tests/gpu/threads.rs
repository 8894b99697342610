//! Calls from many threads do not disturb each other.

use std::thread;

use ferrofuse::CallOptions;
use ir::array::Layout;

use crate::tensors::{argument, downloaded, executable, stream, uploaded};

#[test]
fn threads_call_on_streams_of_their_own() {
    let executable = executable(
        "    s = fd.ops.sum(x, dims=[1], keepdim=True)\n    fd.add_output(fd.ops.mul(fd.ops.sub(x, s), y), x)\n",
    );
    thread::scope(|scope| {
        for thread in 0..8 {
            let executable = &executable;
            scope.spawn(move || {
                let stream = stream();
                let y = uploaded(&stream, &[2.0; 6]);
                for call in 0..50 {
                    let start = (thread * 50 + call) as f32;
                    let x = uploaded(&stream, &[start, 1.0, 2.0, 3.0, 4.0, 5.0]);
                    let dense = || Layout::dense(&[2, 3]);
                    let inputs = [argument(&x, 0, dense(), true), argument(&y, 0, dense(), false)];
                    executable.run_on_gpu(&CallOptions::default(), &stream, &inputs).expect("runs");
                    let expected = [-6.0, -2.0 * (start + 2.0), -2.0 * (start + 1.0), -18.0, -16.0, -14.0];
                    assert_eq!(downloaded(&stream, x.address(), 6), expected);
                }
            });
        }
    });
}
