//! Memory that arrays own.

use ferrofuse_ir::array::{Array, ArrayError};
use ops::{DType, Scalar};

#[test]
fn memory_is_aligned_zero_and_exact() {
    for sizes in [&[3_usize, 5][..], &[], &[0, 7], &[1 << 20]] {
        let mut array = Array::zeros(DType::F32, sizes).unwrap();
        assert_eq!(array.as_bytes().as_ptr() as usize % 64, 0);
        assert_eq!(array.numel(), sizes.iter().product::<usize>());
        assert!(array.as_slice::<f32>().iter().all(|&x| x == 0.0));
        array.as_mut_slice::<f32>().fill(2.0);
    }
}

#[test]
fn what_the_machine_lacks_is_an_error() {
    let huge = Array::zeros(DType::F64, &[1 << 40, 1 << 20]);
    assert!(matches!(huge, Err(ArrayError::Memory { bytes }) if bytes == 1 << 63 || bytes == usize::MAX));
    let beyond = Array::zeros(DType::F64, &[usize::MAX, usize::MAX]);
    assert_eq!(beyond.unwrap_err(), ArrayError::Memory { bytes: usize::MAX });
    assert!(Array::zeros(DType::F64, &[1 << 58]).is_err());
    let length = Array::from_slice(&[2, 2], &[1.0_f32]).unwrap_err();
    assert_eq!(length.to_string(), "1 elements where the sizes [2, 2] need 4");
}

#[test]
fn constants_fill_every_dtype() {
    for dtype in DType::REAL {
        let array = Array::full(Scalar::from_i64(dtype, 1), &[3]).unwrap();
        assert_eq!(array.scalars(), [Scalar::one(dtype); 3]);
    }
}
