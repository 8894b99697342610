//! Which values are the same in all lanes.

use kernel::{Stmt, Value, stays_even, uniformity, verify};

use super::kernel;

/// The values of a body that are uniform.
fn uniform(body: &str) -> Vec<String> {
    let kernel = kernel(&format!(
        "kernel k(i0) lanes 4 {{\nsymbols i0, block, x0, x1\nblocks block in 0 .. i0\nread b0: f32 T0\n\
         read b1: bool T1\nwrite b2: f32 T2\n{body}\n}}\n"
    ));
    assert_eq!(verify(&kernel), Ok(()));
    let uniform = uniformity(&kernel);
    kernel.values.keys().filter(|&value: &Value| uniform[value]).map(|value| value.to_string()).collect()
}

#[test]
fn what_depends_on_the_lane_varies() {
    let body = "v0: f32 = const 1.0\nfor x0 in 0 .. i0 lanes {\nv1: f32 = load b0[x0]\nv2: f32 = add v0, v0\n\
                v3: f32 = add v0, v1\nv4: f64 = cast v3\nv5: i64 = index x0\nv6: i64 = index i0 + block\n\
                v7: f64 = cast v2\n}";
    assert_eq!(uniform(body), ["v0", "v2", "v6", "v7"]);
}

#[test]
fn all_lanes_load_the_same_from_the_same_place() {
    let body = "for x0 in 0 .. i0 lanes {\nfor x1 in 0 .. 4 {\nv0: f32 = load b0[block + x1]\n\
                v1: bool = load b1[x1]\nv2: f32 = load b0[x1] if v1\nv3: bool = load b1[x0]\n\
                v4: f32 = load b0[x1] if v3\n}\n}";
    assert_eq!(uniform(body), ["v0", "v1", "v2"]);
}

#[test]
fn uniform_code_is_uniform() {
    let body = "for x1 in 0 .. i0 {\nv0: f32 = load b0[x1]\nv1: f32 = exp v0\n}";
    assert_eq!(uniform(body), ["v0", "v1"]);
}

#[test]
fn accumulators_with_a_copy_per_lane_vary_until_they_are_reduced() {
    let body = "v0: f32 = const 0.0\nacc a0: f32 = v0\nacc a1: f32 = v0\nfor x0 in 0 .. i0 lanes {\n\
                v1: f32 = get a0\nset a0 = v0\nv2: f32 = get a1\nacc a2: f32 = v0\nv3: f32 = get a2\n}\n\
                v4: f32 = reduce sum a0\nv5: f32 = get a1";
    assert_eq!(uniform(body), ["v0", "v2", "v4", "v5"]);
}

#[test]
fn counts_stay_even_and_sums_of_elements_do_not() {
    let kernel = kernel(
        "kernel k(i0) lanes 4 {\nsymbols i0, block, x0\nblocks block in 0 .. i0\nread b0: f32 T0\n\
         v0: f32 = const 0.0\nv1: f32 = const 1.0\nacc a0: f32 = v0\nacc a1: f32 = v0\nacc a2: f32 = v0\n\
         for x0 in 0 .. i0 lanes {\nv2: f32 = get a0\nv3: f32 = add v2, v1\nset a0 = v3\n\
         v4: f32 = get a1\nv5: f32 = load b0[x0]\nv6: f32 = add v4, v5\nset a1 = v6\n\
         v7: f32 = get a2\nv8: f32 = add v7, v4\nset a2 = v8\n}\n}\n",
    );
    assert_eq!(verify(&kernel), Ok(()));
    let for_loop = kernel.body.iter().find_map(|statement| match statement {
        Stmt::For(for_loop) => Some(for_loop),
        _ => None,
    });
    let accumulators: Vec<_> = kernel.accumulators.keys().collect();
    let even = stays_even(&kernel, for_loop.expect("the kernel has a loop"), &accumulators);
    assert_eq!(even, accumulators[..1]);
}
