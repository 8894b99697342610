"""The options of nvFuser's `execute`. Names are checked as nvFuser does, so that typos are found."""

from typing import Sequence

# The library of the outputs of calls without arrays and device; `compat` sets torch.
without_arrays = "numpy"

# The module that reproducer scripts import; `compat` sets nvFuser's.
module = "ferrofuse"

ENABLE = frozenset(
    """cutlass_scheduler fast_math fuse_matmul fuse_multiple_matmuls host_ir_jit host_ir_lowering id_model
    id_model_extra_validation insert_resharding_after io_to_lower_precision kernel_db kernel_debug kernel_lineinfo
    kernel_profile memory_promotion multicast_protocol p2p_protocol p2p_transport reuse_zeroed_memory static_fusion_count
    tma_inner_persistent tma_pointwise tma_reduction wait_debugger warn_register_spill ws_normalization""".split()
)
DISABLE = frozenset(
    """compile_to_sass contig_indexing expr_simplify fallback fma greedy_scheduler grouped_grid_welford_outer_opt
    index_hoist infer_contiguity kernel_reuse magic_zero matmul_expr_eval multidevice nvrtc_caching nvtx parallel_compile
    predicate_elimination python_inline_definitions resize_scheduler reuse_mismatched_type_registers var_name_remapping
    welford_vectorization""".split()
)


def check_options(enable: Sequence[str], disable: Sequence[str]) -> None:
    """Rejects names that are not options of nvFuser.

    Raises:
        RuntimeError: for an unknown option.
    """
    for kind, given, known in (("enable", enable, ENABLE), ("disable", disable, DISABLE)):
        for option in given:
            if option.split("(")[0] not in known:
                raise RuntimeError(f"Unrecognized {kind}_option: {option}")
