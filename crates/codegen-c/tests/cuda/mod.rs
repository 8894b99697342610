//! The text of small kernels, word for word, and rejections. The results of the text are tested under the emulator.

use index::Expr;
use kernel::{Access, Kernel, KernelBuilder, parse};
use ops::DType;

use ferrofuse_codegen_c::cuda::{EmitError, Parameter, emit};

fn kernel(text: &str) -> Kernel {
    parse(text).unwrap_or_else(|error| panic!("{error}"))
}

const MUL: &str = "
kernel mul(i0) lanes 64 {
  symbols i0, block, i
  blocks block in 0 .. ((i0 + 255) // 256)
  read b0: bf16 x
  read b1: bf16 x
  write b2: bool int
  for i in 256*block .. min(256*block + 256, i0) lanes {
    v0: bf16 = load b0[i]
    v1: bf16 = load b1[i]
    v2: f32 = cast v0
    v3: f32 = cast v1
    v4: f32 = mul v2, v3
    v5: bool = cast v4
    store b2[i] = v5
  }
}";

#[test]
fn a_pointwise_kernel() {
    let expected = "\
// mul: reads x (bf16), x_ (bf16); writes int_ (bool).
// Blocks: floor_div(i0 + 255, 256). Threads of a block: 64.

#ifndef CUEMU
#define PTX(...) asm(__VA_ARGS__)
#endif
typedef unsigned short bf16;  // by its bits
static __device__ inline float bf16_to_f32(bf16 x) {
  float y = __uint_as_float((unsigned)x << 16);
  PTX(\"mov.b32 %0, {%1, %2};\" : \"=f\"(y) : \"h\"((bf16)0), \"h\"(x));
  return y;
}

extern \"C\" __global__ void __launch_bounds__(64) mul(
    const bf16* __restrict__ x, const bf16* __restrict__ x_, unsigned char* __restrict__ int_, long long i0) {
  const long long block = blockIdx.x;
  for (long long i = 256 * block + threadIdx.x; i < min(256 * block + 256, i0); i += 64) {
    const bool v5 = (bf16_to_f32(x[i]) * bf16_to_f32(x_[i])) != 0.0f;
    int_[i] = v5;
  }
}
";
    let cuda = emit(&kernel(MUL)).expect("CUDA text");
    assert_eq!(cuda.source, expected, "found:\n{}", cuda.source);
    assert_eq!((cuda.name.as_str(), cuda.block_threads, cuda.static_shared_bytes), ("mul", 64, 0));
    assert!(cuda.dynamic_shared_bytes.is_zero());
    assert!(matches!(cuda.parameters[..], [Parameter::Buffer(_), _, _, Parameter::Argument(_)]));
}

const ROWS: &str = "
kernel rows(i0, i1) lanes 32 {
  symbols i0, i1, block, x0, x1, x1_1
  blocks block in 0 .. i0
  read b0: f32 x
  write b1: f32 y
  write b2: f32 z
  for x0 in 4*block .. 4*block + 4 {
    for x1 in 0 .. i1 lanes {
      v0: f32 = load b0[i1*x0 + x1]
      v1: f32 = load b0[i1*x0 + x1 + 2*i1 + 3]
      v2: f32 = add v0, v1
      store b1[64*block + x1] = v2
      store b2[i1*block + x1] = v2
    }
  }
  for x1_1 in 0 .. i1 lanes {
    v3: f32 = load b0[i1*block + x1_1]
    store b2[i0*i1 + i1*block + x1_1] = v3
  }
}";

/// The pointer of a row is declared once, where everything that it depends on is known, with a name that no visible variable
/// has; an expression as short as a name is written inline.
#[test]
fn pointers_of_rows() {
    let cuda = emit(&kernel(ROWS)).expect("CUDA text");
    let expected = "\
  const long long block = blockIdx.x;
  float* const z_row = z + i1 * block;
  #pragma unroll 4
  for (long long x0 = 4 * block; x0 < 4 * block + 4; x0++) {
    const float* const x_row = x + i1 * x0;
    for (long long x1 = threadIdx.x; x1 < i1; x1 += 32) {
      const float v2 = x_row[x1] + x_row[2 * i1 + x1 + 3];
      y[64 * block + x1] = v2;
      z_row[x1] = v2;
    }
  }
  const float* const x_row = x + i1 * block;
  for (long long x1_1 = threadIdx.x; x1_1 < i1; x1_1 += 32) z_row[i0 * i1 + x1_1] = x_row[x1_1];
}
";
    assert!(cuda.source.ends_with(expected), "found:\n{}", cuda.source);
}

const REDUCTIONS: &str = "
kernel extremes(i0) lanes 8 {
  symbols i0, block, i
  blocks block in 0 .. 1
  read b0: bool x
  write b1: bool any
  scratch w0: f32[i0]
  scratch w1: f64[2*i0]
  v0: bool = const false
  acc a0: bool = v0
  for i in 0 .. i0 lanes {
    v1: bool = load b0[i]
    set a0 = v1
  }
  v2: bool = reduce max a0
  store b1[0] = v2
}";

