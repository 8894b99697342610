import torch
inputs = [torch.randn((3,))]

# ---- expect
# 1:1: this file has no definition
# import torch
# ^ expected `def name(fd):` or `with FusionDefinition() as fd:`
