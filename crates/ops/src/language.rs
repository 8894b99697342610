//! The ops of the definition language that are not scalar: names, parameters, defaults. The graph has their shapes, the
//! evaluator their meaning.

use super::param::{Param, ParamDefault, ParamKind};
use crate::DType;

/// One op that is not scalar.
#[derive(Debug)]
pub struct LanguageOpRow {
    /// The name in the definition language.
    pub name: &'static str,
    /// The parameters, in positional order.
    pub params: &'static [Param],
    /// One sentence or two for the user.
    pub doc: &'static str,
}

const ARG: Param = Param::required("arg", ParamKind::Tensor);
const SOME_DTYPE: Param = Param::optional("dtype", ParamKind::DType, ParamDefault::Absent);
const KEEPDIM: Param = Param::optional("keepdim", ParamKind::Bool, ParamDefault::Bool(false));
const ALL_DIMS: Param = Param::optional("dims", ParamKind::Ints, ParamDefault::Absent).also("dim");
const DIMS: Param = Param::required("dims", ParamKind::Ints).also("dim");
const DIM: Param = Param::required("dim", ParamKind::Int);
const CORRECTION: Param = Param::optional("correction", ParamKind::Int, ParamDefault::Int(1));
const NORMALIZED_SHAPE: Param = Param::required("normalized_shape", ParamKind::Shape);
const WEIGHT: Param = Param::optional("weight", ParamKind::Tensor, ParamDefault::Absent);
const BIAS: Param = Param::optional("bias", ParamKind::Tensor, ParamDefault::Absent);
const MATRICES: [Param; 2] =
    [Param::required("arg1", ParamKind::Tensor), Param::required("arg2", ParamKind::Tensor)];
const EPS: Param = Param::optional("eps", ParamKind::Scalar, ParamDefault::Float(1e-5));
const GRAD: Param = Param::required("grad", ParamKind::Tensor);
const OUTPUT: Param = Param::required("output", ParamKind::Tensor);
const SAVED_MEAN: Param = Param::required("mean", ParamKind::Tensor);
const SAVED_INVSTD: Param = Param::required("invstd", ParamKind::Tensor);
const NUM_GROUPS: Param = Param::required("num_groups", ParamKind::Int);
const RUNNING_MEAN: Param = Param::optional("running_mean", ParamKind::Tensor, ParamDefault::Absent);
const RUNNING_VAR: Param = Param::optional("running_var", ParamKind::Tensor, ParamDefault::Absent);
const TRAINING: Param = Param::optional("training", ParamKind::Bool, ParamDefault::Bool(true));
const RNG_SEED: Param = Param::optional("rng_seed", ParamKind::Scalar, ParamDefault::Absent);
const RNG_OFFSET: Param = Param::optional("rng_offset", ParamKind::Scalar, ParamDefault::Absent);
const DRAWN_DTYPE: Param = Param::optional("dtype", ParamKind::DType, ParamDefault::DType(DType::F32));

const SOME_DIM: Param = Param::optional("dim", ParamKind::Int, ParamDefault::Absent);
const SOME_INIT: Param = Param::optional("init", ParamKind::Scalar, ParamDefault::Absent);
const TENSORS: Param = Param::required("tensors", ParamKind::Tensors).also("arg");
const COMBINE: Param = Param::required("combine", ParamKind::Combine);
const FINALIZE: Param = Param::optional("finalize", ParamKind::Lambda, ParamDefault::Absent);
const INIT: Param = Param::optional("init", ParamKind::Numbers, ParamDefault::Absent);
const INDEX: Param = Param::required("index", ParamKind::Tensor);
const fn option(name: &'static str) -> Param {
    Param::optional(name, ParamKind::Scalar, ParamDefault::Absent)
}
const fn flag(name: &'static str) -> Param {
    Param::optional(name, ParamKind::Bool, ParamDefault::Bool(false))
}

