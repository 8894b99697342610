"""The corpus: definitions with the structure of real workloads at real sizes, by which segmentation is judged.

    cd bench
    python3 -m corpus FOLDER [NAME…]                        # writes NAME.py for each graph, or for those named
    python3 -m corpus FOLDER [NAME…] --plan FERROFUSE       # and prints how each is cut

Every graph is a function of its family's module; its first line of documentation opens the file.
"""

from corpus import attention, chains, index_maps, networks, norms, optimisers, softmaxes, statistics

GRAPHS = [
    graph
    for family in (norms, softmaxes, attention, networks, optimisers, statistics, index_maps, chains)
    for graph in family.GRAPHS
]