#[test]
fn reductions_and_shared_memory() {
    let cuda = emit(&kernel(REDUCTIONS)).expect("CUDA text");
    for part in [
        // Shuffles of bools return ints under NVRTC; eight lanes are all the lanes of their warp.
        "combine_max(mine, (bool)__shfl_xor_sync(0x000000ffu, mine, stride, 8))",
        "double* const w1 = (double*)smem;\n  float* const w0 = (float*)(smem + 16 * i0);\n",
        "  const bool v2 = block_max(a0);\n  if (threadIdx.x == 0) any[0] = v2;\n",
    ] {
        assert!(cuda.source.contains(part), "{part} is missing from:\n{}", cuda.source);
    }
    assert!(!cuda.source.contains("blockIdx"), "{}", cuda.source);
    let sizes = |_| Some(10);
    assert_eq!(cuda.dynamic_shared_bytes.eval(&sizes), Ok(200));
}

/// A thread that keeps two rows of f64 in registers, `steps` steps of 64 bytes of each.
fn kept(lanes: u32, steps: u32) -> Kernel {
    let most = 8 * steps * lanes;
    let text = format!(
        "
kernel kept(i0) lanes {lanes} {{
  symbols i0, block, i, i_1
  blocks block in 0 .. 1
  assume i0 % 64 == 0
  assume i0 <= {most}
  read b0: f64 x align 16
  write b1: f64 y align 16
  private w0: f64[i0]
  private w1: f64[i0]
  for i in 0 .. i0 lanes by 8 {{
    v0: f64 = load b0[i]
    store w0[i] = v0
    v1: f64 = add v0, v0
    store w1[i] = v1
  }}
  for i_1 in 0 .. i0 lanes by 8 {{
    v2: f64 = load w0[i_1]
    v3: f64 = load w1[i_1]
    v4: f64 = add v2, v3
    store b1[i_1] = v4
  }}
}}"
    );
    kernel(&text)
}

#[test]
fn more_is_kept_than_registers() {
    let rejected = |lanes, steps| emit(&kept(lanes, steps)).expect_err("no text").to_string();
    let reason = "kernel `kept` keeps 1024 bytes in the registers of each lane, which has at most 1020 in a block of 64";
    assert_eq!(rejected(64, 8), reason);
    assert!(
        rejected(1024, 4)
            .ends_with("512 bytes in the registers of each lane, which has at most 256 in a block of 1024")
    );
    assert!(emit(&kept(256, 4)).expect("CUDA text").source.contains("vec<double, 8> w0[4], w1[4];"));
}

#[test]
fn rejections() {
    let mut b = KernelBuilder::new("huge", 32);
    let x = b.buffer("x", DType::F32, Access::Read);
    b.load(x, Expr::overflow());
    let rejected = emit(&b.finish()).expect_err("no text");
    assert!(rejected.to_string().contains("an index expression outgrew the algebra"), "{rejected}");

    let mut odd = kernel(MUL);
    odd.lanes = 33;
    assert!(matches!(emit(&odd), Err(EmitError::Malformed(_))));

    let mut b = KernelBuilder::new("sum", 32);
    let buffers: Vec<_> =
        (0..4096).map(|number| b.buffer(&format!("x{number}"), DType::F32, Access::Read)).collect();
    b.load(buffers[0], Expr::zero());
    let rejected = emit(&b.finish()).expect_err("no text").to_string();
    let reason = "kernel `sum` takes 32768 bytes of parameters, of which a launch has at most 32764";
    assert_eq!(rejected, reason);
}

const IN_PLACE: &str = "
kernel in_place(i0) lanes 64 {
  symbols i0, block, i
  blocks block in 0 .. ((i0 + 63) // 64)
  read b0: f32 x
  read b1: f32 y
  write b2: f32 z over b1
  write b3: f32 w
  for i in 64*block .. min(64*block + 64, i0) lanes {
    v0: f32 = load b0[i]
    v1: f32 = load b1[i]
    v2: f32 = exp v0
    store b2[i] = v2
    v3: f32 = neg v1
    store b3[i] = v3
  }
}";

/// What is in the memory of `y` is loaded before it is overwritten, also by compilers.
#[test]
fn an_output_over_an_input() {
    let source = emit(&kernel(IN_PLACE)).expect("CUDA text").source;
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let parameters =
        "const float* __restrict__ x, const float* y, float* z, float* __restrict__ w, long long i0) {";
    assert!(lines.contains(&parameters), "found:\n{source}");
    let place = |text: &str| lines.iter().position(|line| line.starts_with(text)).expect(&source);
    assert!(place("const float v1 = y[i];") < place("z[i] = "), "found:\n{source}");
    assert!(place("z[i] = ") < place("w[i] = -v1;"), "found:\n{source}");
}