const fn tensor(name: &'static str) -> Param {
    Param::required(name, ParamKind::Tensor)
}

const fn maybe_tensor(name: &'static str) -> Param {
    Param::optional(name, ParamKind::Tensor, ParamDefault::Absent)
}

const fn maybe_scalar(name: &'static str) -> Param {
    Param::optional(name, ParamKind::Scalar, ParamDefault::Absent)
}

const fn shape(name: &'static str) -> Param {
    Param::required(name, ParamKind::Shape)
}

/// Makes [`LanguageOp`] and its table, one row each.
macro_rules! language_ops {
    ($($variant:ident = $name:literal [$($param:expr),* $(,)?] $doc:literal;)+) => {
        /// An op of the definition language that is not scalar: the number of a row.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum LanguageOp {
            $(#[doc = $doc] $variant,)+
        }

        impl LanguageOp {
            /// Every op, in table order.
            pub const ALL: &'static [LanguageOp] = &[$(LanguageOp::$variant,)+];

            /// Its row.
            pub fn row(self) -> &'static LanguageOpRow {
                static TABLE: &[LanguageOpRow] = &[$(LanguageOpRow { name: $name, params: &[$($param),*], doc: $doc },)+];
                &TABLE[self as usize]
            }
        }
    };
}

language_ops! {
    Cast = "cast" [Param::operand("arg"), Param::required("dtype", ParamKind::DType)]
        "The same numbers in another dtype, rounded to nearest, integers for bf16 first to f32; floats go to i32, i64 and u64 by truncation, saturated, to other integers by the low bits of these.";
    Broadcast = "broadcast" [ARG, Param::required("is_broadcast_dim", ParamKind::Bools)]
        "New dimensions of size 1 where the list says True.";
    BroadcastInDim = "broadcast_in_dim" [ARG, shape("shape"), Param::required("broadcast_dims", ParamKind::Ints)]
        "The tensor in a larger shape: its dimension `i` becomes dimension `broadcast_dims[i]`.";
    Expand = "expand" [ARG, shape("shape")]
        "Dimensions of size 1 repeated to the sizes given; -1 keeps a size.";
    Squeeze = "squeeze" [ARG, DIMS, flag("squeeze_expanded")]
        "Without the given dimensions of size 1.";
    Reshape = "reshape" [ARG, shape("new_shape")]
        "The elements in row-major order, in another shape; one -1 is worked out.";
    Permute = "permute" [ARG, Param::required("dims", ParamKind::Ints)]
        "Dimensions reordered: result dimension `i` is dimension `dims[i]`.";
    StrideOrder = "stride_order" [ARG, Param::required("stride_order", ParamKind::Ints)]
        "The same elements, which as an output have this memory order: dimension `i` has rank `stride_order[i]`, 0 innermost; an empty list says row-major.";
    Slice = "slice" [ARG, shape("start_indices"), shape("end_indices"),
        Param::optional("strides", ParamKind::Shape, ParamDefault::Absent), flag("manual_normalization")]
        "The elements from start to before end in each dimension; indices beyond are clamped.";
    Pad = "pad" [ARG, shape("pad_widths"), Param::optional("value", ParamKind::Scalar, ParamDefault::Absent)]
        "A border of the value (0 if none): widths before and after, innermost dimension first; negative widths crop.";
    Cat = "cat" [Param::required("tensors", ParamKind::Tensors), Param::optional("dim", ParamKind::Int, ParamDefault::Int(0)),
        flag("manual_padding")]
        "Tensors of one dtype one after the other along a dimension.";
    Gather = "gather" [ARG, INDEX, DIM]
        "Result[i][j] is arg[index[i][j]][j] for dim 0, and so on: as large as the index, which is nowhere larger than the tensor but along dim.";
    TakeAlongAxis = "take_along_axis" [ARG, INDEX, DIM]
        "As gather; on other dimensions than dim both have one size, or 1, which repeats. An index of floats counts by its integer part.";
    IndexSelect = "index_select" [ARG, INDEX, DIM]
        "The slices along a dimension at the indices of a tensor of at most one dimension.";
    Select = "select" [ARG, Param::required("index", ParamKind::Scalar), DIM]
        "One slice along a dimension, which goes; negative indices count from the end.";
    EmbeddingFwd = "embedding_fwd" [Param::required("input", ParamKind::Tensor), Param::required("weight", ParamKind::Tensor),
        option("padding_idx"), option("max_norm"), option("norm_type"), option("scale_grad_by_freq"), option("sparse")]
        "The rows of a table at the indices of the input, those above `max_norm` shortened to it (the table stays as it is). What \
         only concerns gradients changes nothing.";
    Triu = "triu" [ARG, Param::optional("diagonal", ParamKind::Scalar, ParamDefault::Int(0))]
        "The elements on and above a diagonal of the last two dimensions, zero elsewhere.";
    Sum = "sum" [ARG, ALL_DIMS, KEEPDIM, SOME_DTYPE]
        "The sum over the given dimensions, or all. Integers and bools are summed as i64.";
    Prod = "prod" [ARG, ALL_DIMS, KEEPDIM, SOME_DTYPE]
        "The product over the given dimensions, or all. Integers and bools are multiplied as i64.";
    Max = "max" [ARG, ALL_DIMS, KEEPDIM, SOME_DTYPE]
        "The largest element over the given dimensions, or all; NaN if any is.";
    Min = "min" [ARG, ALL_DIMS, KEEPDIM, SOME_DTYPE]
        "The smallest element over the given dimensions, or all; NaN if any is.";
    Var = "var" [ARG, DIMS, CORRECTION, KEEPDIM]
        "The variance over the given dimensions, divided by count - correction.";
    VarMean = "var_mean" [ARG, DIMS, CORRECTION, KEEPDIM]
        "The variance, divided by count - correction, and the mean over the given dimensions.";
    Welford = "welford" [ARG, DIMS]
        "The mean, the sum of squared deviations from it, and the count over the given dimensions.";
    Any = "any" [ARG, ALL_DIMS, KEEPDIM]
        "Is any element over the given dimensions, or all, not zero?";
    All = "all" [ARG, ALL_DIMS, KEEPDIM]
        "Is no element over the given dimensions, or all, zero?";
    Argmax = "argmax" [ARG, SOME_DIM, KEEPDIM]
        "The index of the largest element along a dimension, or among all in row-major order; of equals the first; NaN is the largest.";
    Argmin = "argmin" [ARG, SOME_DIM, KEEPDIM]
        "The index of the smallest element along a dimension, or among all in row-major order; of equals the first; NaN is the smallest.";
    Fold = "fold" [TENSORS, COMBINE, INIT, ALL_DIMS, KEEPDIM, FINALIZE]
        "Tensors of one shape reduced together, any grouping and order of which must give the same: by a lambda of the states of two runs, or the name of a fold. Results: the states, from init on, or what finalize, a lambda of them, makes of them. Any number of runs begin with init: combined with itself it stays as it is.";
    Cumsum = "cumsum" [ARG, DIM, SOME_INIT]
        "The sum of each element and all before it along a dimension, and of init.";
    Cumprod = "cumprod" [ARG, DIM, SOME_INIT]
        "The product of each element and all before it along a dimension, and of init.";
    Cummax = "cummax" [ARG, DIM, SOME_INIT]
        "The largest of each element and all before it along a dimension, and of init; NaN if any is.";
    Cummin = "cummin" [ARG, DIM, SOME_INIT]
        "The smallest of each element and all before it along a dimension, and of init; NaN if any is.";
    Scan = "scan" [TENSORS, COMBINE, INIT, DIM]
        "Tensors of one shape scanned together along a dimension, each element combined with all before it in order, any grouping of which must give the same: by a lambda of the states of two runs, or the name of a fold.";
    Full = "full" [shape("shape"), Param::required("fill_value", ParamKind::Scalar), Param::required("dtype", ParamKind::DType)]
        "A tensor of one value.";
    Iota = "iota" [Param::required("length", ParamKind::Scalar),
        Param::optional("start", ParamKind::Scalar, ParamDefault::Absent),
        Param::optional("step", ParamKind::Scalar, ParamDefault::Absent),
        Param::optional("dtype", ParamKind::DType, ParamDefault::DType(DType::I64))]
        "start + i step for i below length; from 0 by 1 if not given.";
    Argsort = "argsort" [ARG, DIM, flag("descending"), flag("stable")]
        "The indices that sort a dimension; equal elements stay in order, NaN is largest.";
    Topk = "topk" [ARG, Param::required("k", ParamKind::Scalar), Param::optional("dim", ParamKind::Int, ParamDefault::Int(-1)),
        Param::optional("largest", ParamKind::Bool, ParamDefault::Bool(true)), flag("sorted")]
        "The k largest (or smallest) elements of a dimension, in sorted order, and their indices.";
    Scatter = "scatter" [ARG, tensor("index"), Param::operand("src"), DIM]
        "The tensor with elements of the source put where the index says along a dimension; the last one stays.";
    Matmul = "matmul" [MATRICES[0], MATRICES[1]]
        "The product of matrices, vectors or batches of matrices, accumulated in f32 or f64.";
    Linear = "linear" [MATRICES[0], MATRICES[1], BIAS]
        "The first tensor times the transpose of the second, plus the bias.";
    GroupedMm = "grouped_mm" [tensor("mat1"), tensor("mat2"), tensor("offsets"), maybe_tensor("scale1"), maybe_tensor("scale2"),
        maybe_tensor("alpha"), BIAS, maybe_tensor("beta"), SOME_DTYPE,
        Param::optional("output_block_scale_size", ParamKind::Int, ParamDefault::Int(0)),
        Param::optional("output_block_scale_dtype", ParamKind::DType, ParamDefault::Absent), flag("output_gamma")]
        "Products of groups of matrices; the offsets say where each group ends.";
    SdpfaFwd = "sdpfa_fwd" [tensor("query"), tensor("key"), tensor("value"), maybe_tensor("bias"), maybe_tensor("mask"),
        maybe_scalar("dropout_p"), maybe_scalar("is_causal"), maybe_scalar("scale")]
        "Scaled dot product attention: the result, the logarithms of the sums, and seed and offset of the dropout.";
    SdpfaBwd = "sdpfa_bwd" [tensor("grad_output"), tensor("query"), tensor("key"), tensor("value"), tensor("output"),
        tensor("logsumexp"), maybe_scalar("dropout_p"), maybe_scalar("is_causal"), tensor("philox_seed"),
        tensor("philox_offset"), maybe_scalar("scale")]
        "The gradients of scaled dot product attention for query, key and value.";
    Uniform = "uniform" [Param::required("minval", ParamKind::Scalar), Param::required("maxval", ParamKind::Scalar),
        shape("shape"), RNG_SEED, RNG_OFFSET, DRAWN_DTYPE]
        "Random numbers between two bounds, of a seed and an offset or of the call's next ones.";
    Normal = "normal" [Param::required("mean", ParamKind::Scalar), Param::required("std", ParamKind::Scalar),
        shape("shape"), RNG_SEED, RNG_OFFSET, DRAWN_DTYPE]
        "Random numbers of normal distribution, of a seed and an offset or of the call's next ones.";
    RandLike = "rand_like" [ARG]
        "Random numbers from 0 to 1 in the shape and dtype of a tensor.";
    RandnLike = "randn_like" [ARG]
        "Random numbers of normal distribution, mean 0 and deviation 1, in the shape and dtype of a tensor.";
    Size = "size" [ARG, DIM]
        "The size of a dimension, a scalar value.";
    Shape = "shape" [ARG]
        "The sizes of all dimensions, a list of scalar values.";
    Softmax = "softmax" [ARG, DIM]
        "exp(x) over its sum along a dimension.";
    LogSoftmax = "log_softmax" [ARG, DIM]
        "The logarithm of the softmax along a dimension.";
    LayerNorm = "layer_norm" [ARG, NORMALIZED_SHAPE, WEIGHT, BIAS, EPS]
        "Mean 0 and variance 1 over the trailing dimensions of the given shape, then times weight plus bias.";
    RmsNorm = "rms_norm" [ARG, NORMALIZED_SHAPE, WEIGHT, EPS]
        "Root mean square 1 over the trailing dimensions of the given shape, then times weight.";
    SoftmaxBackward = "softmax_backward" [GRAD, OUTPUT, DIM]
        "The gradient of softmax from that of its result and the result.";
    LogSoftmaxBackward = "log_softmax_backward" [GRAD, OUTPUT, DIM]
        "The gradient of log_softmax from that of its result and the result.";
    LayerNormBackward = "layer_norm_backward" [GRAD, ARG, NORMALIZED_SHAPE, SAVED_MEAN, SAVED_INVSTD, WEIGHT]
        "The gradients of layer_norm: of its operand, weight and bias.";
    RmsNormBackward = "rms_norm_backward" [GRAD, ARG, NORMALIZED_SHAPE, SAVED_INVSTD, WEIGHT]
        "The gradients of rms_norm: of its operand and weight.";
    BatchNorm = "batch_norm" [ARG, WEIGHT, BIAS, RUNNING_MEAN, RUNNING_VAR, TRAINING, EPS]
        "Mean 0 and variance 1 of each channel (dimension 1), then times weight plus bias; with mean and 1 / deviation. Not in training, the running statistics are taken.";
    BatchNormBackward = "batch_norm_backward" [GRAD, ARG, SAVED_MEAN, SAVED_INVSTD, WEIGHT, TRAINING]
        "The gradients of batch_norm: of its operand, weight and bias.";
    InstanceNorm = "instance_norm" [ARG, WEIGHT, BIAS, EPS]
        "Mean 0 and variance 1 of each channel of each element of the batch, then times weight plus bias; with mean and 1 / deviation.";
    InstanceNormBackward = "instance_norm_backward" [GRAD, ARG, SAVED_MEAN, SAVED_INVSTD, WEIGHT]
        "The gradients of instance_norm: of its operand, weight and bias.";
    GroupNorm = "group_norm" [ARG, NUM_GROUPS, WEIGHT, BIAS, EPS]
        "Mean 0 and variance 1 of each group of channels of each element of the batch, then times weight plus bias.";
    GroupNormBackward = "group_norm_backward" [GRAD, ARG, NUM_GROUPS, SAVED_MEAN, SAVED_INVSTD, WEIGHT]
        "The gradients of group_norm: of its operand, weight and bias; mean and 1 / deviation are those of each group.";
    Dropout = "dropout" [ARG, Param::optional("p", ParamKind::Scalar, ParamDefault::Float(0.5))]
        "Each element times 1 / (1 - p), or 0 with probability p; and the mask of those that were kept.";
    DropoutBackward = "dropout_backward" [GRAD, Param::required("mask", ParamKind::Tensor), Param::required("scale", ParamKind::Scalar)]
        "The gradient of dropout: that of its result times the scale where the mask holds, else 0.";
    Mean = "mean" [ARG, ALL_DIMS, KEEPDIM]
        "The mean over the given dimensions, or all.";
    StandardDeviation = "standard_deviation" [ARG, ALL_DIMS, CORRECTION, KEEPDIM]
        "The square root of the variance over the given dimensions, or all, divided by count - correction.";
}

impl LanguageOp {
    /// Its name in the definition language.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The op called `name`, if there is one.
    pub fn from_name(name: &str) -> Option<LanguageOp> {
        Self::ALL.iter().copied().find(|op| op.name() == name)
    }
}
