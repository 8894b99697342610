# Made by scripts/generate_ops.py of the compiler's table of ops. Do not edit.
"""The types of `fd.ops`."""

import inspect
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union, overload

from ._native import DataType, TensorView, Val

Number = Union[bool, int, float, complex]
Scalar = Union[Val, Number]
Operand = Union[TensorView, Val, Number]
DTypeLike = Union[DataType, type, Any]

TABLE: Dict[str, Dict[str, Any]]

def signature(row: Dict[str, Any]) -> inspect.Signature: ...

class Operations:
    def __init__(self, builder: Callable[[], Any]) -> None: ...
    def __dir__(self) -> List[str]: ...
    def at(self, vector: Sequence[Scalar], index: int) -> Val:
        """A scalar of a list such as `define_vector` and `shape` give, as nvFuser's `at`; `vector[index]` is the same."""
    @overload
    def abs(self, x: TensorView) -> TensorView:
        """Absolute value. That of the smallest integer is itself."""
    @overload
    def abs(self, x: Scalar) -> Val:
        ...
    @overload
    def acos(self, x: TensorView) -> TensorView:
        """Inverse cosine; outside -1 to 1, NaN."""
    @overload
    def acos(self, x: Scalar) -> Val:
        ...
    @overload
    def acosh(self, x: TensorView) -> TensorView:
        """Inverse hyperbolic cosine; below 1, NaN."""
    @overload
    def acosh(self, x: Scalar) -> Val:
        ...
    @overload
    def add(self, lhs: TensorView, rhs: Operand) -> TensorView:
        """Sum. Integers wrap; of two bools, whether either holds."""
    @overload
    def add(self, lhs: Operand, rhs: TensorView) -> TensorView:
        ...
    @overload
    def add(self, lhs: Scalar, rhs: Scalar) -> Val:
        ...
    @overload
    def addcmul(self, a: TensorView, b: Operand, c: Operand, alpha: Operand) -> TensorView:
        """a + alpha b c."""
    @overload
    def addcmul(self, a: Operand, b: TensorView, c: Operand, alpha: Operand) -> TensorView:
        ...
    @overload
    def addcmul(self, a: Operand, b: Operand, c: TensorView, alpha: Operand) -> TensorView:
        ...
    @overload
    def addcmul(self, a: Operand, b: Operand, c: Operand, alpha: TensorView) -> TensorView:
        ...
    @overload
    def addcmul(self, a: Scalar, b: Scalar, c: Scalar, alpha: Scalar) -> Val:
        ...
    @overload
    def all(
        self,
        arg: TensorView,
        dims: Optional[Union[int, Sequence[int]]] = ...,
        keepdim: Optional[bool] = ...,
    ) -> TensorView:
        """Is no element over the given dimensions, or all, zero?"""
    @overload
    def all(
        self,
        arg: TensorView,
        dim: Optional[Union[int, Sequence[int]]] = ...,
        keepdim: Optional[bool] = ...,
    ) -> TensorView:
        ...
    @overload
    def any(
        self,
        arg: TensorView,
        dims: Optional[Union[int, Sequence[int]]] = ...,
        keepdim: Optional[bool] = ...,
    ) -> TensorView:
        """Is any element over the given dimensions, or all, not zero?"""
    @overload
    def any(
        self,
        arg: TensorView,
        dim: Optional[Union[int, Sequence[int]]] = ...,
        keepdim: Optional[bool] = ...,
    ) -> TensorView:
        ...
    def argmax(
        self,
        arg: TensorView,
        dim: Optional[Union[int, Val]] = ...,
        keepdim: Optional[bool] = ...,
    ) -> TensorView:
        """The index of the largest element along a dimension, or among all in row-major order; of equals the first; NaN is the largest."""
    def argmin(
        self,
        arg: TensorView,
        dim: Optional[Union[int, Val]] = ...,
        keepdim: Optional[bool] = ...,
    ) -> TensorView:
        """The index of the smallest element along a dimension, or among all in row-major order; of equals the first; NaN is the smallest."""
    def argsort(
        self,
        arg: TensorView,
        dim: Union[int, Val],
        descending: Optional[bool] = ...,
        stable: Optional[bool] = ...,
    ) -> TensorView:
        """The indices that sort a dimension; equal elements stay in order, NaN is largest."""
    @overload
    def asin(self, x: TensorView) -> TensorView:
        """Inverse sine; outside -1 to 1, NaN."""
    @overload
    def asin(self, x: Scalar) -> Val:
        ...
    @overload
    def asinh(self, x: TensorView) -> TensorView:
        """Inverse hyperbolic sine."""
    @overload
    def asinh(self, x: Scalar) -> Val:
        ...
    @overload
    def atan(self, x: TensorView) -> TensorView:
        """Inverse tangent."""
    @overload
    def atan(self, x: Scalar) -> Val:
        ...
    @overload
    def atan2(self, y: TensorView, x: Operand) -> TensorView:
        """The angle of the point (x, y), from -pi to pi."""
    @overload
    def atan2(self, y: Operand, x: TensorView) -> TensorView:
        ...
    @overload
    def atan2(self, y: Scalar, x: Scalar) -> Val:
        ...
    @overload
    def atanh(self, x: TensorView) -> TensorView:
        """Inverse hyperbolic tangent: of -1 and 1, infinities; beyond, NaN."""
    @overload
    def atanh(self, x: Scalar) -> Val:
        ...
    def batch_norm(
        self,
        arg: TensorView,
        weight: Optional[TensorView] = ...,
        bias: Optional[TensorView] = ...,
        running_mean: Optional[TensorView] = ...,
        running_var: Optional[TensorView] = ...,
        training: Optional[bool] = ...,
        eps: Optional[Scalar] = ...,
    ) -> Tuple[TensorView, TensorView, TensorView]:
        """Mean 0 and variance 1 of each channel (dimension 1), then times weight plus bias; with mean and 1 / deviation. Not in training, the running statistics are taken."""
    def batch_norm_backward(
        self,
        grad: TensorView,
        arg: TensorView,
        mean: TensorView,
        invstd: TensorView,
        weight: Optional[TensorView] = ...,
        training: Optional[bool] = ...,
    ) -> Tuple[TensorView, TensorView, TensorView]:
        """The gradients of batch_norm: of its operand, weight and bias."""
    @overload
    def bitwise_and(self, lhs: TensorView, rhs: Operand) -> TensorView:
        """The bits set in both."""
    @overload
    def bitwise_and(self, lhs: Operand, rhs: TensorView) -> TensorView:
        ...
    @overload
    def bitwise_and(self, lhs: Scalar, rhs: Scalar) -> Val:
        ...
    @overload
    def bitwise_left_shift(self, lhs: TensorView, rhs: Operand) -> TensorView:
        """Bits moved up, zeros from below. By an amount outside 0 to the width: 0."""
    @overload
    def bitwise_left_shift(self, lhs: Operand, rhs: TensorView) -> TensorView:
        ...
    @overload
    def bitwise_left_shift(self, lhs: Scalar, rhs: Scalar) -> Val:
        ...
    @overload
    def bitwise_not(self, x: TensorView) -> TensorView:
        """The bits not set."""
    @overload
    def bitwise_not(self, x: Scalar) -> Val:
        ...
    @overload
    def bitwise_or(self, lhs: TensorView, rhs: Operand) -> TensorView:
        """The bits set in either."""
    @overload
    def bitwise_or(self, lhs: Operand, rhs: TensorView) -> TensorView:
        ...
    @overload
    def bitwise_or(self, lhs: Scalar, rhs: Scalar) -> Val:
        ...
    @overload
    def bitwise_right_shift(self, lhs: TensorView, rhs: Operand) -> TensorView:
        """Bits moved down, copies of the sign from above, zeros in u64. By an amount outside 0 to the width: 0 or -1."""
    @overload
    def bitwise_right_shift(self, lhs: Operand, rhs: TensorView) -> TensorView:
        ...
    @overload
    def bitwise_right_shift(self, lhs: Scalar, rhs: Scalar) -> Val:
        ...
    @overload
    def bitwise_xor(self, lhs: TensorView, rhs: Operand) -> TensorView:
        """The bits set in exactly one."""
    @overload
    def bitwise_xor(self, lhs: Operand, rhs: TensorView) -> TensorView:
        ...
    @overload
    def bitwise_xor(self, lhs: Scalar, rhs: Scalar) -> Val:
        ...
    def broadcast(self, arg: TensorView, is_broadcast_dim: Sequence[bool]) -> TensorView:
        """New dimensions of size 1 where the list says True."""
    def broadcast_in_dim(
        self,
        arg: TensorView,
        shape: Sequence[Union[int, Val]],
        broadcast_dims: Sequence[int],
    ) -> TensorView:
        """The tensor in a larger shape: its dimension `i` becomes dimension `broadcast_dims[i]`."""
    @overload
    def cast(self, arg: TensorView, dtype: DTypeLike) -> TensorView:
        """The same numbers in another dtype, rounded to nearest, integers for bf16 first to f32; floats go to i32, i64 and u64 by truncation, saturated, to other integers by the low bits of these."""
    @overload
    def cast(self, arg: Scalar, dtype: DTypeLike) -> Val:
        ...
    def cat(
        self,
        tensors: Sequence[TensorView],
        dim: Optional[Union[int, Val]] = ...,
        manual_padding: Optional[bool] = ...,
    ) -> TensorView:
        """Tensors of one dtype one after the other along a dimension."""
    @overload
    def ceil(self, x: TensorView) -> TensorView:
        """The smallest whole number not below x."""
    @overload
    def ceil(self, x: Scalar) -> Val:
        ...
    @overload
    def celu(self, x: TensorView, alpha: Optional[Operand] = ...) -> TensorView:
        """x where positive, else alpha times exp(x / alpha) - 1."""
    @overload
    def celu(self, x: Operand, alpha: Optional[TensorView] = ...) -> TensorView:
        ...
    @overload
    def celu(self, x: Scalar, alpha: Optional[Scalar] = ...) -> Val:
        ...
    @overload
    def clamp(self, x: TensorView, min: Optional[Operand] = ..., max: Optional[Operand] = ...) -> TensorView:
        """x brought between the bounds; the upper one wins where they cross. NaN stays."""
    @overload
    def clamp(self, x: Operand, min: Optional[TensorView] = ..., max: Optional[Operand] = ...) -> TensorView:
        ...
    @overload
    def clamp(self, x: Operand, min: Optional[Operand] = ..., max: Optional[TensorView] = ...) -> TensorView:
        ...
    @overload
    def clamp(self, x: Scalar, min: Optional[Scalar] = ..., max: Optional[Scalar] = ...) -> Val:
        ...
    @overload
    def complex(self, real: TensorView, imag: Operand) -> TensorView:
        """The complex number of two parts: c128 of f64, else c64."""
    @overload
    def complex(self, real: Operand, imag: TensorView) -> TensorView:
        ...
    @overload
    def complex(self, real: Scalar, imag: Scalar) -> Val:
        ...
    @overload
    def cos(self, x: TensorView) -> TensorView:
        """Cosine of x radians; of an infinity, NaN."""
    @overload
    def cos(self, x: Scalar) -> Val:
        ...
    @overload
    def cosh(self, x: TensorView) -> TensorView:
        """Hyperbolic cosine."""
    @overload
    def cosh(self, x: Scalar) -> Val:
        ...
    def cummax(self, arg: TensorView, dim: Union[int, Val], init: Optional[Scalar] = ...) -> TensorView:
        """The largest of each element and all before it along a dimension, and of init; NaN if any is."""
    def cummin(self, arg: TensorView, dim: Union[int, Val], init: Optional[Scalar] = ...) -> TensorView:
        """The smallest of each element and all before it along a dimension, and of init; NaN if any is."""
    def cumprod(self, arg: TensorView, dim: Union[int, Val], init: Optional[Scalar] = ...) -> TensorView:
        """The product of each element and all before it along a dimension, and of init."""
    def cumsum(self, arg: TensorView, dim: Union[int, Val], init: Optional[Scalar] = ...) -> TensorView:
        """The sum of each element and all before it along a dimension, and of init."""
    @overload
    def div(self, lhs: TensorView, rhs: Operand) -> TensorView:
        """Quotient: exact of floats, truncated towards zero of integers. An integer over 0 is 0, and the smallest integer over -1 is itself."""
    @overload
    def div(self, lhs: Operand, rhs: TensorView) -> TensorView:
        ...
    @overload
    def div(self, lhs: Scalar, rhs: Scalar) -> Val:
        ...
    def dropout(self, arg: TensorView, p: Optional[Scalar] = ...) -> Tuple[TensorView, TensorView]:
        """Each element times 1 / (1 - p), or 0 with probability p; and the mask of those that were kept."""
    def dropout_backward(self, grad: TensorView, mask: TensorView, scale: Scalar) -> TensorView:
        """The gradient of dropout: that of its result times the scale where the mask holds, else 0."""
    @overload
    def elu(self, x: TensorView, alpha: Optional[Operand] = ...) -> TensorView:
        """x where positive, else alpha times exp(x) - 1."""
    @overload
    def elu(self, x: Operand, alpha: Optional[TensorView] = ...) -> TensorView:
        ...
    @overload
    def elu(self, x: Scalar, alpha: Optional[Scalar] = ...) -> Val:
        ...
    def embedding_fwd(
        self,
        input: TensorView,
        weight: TensorView,
        padding_idx: Optional[Scalar] = ...,
        max_norm: Optional[Scalar] = ...,
        norm_type: Optional[Scalar] = ...,
        scale_grad_by_freq: Optional[Scalar] = ...,
        sparse: Optional[Scalar] = ...,
    ) -> TensorView:
        """The rows of a table at the indices of the input, those above `max_norm` shortened to it (the table stays as it is). What only concerns gradients changes nothing."""
    @overload
    def eq(self, lhs: TensorView, rhs: Operand) -> TensorView:
        """Are they equal? NaN equals nothing; 0 equals -0."""
    @overload
    def eq(self, lhs: Operand, rhs: TensorView) -> TensorView:
        ...
    @overload
    def eq(self, lhs: Scalar, rhs: Scalar) -> Val:
        ...
    @overload
    def erf(self, x: TensorView) -> TensorView:
        """The error function."""
    @overload
    def erf(self, x: Scalar) -> Val:
        ...
    @overload
    def erfc(self, x: TensorView) -> TensorView:
        """1 - erf(x), exact also for large x."""
    @overload
    def erfc(self, x: Scalar) -> Val:
        ...
    @overload
    def erfcinv(self, x: TensorView) -> TensorView:
        """The inverse of erfc: of 0 and 2, infinities; beyond, NaN."""
    @overload
    def erfcinv(self, x: Scalar) -> Val:
        ...
    @overload
    def erfinv(self, x: TensorView) -> TensorView:
        """The inverse of erf: of -1 and 1, infinities; beyond, NaN."""
    @overload
    def erfinv(self, x: Scalar) -> Val:
        ...
    @overload
    def exp(self, x: TensorView) -> TensorView:
        """e to the power x."""
    @overload
    def exp(self, x: Scalar) -> Val:
        ...
    @overload
    def exp2(self, x: TensorView) -> TensorView:
        """2 to the power x."""
    @overload
    def exp2(self, x: Scalar) -> Val:
        ...
    def expand(self, arg: TensorView, shape: Sequence[Union[int, Val]]) -> TensorView:
        """Dimensions of size 1 repeated to the sizes given; -1 keeps a size."""
    @overload
    def expm1(self, x: TensorView) -> TensorView:
        """exp(x) - 1, exact also near 0."""
    @overload
    def expm1(self, x: Scalar) -> Val:
        ...
    @overload
    def floor(self, x: TensorView) -> TensorView:
        """The largest whole number not above x."""
    @overload
    def floor(self, x: Scalar) -> Val:
        ...
    @overload
    def fmod(self, lhs: TensorView, rhs: Operand) -> TensorView:
        """Remainder of the truncated quotient, with the sign of the dividend. An integer modulo 0 is itself; a float modulo 0 is NaN."""
    @overload
    def fmod(self, lhs: Operand, rhs: TensorView) -> TensorView:
        ...
    @overload
    def fmod(self, lhs: Scalar, rhs: Scalar) -> Val:
        ...
    @overload
    def fold(
        self,
        tensors: Union[TensorView, Sequence[TensorView]],
        combine: Union[str, Callable[..., Any]],
        init: Optional[Union[Number, Sequence[Number]]] = ...,
        dims: Optional[Union[int, Sequence[int]]] = ...,
        keepdim: Optional[bool] = ...,
        finalize: Optional[Callable[..., Any]] = ...,
    ) -> Any:
        """Tensors of one shape reduced together, any grouping and order of which must give the same: by a lambda of the states of two runs, or the name of a fold. Results: the states, from init on, or what finalize, a lambda of them, makes of them. Any number of runs begin with init: combined with itself it stays as it is."""
    @overload
    def fold(
        self,
        arg: Union[TensorView, Sequence[TensorView]],
        combine: Union[str, Callable[..., Any]],
        init: Optional[Union[Number, Sequence[Number]]] = ...,
        dim: Optional[Union[int, Sequence[int]]] = ...,
        keepdim: Optional[bool] = ...,
        finalize: Optional[Callable[..., Any]] = ...,
    ) -> Any:
        ...
    @overload
    def frac(self, x: TensorView) -> TensorView:
        """The part of x behind the point, with the sign of x. Of an infinity, NaN."""
    @overload
    def frac(self, x: Scalar) -> Val:
        ...
    def full(self, shape: Sequence[Union[int, Val]], fill_value: Scalar, dtype: DTypeLike) -> TensorView:
        """A tensor of one value."""
    def gather(self, arg: TensorView, index: TensorView, dim: Union[int, Val]) -> TensorView:
        """Result[i][j] is arg[index[i][j]][j] for dim 0, and so on: as large as the index, which is nowhere larger than the tensor but along dim."""
    @overload
    def gcd(self, lhs: TensorView, rhs: Operand) -> TensorView:
        """The greatest common divisor, not negative; with 0 the other's magnitude, of which the smallest integer's is itself."""
    @overload
    def gcd(self, lhs: Operand, rhs: TensorView) -> TensorView:
        ...
    @overload
    def gcd(self, lhs: Scalar, rhs: Scalar) -> Val:
        ...
    @overload
    def ge(self, lhs: TensorView, rhs: Operand) -> TensorView:
        """Is the first greater or equal? False with NaN."""
    @overload
    def ge(self, lhs: Operand, rhs: TensorView) -> TensorView:
        ...
    @overload
    def ge(self, lhs: Scalar, rhs: Scalar) -> Val:
        ...
    @overload
    def gelu(self, x: TensorView) -> TensorView:
        """x times the normal distribution function of x."""
    @overload
    def gelu(self, x: Scalar) -> Val:
        ...
    @overload
    def gelu_backward(self, grad: TensorView, x: Operand) -> TensorView:
        """The gradient of gelu at x, times `grad`."""
    @overload
    def gelu_backward(self, grad: Operand, x: TensorView) -> TensorView:
        ...
    @overload
    def gelu_backward(self, grad: Scalar, x: Scalar) -> Val:
        ...
    def group_norm(
        self,
        arg: TensorView,
        num_groups: Union[int, Val],
        weight: Optional[TensorView] = ...,
        bias: Optional[TensorView] = ...,
        eps: Optional[Scalar] = ...,
    ) -> TensorView:
        """Mean 0 and variance 1 of each group of channels of each element of the batch, then times weight plus bias."""
    def group_norm_backward(
        self,
        grad: TensorView,
        arg: TensorView,
        num_groups: Union[int, Val],
        mean: TensorView,
        invstd: TensorView,
        weight: Optional[TensorView] = ...,
    ) -> Tuple[TensorView, TensorView, TensorView]:
        """The gradients of group_norm: of its operand, weight and bias; mean and 1 / deviation are those of each group."""
    def grouped_mm(
        self,
        mat1: TensorView,
        mat2: TensorView,
        offsets: TensorView,
        scale1: Optional[TensorView] = ...,
        scale2: Optional[TensorView] = ...,
        alpha: Optional[TensorView] = ...,
        bias: Optional[TensorView] = ...,
        beta: Optional[TensorView] = ...,
        dtype: Optional[DTypeLike] = ...,
        output_block_scale_size: Optional[Union[int, Val]] = ...,
        output_block_scale_dtype: Optional[DTypeLike] = ...,
        output_gamma: Optional[bool] = ...,
    ) -> TensorView:
        """Products of groups of matrices; the offsets say where each group ends."""
    @overload
    def gt(self, lhs: TensorView, rhs: Operand) -> TensorView:
        """Is the first greater? False with NaN."""
    @overload
    def gt(self, lhs: Operand, rhs: TensorView) -> TensorView:
        ...
    @overload
    def gt(self, lhs: Scalar, rhs: Scalar) -> Val:
        ...
    @overload
    def hardshrink(self, x: TensorView, lambd: Optional[Operand] = ...) -> TensorView:
        """x where further from 0 than lambd, else 0. NaN stays."""
    @overload
    def hardshrink(self, x: Operand, lambd: Optional[TensorView] = ...) -> TensorView:
        ...
    @overload
    def hardshrink(self, x: Scalar, lambd: Optional[Scalar] = ...) -> Val:
        ...
    @overload
    def hardsigmoid(self, x: TensorView) -> TensorView:
        """0 below -3, 1 above 3, and the line between."""
    @overload
    def hardsigmoid(self, x: Scalar) -> Val:
        ...
    @overload
    def hardswish(self, x: TensorView) -> TensorView:
        """x times its hardsigmoid."""
    @overload
    def hardswish(self, x: Scalar) -> Val:
        ...
    @overload
    def hypot(self, x: TensorView, y: Operand) -> TensorView:
        """The length of the vector (x, y), which overflows only where it is itself too large. Of an infinity, infinity, beside NaN too."""
    @overload
    def hypot(self, x: Operand, y: TensorView) -> TensorView:
        ...
    @overload
    def hypot(self, x: Scalar, y: Scalar) -> Val:
        ...
    @overload
    def imag(self, x: TensorView) -> TensorView:
        """The imaginary part of a complex number. Real numbers are rejected."""
    @overload
    def imag(self, x: Scalar) -> Val:
        ...
    def index_select(self, arg: TensorView, index: TensorView, dim: Union[int, Val]) -> TensorView:
        """The slices along a dimension at the indices of a tensor of at most one dimension."""
    def instance_norm(
        self,
        arg: TensorView,
        weight: Optional[TensorView] = ...,
        bias: Optional[TensorView] = ...,
        eps: Optional[Scalar] = ...,
    ) -> Tuple[TensorView, TensorView, TensorView]:
        """Mean 0 and variance 1 of each channel of each element of the batch, then times weight plus bias; with mean and 1 / deviation."""
    def instance_norm_backward(
        self,
        grad: TensorView,
        arg: TensorView,
        mean: TensorView,
        invstd: TensorView,
        weight: Optional[TensorView] = ...,
    ) -> Tuple[TensorView, TensorView, TensorView]:
        """The gradients of instance_norm: of its operand, weight and bias."""
    def iota(
        self,
        length: Scalar,
        start: Optional[Scalar] = ...,
        step: Optional[Scalar] = ...,
        dtype: Optional[DTypeLike] = ...,
    ) -> TensorView:
        """start + i step for i below length; from 0 by 1 if not given."""
    @overload
    def isfinite(self, x: TensorView) -> TensorView:
        """Is x neither infinite nor NaN?"""
    @overload
    def isfinite(self, x: Scalar) -> Val:
        ...
    @overload
    def isinf(self, x: TensorView) -> TensorView:
        """Is x an infinity?"""
    @overload
    def isinf(self, x: Scalar) -> Val:
        ...
    @overload
    def isnan(self, x: TensorView) -> TensorView:
        """Is x not a number?"""
    @overload
    def isnan(self, x: Scalar) -> Val:
        ...
    @overload
    def isneginf(self, x: TensorView) -> TensorView:
        """Is x minus infinity?"""
    @overload
    def isneginf(self, x: Scalar) -> Val:
        ...
    @overload
    def isposinf(self, x: TensorView) -> TensorView:
        """Is x plus infinity?"""
    @overload
    def isposinf(self, x: Scalar) -> Val:
        ...
    @overload
    def isreal(self, x: TensorView) -> TensorView:
        """Is x without an imaginary part? Always true."""
    @overload
    def isreal(self, x: Scalar) -> Val:
        ...
    def layer_norm(
        self,
        arg: TensorView,
        normalized_shape: Sequence[Union[int, Val]],
        weight: Optional[TensorView] = ...,
        bias: Optional[TensorView] = ...,
        eps: Optional[Scalar] = ...,
    ) -> TensorView:
        """Mean 0 and variance 1 over the trailing dimensions of the given shape, then times weight plus bias."""
    def layer_norm_backward(
        self,
        grad: TensorView,
        arg: TensorView,
        normalized_shape: Sequence[Union[int, Val]],
        mean: TensorView,
        invstd: TensorView,
        weight: Optional[TensorView] = ...,
    ) -> Tuple[TensorView, TensorView, TensorView]:
        """The gradients of layer_norm: of its operand, weight and bias."""
    @overload
    def le(self, lhs: TensorView, rhs: Operand) -> TensorView:
        """Is the first less or equal? False with NaN."""
    @overload
    def le(self, lhs: Operand, rhs: TensorView) -> TensorView:
        ...
    @overload
    def le(self, lhs: Scalar, rhs: Scalar) -> Val:
        ...
    @overload
    def leaky_relu(self, x: TensorView, negative_slope: Optional[Operand] = ...) -> TensorView:
        """x where not negative, else x times the slope."""
    @overload
    def leaky_relu(self, x: Operand, negative_slope: Optional[TensorView] = ...) -> TensorView:
        ...
    @overload
    def leaky_relu(self, x: Scalar, negative_slope: Optional[Scalar] = ...) -> Val:
        ...
    @overload
    def lerp(self, start: TensorView, end: Operand, weight: Operand) -> TensorView:
        """Linear interpolation, exact at weights 0 and 1."""
    @overload
    def lerp(self, start: Operand, end: TensorView, weight: Operand) -> TensorView:
        ...
    @overload
    def lerp(self, start: Operand, end: Operand, weight: TensorView) -> TensorView:
        ...
    @overload
    def lerp(self, start: Scalar, end: Scalar, weight: Scalar) -> Val:
        ...
    @overload
    def lgamma(self, x: TensorView) -> TensorView:
        """The logarithm of the magnitude of gamma: infinity at 0, -1, -2… In f64 the bound is that of 1 near zeros below -2."""
    @overload
    def lgamma(self, x: Scalar) -> Val:
        ...
    def linear(self, arg1: TensorView, arg2: TensorView, bias: Optional[TensorView] = ...) -> TensorView:
        """The first tensor times the transpose of the second, plus the bias."""
    @overload
    def log(self, x: TensorView) -> TensorView:
        """Natural logarithm: of 0, minus infinity; below 0, NaN."""
    @overload
    def log(self, x: Scalar) -> Val:
        ...
    @overload
    def log10(self, x: TensorView) -> TensorView:
        """Decimal logarithm: of 0, minus infinity; below 0, NaN."""
    @overload
    def log10(self, x: Scalar) -> Val:
        ...
    @overload
    def log1p(self, x: TensorView) -> TensorView:
        """log(1 + x), exact also near 0."""
    @overload
    def log1p(self, x: Scalar) -> Val:
        ...
    @overload
    def log2(self, x: TensorView) -> TensorView:
        """Binary logarithm: of 0, minus infinity; below 0, NaN."""
    @overload
    def log2(self, x: Scalar) -> Val:
        ...
    def log_softmax(self, arg: TensorView, dim: Union[int, Val]) -> TensorView:
        """The logarithm of the softmax along a dimension."""
    def log_softmax_backward(self, grad: TensorView, output: TensorView, dim: Union[int, Val]) -> TensorView:
        """The gradient of log_softmax from that of its result and the result."""
    @overload
    def logical_and(self, lhs: TensorView, rhs: Operand) -> TensorView:
        """Do both hold? A number holds unless it is 0."""
    @overload
    def logical_and(self, lhs: Operand, rhs: TensorView) -> TensorView:
        ...
    @overload
    def logical_and(self, lhs: Scalar, rhs: Scalar) -> Val:
        ...
    @overload
    def logical_not(self, x: TensorView) -> TensorView:
        """Does it not hold? A number holds unless it is 0."""
    @overload
    def logical_not(self, x: Scalar) -> Val:
        ...
    @overload
    def logical_or(self, lhs: TensorView, rhs: Operand) -> TensorView:
        """Does either hold? A number holds unless it is 0."""
    @overload
    def logical_or(self, lhs: Operand, rhs: TensorView) -> TensorView:
        ...
    @overload
    def logical_or(self, lhs: Scalar, rhs: Scalar) -> Val:
        ...
    @overload
    def logical_right_shift(self, lhs: TensorView, rhs: Operand) -> TensorView:
        """Bits moved down, zeros from above. By an amount outside 0 to the width: 0."""
    @overload
    def logical_right_shift(self, lhs: Operand, rhs: TensorView) -> TensorView:
        ...
    @overload
    def logical_right_shift(self, lhs: Scalar, rhs: Scalar) -> Val:
        ...
    @overload
    def logical_xor(self, lhs: TensorView, rhs: Operand) -> TensorView:
        """Does exactly one hold? A number holds unless it is 0."""
    @overload
    def logical_xor(self, lhs: Operand, rhs: TensorView) -> TensorView:
        ...
    @overload
    def logical_xor(self, lhs: Scalar, rhs: Scalar) -> Val:
        ...
    @overload
    def logsigmoid(self, x: TensorView) -> TensorView:
        """The logarithm of the logistic function."""
    @overload
    def logsigmoid(self, x: Scalar) -> Val:
        ...
    @overload
    def lt(self, lhs: TensorView, rhs: Operand) -> TensorView:
        """Is the first less? False with NaN."""
    @overload
    def lt(self, lhs: Operand, rhs: TensorView) -> TensorView:
        ...
    @overload
    def lt(self, lhs: Scalar, rhs: Scalar) -> Val:
        ...
    def matmul(self, arg1: TensorView, arg2: TensorView) -> TensorView:
        """The product of matrices, vectors or batches of matrices, accumulated in f32 or f64."""
    @overload
    def max(
        self,
        arg: TensorView,
        dims: Optional[Union[int, Sequence[int]]] = ...,
        keepdim: Optional[bool] = ...,
        dtype: Optional[DTypeLike] = ...,
    ) -> TensorView:
        """The largest element over the given dimensions, or all; NaN if any is."""
    @overload
    def max(
        self,
        arg: TensorView,
        dim: Optional[Union[int, Sequence[int]]] = ...,
        keepdim: Optional[bool] = ...,
        dtype: Optional[DTypeLike] = ...,
    ) -> TensorView:
        ...
    @overload
    def maximum(self, lhs: TensorView, rhs: Operand) -> TensorView:
        """The greater. NaN if either is; 0 is greater than -0."""
    @overload
    def maximum(self, lhs: Operand, rhs: TensorView) -> TensorView:
        ...
    @overload
    def maximum(self, lhs: Scalar, rhs: Scalar) -> Val:
        ...
    @overload
    def mean(
        self,
        arg: TensorView,
        dims: Optional[Union[int, Sequence[int]]] = ...,
        keepdim: Optional[bool] = ...,
    ) -> TensorView:
        """The mean over the given dimensions, or all."""
    @overload
    def mean(
        self,
        arg: TensorView,
        dim: Optional[Union[int, Sequence[int]]] = ...,
        keepdim: Optional[bool] = ...,
    ) -> TensorView:
        ...
    @overload
    def min(
        self,
        arg: TensorView,
        dims: Optional[Union[int, Sequence[int]]] = ...,
        keepdim: Optional[bool] = ...,
        dtype: Optional[DTypeLike] = ...,
    ) -> TensorView:
        """The smallest element over the given dimensions, or all; NaN if any is."""
    @overload
    def min(
        self,
        arg: TensorView,
        dim: Optional[Union[int, Sequence[int]]] = ...,
        keepdim: Optional[bool] = ...,
        dtype: Optional[DTypeLike] = ...,
    ) -> TensorView:
        ...
    @overload
    def minimum(self, lhs: TensorView, rhs: Operand) -> TensorView:
        """The lesser. NaN if either is; -0 is less than 0."""
    @overload
    def minimum(self, lhs: Operand, rhs: TensorView) -> TensorView:
        ...
    @overload
    def minimum(self, lhs: Scalar, rhs: Scalar) -> Val:
        ...
    @overload
    def mish(self, x: TensorView) -> TensorView:
        """x times the tanh of its softplus."""
    @overload
    def mish(self, x: Scalar) -> Val:
        ...
    @overload
    def mod(self, lhs: TensorView, rhs: Operand) -> TensorView:
        """Remainder of the truncated quotient, with the sign of the dividend; the same as fmod."""
    @overload
    def mod(self, lhs: Operand, rhs: TensorView) -> TensorView:
        ...
    @overload
    def mod(self, lhs: Scalar, rhs: Scalar) -> Val:
        ...
    @overload
    def mul(self, lhs: TensorView, rhs: Operand) -> TensorView:
        """Product. Integers wrap; of two bools, whether both hold."""
    @overload
    def mul(self, lhs: Operand, rhs: TensorView) -> TensorView:
        ...
    @overload
    def mul(self, lhs: Scalar, rhs: Scalar) -> Val:
        ...
    @overload
    def ne(self, lhs: TensorView, rhs: Operand) -> TensorView:
        """Do they differ? NaN differs from everything."""
    @overload
    def ne(self, lhs: Operand, rhs: TensorView) -> TensorView:
        ...
    @overload
    def ne(self, lhs: Scalar, rhs: Scalar) -> Val:
        ...
    @overload
    def neg(self, x: TensorView) -> TensorView:
        """Negation. The smallest integer is its own."""
    @overload
    def neg(self, x: Scalar) -> Val:
        ...
    @overload
    def nextafter(self, lhs: TensorView, rhs: Operand) -> TensorView:
        """The number of the dtype that follows lhs on the way to rhs; rhs itself where they are equal."""
    @overload
    def nextafter(self, lhs: Operand, rhs: TensorView) -> TensorView:
        ...
    @overload
    def nextafter(self, lhs: Scalar, rhs: Scalar) -> Val:
        ...
    def normal(
        self,
        mean: Scalar,
        std: Scalar,
        shape: Sequence[Union[int, Val]],
        rng_seed: Optional[Scalar] = ...,
        rng_offset: Optional[Scalar] = ...,
        dtype: Optional[DTypeLike] = ...,
    ) -> TensorView:
        """Random numbers of normal distribution, of a seed and an offset or of the call's next ones."""
    def pad(self, arg: TensorView, pad_widths: Sequence[Union[int, Val]], value: Optional[Scalar] = ...) -> TensorView:
        """A border of the value (0 if none): widths before and after, innermost dimension first; negative widths crop."""
    def permute(self, arg: TensorView, dims: Sequence[int]) -> TensorView:
        """Dimensions reordered: result dimension `i` is dimension `dims[i]`."""
    @overload
    def philox(self, seed: TensorView, offset: Operand, number: Operand) -> TensorView:
        """Word `number` of the random sequence of a seed at an offset, from 0 to 2^32 - 1: Philox 4x32-10 of the counter (offset, number / 4) under the key seed."""
    @overload
    def philox(self, seed: Operand, offset: TensorView, number: Operand) -> TensorView:
        ...
    @overload
    def philox(self, seed: Operand, offset: Operand, number: TensorView) -> TensorView:
        ...
    @overload
    def philox(self, seed: Scalar, offset: Scalar, number: Scalar) -> Val:
        ...
    @overload
    def pow(self, base: TensorView, exponent: Operand) -> TensorView:
        """Power. Anything to the 0 is 1, negative bases take only whole exponents, else NaN. Integers wrap; to a negative exponent they truncate to 0, but for 1 and -1."""
    @overload
    def pow(self, base: Operand, exponent: TensorView) -> TensorView:
        ...
    @overload
    def pow(self, base: Scalar, exponent: Scalar) -> Val:
        ...
    @overload
    def prod(
        self,
        arg: TensorView,
        dims: Optional[Union[int, Sequence[int]]] = ...,
        keepdim: Optional[bool] = ...,
        dtype: Optional[DTypeLike] = ...,
    ) -> TensorView:
        """The product over the given dimensions, or all. Integers and bools are multiplied as i64."""
    @overload
    def prod(
        self,
        arg: TensorView,
        dim: Optional[Union[int, Sequence[int]]] = ...,
        keepdim: Optional[bool] = ...,
        dtype: Optional[DTypeLike] = ...,
    ) -> TensorView:
        ...
    def rand_like(self, arg: TensorView) -> TensorView:
        """Random numbers from 0 to 1 in the shape and dtype of a tensor."""
    def randn_like(self, arg: TensorView) -> TensorView:
        """Random numbers of normal distribution, mean 0 and deviation 1, in the shape and dtype of a tensor."""
    @overload
    def real(self, x: TensorView) -> TensorView:
        """The real part of a complex number; a copy of a real one."""
    @overload
    def real(self, x: Scalar) -> Val:
        ...
    @overload
    def reciprocal(self, x: TensorView) -> TensorView:
        """One over x."""
    @overload
    def reciprocal(self, x: Scalar) -> Val:
        ...
    @overload
    def relu(self, x: TensorView) -> TensorView:
        """x where positive, else 0. NaN stays."""
    @overload
    def relu(self, x: Scalar) -> Val:
        ...
    @overload
    def relu6(self, x: TensorView) -> TensorView:
        """x brought between 0 and 6. NaN stays."""
    @overload
    def relu6(self, x: Scalar) -> Val:
        ...
    @overload
    def remainder(self, lhs: TensorView, rhs: Operand) -> TensorView:
        """Remainder of the floored quotient, with the sign of the divisor. An integer modulo 0 is itself; a float modulo 0 is NaN."""
    @overload
    def remainder(self, lhs: Operand, rhs: TensorView) -> TensorView:
        ...
    @overload
    def remainder(self, lhs: Scalar, rhs: Scalar) -> Val:
        ...
    def reshape(self, arg: TensorView, new_shape: Sequence[Union[int, Val]]) -> TensorView:
        """The elements in row-major order, in another shape; one -1 is worked out."""
    def rms_norm(
        self,
        arg: TensorView,
        normalized_shape: Sequence[Union[int, Val]],
        weight: Optional[TensorView] = ...,
        eps: Optional[Scalar] = ...,
    ) -> TensorView:
        """Root mean square 1 over the trailing dimensions of the given shape, then times weight."""
    def rms_norm_backward(
        self,
        grad: TensorView,
        arg: TensorView,
        normalized_shape: Sequence[Union[int, Val]],
        invstd: TensorView,
        weight: Optional[TensorView] = ...,
    ) -> Tuple[TensorView, TensorView]:
        """The gradients of rms_norm: of its operand and weight."""
    @overload
    def round(self, x: TensorView) -> TensorView:
        """The nearest whole number; halfway, the even one."""
    @overload
    def round(self, x: Scalar) -> Val:
        ...
    @overload
    def rsqrt(self, x: TensorView) -> TensorView:
        """One over the square root: of 0, infinity of its sign; below 0, NaN."""
    @overload
    def rsqrt(self, x: Scalar) -> Val:
        ...
    @overload
    def scan(
        self,
        tensors: Union[TensorView, Sequence[TensorView]],
        combine: Union[str, Callable[..., Any]],
        init: Optional[Union[Number, Sequence[Number]]] = ...,
        dim: Optional[Union[int, Val]] = ...,
    ) -> Any:
        """Tensors of one shape scanned together along a dimension, each element combined with all before it in order, any grouping of which must give the same: by a lambda of the states of two runs, or the name of a fold."""
    @overload
    def scan(
        self,
        arg: Union[TensorView, Sequence[TensorView]],
        combine: Union[str, Callable[..., Any]],
        init: Optional[Union[Number, Sequence[Number]]] = ...,
        dim: Optional[Union[int, Val]] = ...,
    ) -> Any:
        ...
    @overload
    def scatter(self, arg: TensorView, index: TensorView, src: TensorView, dim: Union[int, Val]) -> TensorView:
        """The tensor with elements of the source put where the index says along a dimension; the last one stays."""
    @overload
    def scatter(self, arg: TensorView, index: TensorView, src: Scalar, dim: Union[int, Val]) -> Val:
        ...
    def sdpfa_bwd(
        self,
        grad_output: TensorView,
        query: TensorView,
        key: TensorView,
        value: TensorView,
        output: TensorView,
        logsumexp: TensorView,
        dropout_p: Optional[Scalar] = ...,
        is_causal: Optional[Scalar] = ...,
        philox_seed: Optional[TensorView] = ...,
        philox_offset: Optional[TensorView] = ...,
        scale: Optional[Scalar] = ...,
    ) -> Tuple[TensorView, TensorView, TensorView]:
        """The gradients of scaled dot product attention for query, key and value."""
    def sdpfa_fwd(
        self,
        query: TensorView,
        key: TensorView,
        value: TensorView,
        bias: Optional[TensorView] = ...,
        mask: Optional[TensorView] = ...,
        dropout_p: Optional[Scalar] = ...,
        is_causal: Optional[Scalar] = ...,
        scale: Optional[Scalar] = ...,
    ) -> Tuple[TensorView, TensorView, TensorView, TensorView]:
        """Scaled dot product attention: the result, the logarithms of the sums, and seed and offset of the dropout."""
    @overload
    def segment_set(self, x: TensorView) -> TensorView:
        """A copy that ends a segment: what reads it is in another."""
    @overload
    def segment_set(self, x: Scalar) -> Val:
        ...
    def select(self, arg: TensorView, index: Scalar, dim: Union[int, Val]) -> TensorView:
        """One slice along a dimension, which goes; negative indices count from the end."""
    @overload
    def selu(self, x: TensorView) -> TensorView:
        """Elu scaled so that mean 0 and variance 1 stay."""
    @overload
    def selu(self, x: Scalar) -> Val:
        ...
    @overload
    def set(self, x: TensorView) -> TensorView:
        """The same elements. As an output it is a copy, but for a view of an input, which shares the input's memory."""
    @overload
    def set(self, x: Scalar) -> Val:
        ...
    def shape(self, arg: TensorView) -> List[Val]:
        """The sizes of all dimensions, a list of scalar values."""
    @overload
    def sigmoid(self, x: TensorView) -> TensorView:
        """The logistic function, 1 / (1 + exp(-x))."""
    @overload
    def sigmoid(self, x: Scalar) -> Val:
        ...
    @overload
    def sigmoid_backward(self, grad: TensorView, y: Operand) -> TensorView:
        """The gradient of sigmoid where its result is y, times `grad`."""
    @overload
    def sigmoid_backward(self, grad: Operand, y: TensorView) -> TensorView:
        ...
    @overload
    def sigmoid_backward(self, grad: Scalar, y: Scalar) -> Val:
        ...
    @overload
    def sign(self, x: TensorView) -> TensorView:
        """1, 0 or -1 as x is positive, zero or negative. Zeros keep their sign; NaN stays."""
    @overload
    def sign(self, x: Scalar) -> Val:
        ...
    @overload
    def signbit(self, x: TensorView) -> TensorView:
        """Is x negative, -0 included? False for NaN of either sign."""
    @overload
    def signbit(self, x: Scalar) -> Val:
        ...
    @overload
    def silu(self, x: TensorView) -> TensorView:
        """x times its logistic function."""
    @overload
    def silu(self, x: Scalar) -> Val:
        ...
    @overload
    def silu_backward(self, grad: TensorView, x: Operand) -> TensorView:
        """The gradient of silu at x, times `grad`."""
    @overload
    def silu_backward(self, grad: Operand, x: TensorView) -> TensorView:
        ...
    @overload
    def silu_backward(self, grad: Scalar, x: Scalar) -> Val:
        ...
    @overload
    def sin(self, x: TensorView) -> TensorView:
        """Sine of x radians; of an infinity, NaN."""
    @overload
    def sin(self, x: Scalar) -> Val:
        ...
    @overload
    def sinh(self, x: TensorView) -> TensorView:
        """Hyperbolic sine."""
    @overload
    def sinh(self, x: Scalar) -> Val:
        ...
    def size(self, arg: TensorView, dim: Union[int, Val]) -> Val:
        """The size of a dimension, a scalar value."""
    def slice(
        self,
        arg: TensorView,
        start_indices: Sequence[Union[int, Val]],
        end_indices: Sequence[Union[int, Val]],
        strides: Optional[Sequence[Union[int, Val]]] = ...,
        manual_normalization: Optional[bool] = ...,
    ) -> TensorView:
        """The elements from start to before end in each dimension; indices beyond are clamped."""
    def softmax(self, arg: TensorView, dim: Union[int, Val]) -> TensorView:
        """exp(x) over its sum along a dimension."""
    def softmax_backward(self, grad: TensorView, output: TensorView, dim: Union[int, Val]) -> TensorView:
        """The gradient of softmax from that of its result and the result."""
    @overload
    def softplus(self, x: TensorView, beta: Optional[Operand] = ..., threshold: Optional[Operand] = ...) -> TensorView:
        """log(1 + exp(beta x)) / beta; x itself where beta x is above the threshold."""
    @overload
    def softplus(self, x: Operand, beta: Optional[TensorView] = ..., threshold: Optional[Operand] = ...) -> TensorView:
        ...
    @overload
    def softplus(self, x: Operand, beta: Optional[Operand] = ..., threshold: Optional[TensorView] = ...) -> TensorView:
        ...
    @overload
    def softplus(self, x: Scalar, beta: Optional[Scalar] = ..., threshold: Optional[Scalar] = ...) -> Val:
        ...
    @overload
    def softshrink(self, x: TensorView, lambd: Optional[Operand] = ...) -> TensorView:
        """x moved towards 0 by lambd, 0 where it is nearer. NaN stays."""
    @overload
    def softshrink(self, x: Operand, lambd: Optional[TensorView] = ...) -> TensorView:
        ...
    @overload
    def softshrink(self, x: Scalar, lambd: Optional[Scalar] = ...) -> Val:
        ...
    @overload
    def softsign(self, x: TensorView) -> TensorView:
        """x over 1 + |x|."""
    @overload
    def softsign(self, x: Scalar) -> Val:
        ...
    @overload
    def sqrt(self, x: TensorView) -> TensorView:
        """Square root; below 0, NaN."""
    @overload
    def sqrt(self, x: Scalar) -> Val:
        ...
    @overload
    def square(self, x: TensorView) -> TensorView:
        """x times itself. Integers wrap."""
    @overload
    def square(self, x: Scalar) -> Val:
        ...
    @overload
    def squeeze(
        self,
        arg: TensorView,
        dims: Union[int, Sequence[int]],
        squeeze_expanded: Optional[bool] = ...,
    ) -> TensorView:
        """Without the given dimensions of size 1."""
    @overload
    def squeeze(
        self,
        arg: TensorView,
        dim: Union[int, Sequence[int]],
        squeeze_expanded: Optional[bool] = ...,
    ) -> TensorView:
        ...
    @overload
    def standard_deviation(
        self,
        arg: TensorView,
        dims: Optional[Union[int, Sequence[int]]] = ...,
        correction: Optional[Union[int, Val]] = ...,
        keepdim: Optional[bool] = ...,
    ) -> TensorView:
        """The square root of the variance over the given dimensions, or all, divided by count - correction."""
    @overload
    def standard_deviation(
        self,
        arg: TensorView,
        dim: Optional[Union[int, Sequence[int]]] = ...,
        correction: Optional[Union[int, Val]] = ...,
        keepdim: Optional[bool] = ...,
    ) -> TensorView:
        ...
    def stride_order(self, arg: TensorView, stride_order: Sequence[int]) -> TensorView:
        """The same elements, which as an output have this memory order: dimension `i` has rank `stride_order[i]`, 0 innermost; an empty list says row-major."""
    @overload
    def sub(self, lhs: TensorView, rhs: Operand) -> TensorView:
        """Difference. Integers wrap; not of two bools."""
    @overload
    def sub(self, lhs: Operand, rhs: TensorView) -> TensorView:
        ...
    @overload
    def sub(self, lhs: Scalar, rhs: Scalar) -> Val:
        ...
    @overload
    def sum(
        self,
        arg: TensorView,
        dims: Optional[Union[int, Sequence[int]]] = ...,
        keepdim: Optional[bool] = ...,
        dtype: Optional[DTypeLike] = ...,
    ) -> TensorView:
        """The sum over the given dimensions, or all. Integers and bools are summed as i64."""
    @overload
    def sum(
        self,
        arg: TensorView,
        dim: Optional[Union[int, Sequence[int]]] = ...,
        keepdim: Optional[bool] = ...,
        dtype: Optional[DTypeLike] = ...,
    ) -> TensorView:
        ...
    def take_along_axis(self, arg: TensorView, index: TensorView, dim: Union[int, Val]) -> TensorView:
        """As gather; on other dimensions than dim both have one size, or 1, which repeats. An index of floats counts by its integer part."""
    @overload
    def tan(self, x: TensorView) -> TensorView:
        """Tangent of x radians; of an infinity, NaN."""
    @overload
    def tan(self, x: Scalar) -> Val:
        ...
    @overload
    def tanh(self, x: TensorView) -> TensorView:
        """Hyperbolic tangent."""
    @overload
    def tanh(self, x: Scalar) -> Val:
        ...
    @overload
    def tanh_backward(self, grad: TensorView, y: Operand) -> TensorView:
        """The gradient of tanh where its result is y, times `grad`."""
    @overload
    def tanh_backward(self, grad: Operand, y: TensorView) -> TensorView:
        ...
    @overload
    def tanh_backward(self, grad: Scalar, y: Scalar) -> Val:
        ...
    @overload
    def tanh_gelu(self, x: TensorView) -> TensorView:
        """Gelu with its tanh approximation."""
    @overload
    def tanh_gelu(self, x: Scalar) -> Val:
        ...
    @overload
    def tanh_gelu_backward(self, grad: TensorView, x: Operand) -> TensorView:
        """The gradient of tanh_gelu at x, times `grad`."""
    @overload
    def tanh_gelu_backward(self, grad: Operand, x: TensorView) -> TensorView:
        ...
    @overload
    def tanh_gelu_backward(self, grad: Scalar, x: Scalar) -> Val:
        ...
    @overload
    def tanhshrink(self, x: TensorView) -> TensorView:
        """x less its tanh."""
    @overload
    def tanhshrink(self, x: Scalar) -> Val:
        ...
    @overload
    def threshold(self, x: TensorView, threshold: Operand, value: Operand) -> TensorView:
        """x where above the threshold, else the value. NaN stays."""
    @overload
    def threshold(self, x: Operand, threshold: TensorView, value: Operand) -> TensorView:
        ...
    @overload
    def threshold(self, x: Operand, threshold: Operand, value: TensorView) -> TensorView:
        ...
    @overload
    def threshold(self, x: Scalar, threshold: Scalar, value: Scalar) -> Val:
        ...
    @overload
    def threshold_backward(self, grad: TensorView, x: Operand, threshold: Operand) -> TensorView:
        """`grad` where x is above the threshold, else 0: the gradient of relu at 0."""
    @overload
    def threshold_backward(self, grad: Operand, x: TensorView, threshold: Operand) -> TensorView:
        ...
    @overload
    def threshold_backward(self, grad: Operand, x: Operand, threshold: TensorView) -> TensorView:
        ...
    @overload
    def threshold_backward(self, grad: Scalar, x: Scalar, threshold: Scalar) -> Val:
        ...
    def topk(
        self,
        arg: TensorView,
        k: Scalar,
        dim: Optional[Union[int, Val]] = ...,
        largest: Optional[bool] = ...,
        sorted: Optional[bool] = ...,
    ) -> Tuple[TensorView, TensorView]:
        """The k largest (or smallest) elements of a dimension, in sorted order, and their indices."""
    def triu(self, arg: TensorView, diagonal: Optional[Scalar] = ...) -> TensorView:
        """The elements on and above a diagonal of the last two dimensions, zero elsewhere."""
    @overload
    def truediv(self, lhs: TensorView, rhs: Operand) -> TensorView:
        """Quotient of real numbers, of integers too."""
    @overload
    def truediv(self, lhs: Operand, rhs: TensorView) -> TensorView:
        ...
    @overload
    def truediv(self, lhs: Scalar, rhs: Scalar) -> Val:
        ...
    @overload
    def trunc(self, x: TensorView) -> TensorView:
        """The whole part of x."""
    @overload
    def trunc(self, x: Scalar) -> Val:
        ...
    def uniform(
        self,
        minval: Scalar,
        maxval: Scalar,
        shape: Sequence[Union[int, Val]],
        rng_seed: Optional[Scalar] = ...,
        rng_offset: Optional[Scalar] = ...,
        dtype: Optional[DTypeLike] = ...,
    ) -> TensorView:
        """Random numbers between two bounds, of a seed and an offset or of the call's next ones."""
    @overload
    def var(
        self,
        arg: TensorView,
        dims: Union[int, Sequence[int]],
        correction: Optional[Union[int, Val]] = ...,
        keepdim: Optional[bool] = ...,
    ) -> TensorView:
        """The variance over the given dimensions, divided by count - correction."""
    @overload
    def var(
        self,
        arg: TensorView,
        dim: Union[int, Sequence[int]],
        correction: Optional[Union[int, Val]] = ...,
        keepdim: Optional[bool] = ...,
    ) -> TensorView:
        ...
    @overload
    def var_mean(
        self,
        arg: TensorView,
        dims: Union[int, Sequence[int]],
        correction: Optional[Union[int, Val]] = ...,
        keepdim: Optional[bool] = ...,
    ) -> Tuple[TensorView, TensorView]:
        """The variance, divided by count - correction, and the mean over the given dimensions."""
    @overload
    def var_mean(
        self,
        arg: TensorView,
        dim: Union[int, Sequence[int]],
        correction: Optional[Union[int, Val]] = ...,
        keepdim: Optional[bool] = ...,
    ) -> Tuple[TensorView, TensorView]:
        ...
    @overload
    def welford(self, arg: TensorView, dims: Union[int, Sequence[int]]) -> Tuple[TensorView, TensorView, TensorView]:
        """The mean, the sum of squared deviations from it, and the count over the given dimensions."""
    @overload
    def welford(self, arg: TensorView, dim: Union[int, Sequence[int]]) -> Tuple[TensorView, TensorView, TensorView]:
        ...
    @overload
    def where(self, condition: TensorView, x: Operand, y: Operand) -> TensorView:
        """x where the condition holds, else y. The condition must be a bool; a NaN not chosen has no effect."""
    @overload
    def where(self, condition: Operand, x: TensorView, y: Operand) -> TensorView:
        ...
    @overload
    def where(self, condition: Operand, x: Operand, y: TensorView) -> TensorView:
        ...
    @overload
    def where(self, condition: Scalar, x: Scalar, y: Scalar) -> Val:
        ...
