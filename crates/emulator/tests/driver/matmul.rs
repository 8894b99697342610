//! cuBLASLt: products in the order of streams, and its strict rules.

use std::ffi::c_int;
use std::ptr;

use crate::functions::{Address, Handle};
use crate::machine::{Context, Machine, assert_says, code, ok};

const INVALID_VALUE: i32 = 7;
const FLOATS: c_int = 0;

/// A product of 2x3 by 3x2 numbers, column-major, with an algorithm for addresses of 16 bytes.
struct Product<'c> {
    context: &'c Context,
    handle: Handle,
    description: Handle,
    /// Of the operands and of the result.
    layouts: [Handle; 3],
    /// `cublasLtMatmulHeuristicResult_t`: the algorithm first, then the bytes of its workspace.
    found: [u64; 16],
    operands: [Address; 2],
    workspace: Address,
}

impl<'c> Product<'c> {
    fn new(context: &'c Context) -> Product<'c> {
        const F32: c_int = 68;
        let (mut handle, mut description, mut preference) =
            (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        ok!(context.cu, cublasLtCreate(&mut handle));
        ok!(context.cu, cublasLtMatmulDescCreate(&mut description, F32, FLOATS));
        ok!(context.cu, cublasLtMatmulPreferenceCreate(&mut preference));
        let (most, alignment) = (1_usize << 20, 16_u32);
        ok!(context.cu, cublasLtMatmulPreferenceSetAttribute(preference, 1, (&raw const most).cast(), 8));
        for attribute in 5..=8 {
            let alignment = (&raw const alignment).cast();
            ok!(context.cu, cublasLtMatmulPreferenceSetAttribute(preference, attribute, alignment, 4));
        }
        let layouts = [(2, 3), (3, 2), (2, 2)].map(|(rows, columns)| layout(context, rows, columns));
        let [a, b, d] = layouts;
        let (mut found, mut count) = ([0_u64; 16], 0);
        ok!(
            context.cu,
            cublasLtMatmulAlgoGetHeuristic(
                handle,
                description,
                a,
                b,
                d,
                d,
                preference,
                1,
                &mut found,
                &mut count
            )
        );
        ok!(context.cu, cublasLtMatmulPreferenceDestroy(preference));
        assert_eq!(count, 1);
        let floats = |numbers: [f32; 6]| context.upload(&numbers.map(|number| number.to_bits() as i32));
        let operands = [floats([1.0, 4.0, 2.0, 5.0, 3.0, 6.0]), floats([7.0, 9.0, 11.0, 8.0, 10.0, 12.0])];
        let workspace = context.allocate(found[8] as usize);
        Product { context, handle, description, layouts, found, operands, workspace }
    }

    fn run(&self, result: Address, workspace_bytes: usize, stream: Handle) -> c_int {
        let ([a, b], [of_a, of_b, of_d]) = (self.operands, self.layouts);
        let (one, zero) = (1.0_f32, 0.0_f32);
        code!(
            self.context.cu,
            cublasLtMatmul(
                self.handle,
                self.description,
                &one,
                a,
                of_a,
                b,
                of_b,
                &zero,
                result,
                of_d,
                result,
                of_d,
                self.found.as_ptr(),
                self.workspace,
                workspace_bytes,
                stream
            )
        )
    }

    fn destroy(self) {
        for layout in self.layouts {
            ok!(self.context.cu, cublasLtMatrixLayoutDestroy(layout));
        }
        ok!(self.context.cu, cublasLtMatmulDescDestroy(self.description));
        ok!(self.context.cu, cublasLtDestroy(self.handle));
    }
}

fn layout(context: &Context, rows: u64, columns: u64) -> Handle {
    let mut layout = ptr::null_mut();
    ok!(context.cu, cublasLtMatrixLayoutCreate(&mut layout, FLOATS, rows, columns, rows as i64));
    layout
}

#[test]
fn a_product_waits_in_its_stream() {
    let machine = Machine::new();
    let context = machine.context(0);
    let (product, stream) = (Product::new(&context), context.stream(1));
    let result = context.allocate(16);
    assert_eq!(product.run(result, product.found[8] as usize, stream), 0);
    assert!(machine.get("pending") > 0);
    ok!(context.cu, cuStreamSynchronize(stream));
    let floats: Vec<f32> =
        context.read(result, 4).into_iter().map(|bits| f32::from_bits(bits as u32)).collect();
    assert_eq!(floats, [58.0, 139.0, 64.0, 154.0]);
    product.destroy();
    assert_eq!(machine.get("cublas_objects"), 0);
}

#[test]
fn it_is_strict() {
    let machine = Machine::new();
    let context = machine.context(0);
    let (mut product, stream) = (Product::new(&context), context.stream(1));
    let (result, bytes) = (context.allocate(64), product.found[8] as usize);
    assert_says(product.run(result, bytes - 1, stream), INVALID_VALUE, "bytes of workspace");
    assert_says(product.run(result + 4, bytes, stream), INVALID_VALUE, "not aligned to 16 bytes");
    let wide = (1_i64, 4);
    let [a, ..] = product.layouts;
    let set = code!(context.cu, cublasLtMatrixLayoutSetAttribute(a, 6, (&raw const wide.0).cast(), wide.1));
    assert_says(set, INVALID_VALUE, "attribute 6 has 8 bytes, not 4");
    let other = std::mem::replace(&mut product.layouts[0], layout(&context, 3, 3));
    assert_says(product.run(result, bytes, stream), INVALID_VALUE, "matrices that do not fit");
    let own = std::mem::replace(&mut product.layouts[0], other);
    ok!(context.cu, cublasLtMatrixLayoutDestroy(own));
    product.found[0] ^= 1;
    assert_says(product.run(result, bytes, stream), INVALID_VALUE, "for another problem");
    product.destroy();
}
