"""Small models, each with a function that draws its inputs for a batch: what the tests of the backend compile."""

import torch
import torch.nn.functional as F
from torch import nn


class Rope(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(16, 32)

    def forward(self, x):
        q, k = self.project(x).view(x.shape[0], x.shape[1], 2, 16).unbind(2)
        places, rates = (torch.arange(length, device=x.device) for length in (x.shape[1], 8))
        angles = places[:, None] * 10000.0 ** (-rates / 8)
        return self.rotated(q, angles) * self.rotated(k, angles)

    @staticmethod
    def rotated(x, angles):
        left, right = x.chunk(2, dim=-1)
        cos, sin = angles.cos(), angles.sin()
        return torch.cat([left * cos - right * sin, right * cos + left * sin], dim=-1)


class SwiGlu(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.RMSNorm(16)
        self.gate, self.up, self.down = nn.Linear(16, 32), nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, x):
        y = self.norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Dropped(nn.Module):
    """A network with dropout, the random mask of which does not matter to what it gives: x scaled by its own mean."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(16, 32), nn.Linear(32, 4)

    def forward(self, x):
        kept = F.dropout(torch.ones_like(x), 0.5) != 0
        return self.second(torch.tanh(self.first(torch.where(kept, x, x * 1.0))))


class Bags(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(20, 16)
        self.out = nn.Linear(16, 4)

    def forward(self, indices):
        return self.out(torch.relu(self.table(indices).sum(1)))


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(16, 10)

    def forward(self, x, target):
        return F.cross_entropy(self.out(x), target, label_smoothing=0.1)


class Scans(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(16))

    def forward(self, x):
        sums = torch.cumsum(x * self.scale, -1)
        values, places = torch.topk(sums, 3, dim=-1)
        return torch.logsumexp(sums, -1) + values.sum(-1) + torch.gather(x, -1, places).mean(-1)


class InPlace(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(16))
        self.register_buffer("calls", torch.zeros(()))
        self.register_buffer("average", torch.zeros(16))

    def forward(self, x):
        y = x * self.scale
        y[:, 1:4] = 0.5
        y[:, 7] += 1.0
        self.calls.add_(1)
        self.average.mul_(0.9).add_(y.detach().mean(0), alpha=0.1)
        return y.clamp_(-1, 1) * self.calls


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.gates = nn.Linear(24, 32)

    def forward(self, x, h, c):
        i, f, g, o = self.gates(torch.cat([x, h], 1)).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c) + c


def images(batch):
    return (torch.randn(batch, 4, 6, 6),)


def rows(batch):
    return (torch.randn(batch, 16),)


def tokens(batch):
    return (torch.randn(batch, 5, 16),)


MODELS = {
    "rope": (Rope, tokens),
    "swiglu": (SwiGlu, tokens),
    "batch norm": (lambda: nn.Sequential(nn.Conv2d(4, 8, 3), nn.BatchNorm2d(8), nn.ReLU()), images),
    "group norm": (lambda: nn.Sequential(nn.GroupNorm(2, 4), nn.GELU(), nn.Flatten()), images),
    "lstm cell": (Cell, lambda batch: tuple(torch.randn(batch, size) for size in (16, 8, 8))),
    "dropout": (Dropped, rows),
    "bags": (Bags, lambda batch: (torch.randint(0, 20, (batch, 7)),)),
    "cross entropy": (Classifier, lambda batch: (torch.randn(batch, 16), torch.randint(0, 10, (batch,)))),
    "scans": (Scans, rows),
    "in place": (InPlace, rows),
}


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        split = self.qkv(self.norms[0](x)).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = split.permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.norms[1](x))


class Gpt(nn.Module):
    def __init__(self, layers=4, width=32, heads=4, vocabulary=50, length=64):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, indices, targets):
        x = self.tokens(indices) + self.places(torch.arange(indices.shape[1], device=indices.device))
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy(self.head(self.norm(x)).flatten(0, 1), targets.flatten())
