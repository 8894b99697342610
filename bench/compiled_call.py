"""Microseconds of a call of a small function that torch compiled, by ferrofuse and Inductor, and of eager's ops.

    python bench/compiled_call.py

The normalization of 2x144x2x2 images, channels last, with running statistics that are written: one region of seven inputs
and three outputs. One thread; the best of 15 rounds of 300 calls in turn, guards of Dynamo included.
"""

import time

import torch

import ferrofuse
import ferrofuse.torch

CALLS, ROUNDS = 300, 15


def normalized(x, mean, scale, weight, bias, running_mean, running_scale):
    y = (x - mean) * scale * weight + bias
    running_mean.mul_(0.9).add_(mean.flatten() * 0.1)
    running_scale.mul_(0.9).add_(scale.flatten() * 0.1)
    return torch.relu(y), y.mean((0, 2, 3)), (y * y).sum((0, 2, 3))


def main():
    torch.set_num_threads(1)
    ferrofuse.set_num_threads(1)
    x = torch.randn(2, 144, 2, 2).contiguous(memory_format=torch.channels_last)
    inputs = [x, *(torch.rand(1, 144, 1, 1) for _ in range(2)), *(torch.rand(144, 1, 1) for _ in range(2))]
    inputs += [torch.rand(144) for _ in range(2)]
    calls = {backend: torch.compile(normalized, backend=backend) for backend in ("ferrofuse", "inductor")}
    calls["eager"] = normalized
    best = dict.fromkeys(calls, float("inf"))
    with torch.no_grad():
        for call in calls.values():
            call(*inputs)
        for _ in range(ROUNDS):
            for name, call in calls.items():
                begin = time.perf_counter()
                for _ in range(CALLS):
                    call(*inputs)
                best[name] = min(best[name], (time.perf_counter() - begin) / CALLS)
    for name, seconds in best.items():
        print(f"{name:10} {seconds * 1e6:6.1f} us")


if __name__ == "__main__":
    main()
