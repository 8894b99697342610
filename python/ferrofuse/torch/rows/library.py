"""Ops that torch's own libraries compute, and that are left to them: prefixes of names, each with a description."""

from typing import Dict, Optional

KINDS: Dict[str, str] = {
    "aten.mm.": "product of matrices",
    "aten.bmm.": "product of matrices",
    "aten.addmm.": "product of matrices",
    "aten.baddbmm.": "product of matrices",
    "aten.mv.": "product of matrices",
    "aten.addmv.": "product of matrices",
    "aten._grouped_mm.": "product of matrices",
    "aten._scaled_dot_product": "attention",
    "aten._scaled_mm.": "product of matrices",
    "aten.convolution": "convolution",
    "aten._embedding_bag": "sums of looked up rows",
    "aten.embedding_dense_backward.": "scatter",
    "aten.index_put": "scatter",
    "aten.scatter": "scatter",
    "aten.index_add": "scatter",
    "aten.sort.": "sort",
    "aten.topk.": "sort",
    "aten.max_pool": "pooling",
    "aten._adaptive_avg_pool": "pooling",
    "aten._thnn": "recurrent cell",
    "aten.mkldnn": "recurrent cell",
}


def kind(op: str) -> Optional[str]:
    """The description of an op, if a library of torch computes it."""
    return next((said for prefix, said in KINDS.items() if op.startswith(prefix)), None)
