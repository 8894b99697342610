//! Products that steps of folds take.

use ferrofuse_kernel::{Contractions, Value, parse};

#[test]
fn products_that_only_steps_use_go_into_them() {
    let kernel = parse(include_str!("contraction.kernel"));
    let kernel = kernel.expect("it is a kernel");
    let contractions = Contractions::of(&kernel);
    let value = Value::from_u32;
    let step = contractions.step(value(5)).expect("its product has no other use");
    assert!(contractions.takes(step.product));
    assert!(!Contractions::of_lone_products(&kernel).takes(step.product));
    assert_eq!((step.before, step.factors, step.negated), (value(4), [value(1); 2], true));
    assert!(contractions.step(value(8)).is_none(), "its product is stored as well");
}
