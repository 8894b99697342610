//! Definitions with a kernel that falls short of a rule, and why. Names of the corpus have its name as a prefix.

use super::kernels::Shortfall::{self, Calls, InFlight, Instructions, Local, Narrow};

/// The shortfall, the reason, and the definitions.
pub(super) type Exception = (Shortfall, &'static str, &'static [&'static str]);

pub(super) const EXCEPTIONS: &[Exception] = &[
    (Local, "long rows, and what is computed of them: 8 bytes", &["corpus/cross_entropy_both"]),
    (
        Calls,
        "quotients and roots of elements, whose slow way is a call",
        &[
            "adam_step",
            "corpus/costly_chain",
            "corpus/cross_entropy_both",
            "corpus/lamb",
            "corpus/moe_router",
            "corpus/quantise_rows_and_columns",
            "corpus/sinkhorn_3",
            "corpus/swiglu_backward",
        ],
    ),
    (
        Calls,
        "quotients and roots once a row, whose slow way is a call",
        &[
            "group_norm",
            "rms_norm_backward",
            "corpus/group_norm_silu",
            "corpus/layer_norm_backward",
            "corpus/modulated_norm_backward",
            "corpus/padded_layer_norm",
            "corpus/rms_norm_backward",
            "corpus/row_then_column_then_all",
        ],
    ),
    (Calls, "a scan of rows divides its indices", &["corpus/scans"]),
    (Narrow, STEP, &["adam_step"]),
    (Instructions, STEP, &["adam_step"]),
    (InFlight, STEP, &["adam_step"]),
    (
        Narrow,
        "numbers of a row or channel beside few elements of a thread",
        &[
            "batch_norm",
            "layer_norm_backward",
            "modulated_layer_norm_backward",
            "rms_norm_backward",
            "sum_inner_f32",
            "corpus/batch_norm",
            "corpus/batch_norm_backward",
            "corpus/cross_entropy_both",
            "corpus/double_centred",
            "corpus/layer_norm_backward",
            "corpus/modulated_norm_backward",
            "corpus/quantise_blocks",
            "corpus/relu_matmul_branches",
            "corpus/sgd_clipped_20",
            "corpus/shared_inputs",
            "corpus/softmax_split",
        ],
    ),
    (Narrow, GATHERED, &["cross_entropy", "corpus/cross_entropy", "corpus/gathers_60", "corpus/moe_combine"]),
    (Narrow, "halves of a row are subranges of a loop", &["rope_backward"]),
    (
        Narrow,
        "neighbours lie across subranges of a loop, or are shifted by one",
        &[
            "corpus/cat_26",
            "corpus/convolution_3x3",
            "corpus/padded_layer_norm",
            "corpus/rolls_12",
            "corpus/rope_interleaved",
            "corpus/stencil_16",
        ],
    ),
    (Narrow, TILES, &["transpose_add", "corpus/transposed_sums"]),
    (Narrow, SCANS, &["corpus/scans"]),
    (
        Instructions,
        "random bits and an exponential of each element, beside six bytes",
        &["corpus/masked_softmax_dropout"],
    ),
    (
        Instructions,
        "little more, as the code for the end of a row is counted too",
        &[
            "group_norm",
            "corpus/batch_norm_channels_last",
            "corpus/column_stats_then_row",
            "corpus/group_norm_silu",
            "corpus/quantise_rows_and_columns",
        ],
    ),
    (
        Instructions,
        "folds of rows and columns of few elements of a thread; loads of the first row are counted too",
        &[
            "layer_norm_backward",
            "modulated_layer_norm_backward",
            "rms_norm_backward",
            "corpus/column_summary",
            "corpus/layer_norm_backward",
            "corpus/modulated_norm_backward",
            "corpus/rms_norm_backward",
            "corpus/row_then_column_then_all",
        ],
    ),
    (
        Instructions,
        "exponentials of two bytes each, by the library's function",
        &[
            "cross_entropy",
            "corpus/attention",
            "corpus/cross_entropy",
            "corpus/cross_entropy_both",
            "corpus/log_softmax_kl",
            "corpus/moe_router",
            "corpus/softmax_split",
        ],
    ),
    (
        Instructions,
        "a hyperbolic tangent of each element",
        &["gelu_bias_backward", "corpus/gelu_bias_backward"],
    ),
    (Instructions, "sums of few elements of a thread", &["corpus/batch_norm"]),
    (Instructions, "quotients of elements", &["corpus/quantise_blocks", "corpus/sinkhorn_3"]),
    (
        Instructions,
        "indices of elements one by one",
        &["corpus/padded_layer_norm", "corpus/rope_interleaved"],
    ),
    (Instructions, GATHERED, &["corpus/gathers_60"]),
    (InFlight, "on sm_80 40 registers, on others tiles of one element at a time", &["transpose_add"]),
    (
        InFlight,
        "column sums in registers leave few threads",
        &[
            "corpus/batch_norm_channels_last",
            "corpus/column_stats_then_row",
            "corpus/column_summary",
            "corpus/quantise_rows_and_columns",
            "corpus/row_then_column_then_all",
        ],
    ),
    (InFlight, TILES, &["corpus/transposed_sums"]),
    (InFlight, GATHERED, &["corpus/gathers_60"]),
    (InFlight, "short rows, or elements one by one", &["corpus/moe_router", "corpus/rope_interleaved"]),
];

/// More exceptions, for architectures for which otherwise only some of the corpus is compiled.
pub(super) const ELSEWHERE: &[Exception] = &[
    (
        Local,
        "on sm_80 or sm_100 registers do not suffice",
        &["corpus/costly_chain", "corpus/rope_backward", "corpus/softmax_both_axes"],
    ),
    (
        Calls,
        "on sm_80 or sm_100 quotients and roots once a row, whose slow way is a call",
        &["corpus/qk_norm_rope"],
    ),
    (Narrow, "on sm_100 ptxas loads parts of vectors again", &["corpus/gelu_bias_dropout_residual"]),
    (Instructions, "on sm_100 random bits beside a tanh: 9.9", &["corpus/gelu_bias_dropout_residual"]),
    (InFlight, "on sm_100 16 bytes of a thread", &["corpus/cat_26"]),
];

const STEP: &str = "a kernel of its own adds one to the step, a single element";
const GATHERED: &str = "elements are gathered by index";
const TILES: &str = "tiles are copied one element at a time";
const SCANS: &str = "scans take one element after the other";
