"""Random numbers of torch's callers: torch's seed, and the words that its generator has given."""

import threading

import numpy as np
import torch

import ferrofuse
from ferrofuse import DataType, FusionDefinition, torch_generator


def drawing(draws=1, stateless=False):
    """x plus so many draws, seeded by the call or by two scalars."""
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        shape = [x.size(0)]
        seeds = {}
        if stateless:
            seeds = {"rng_seed": fd.define_scalar(DataType.Int), "rng_offset": fd.define_scalar(DataType.Int)}
        for _ in range(draws):
            fd.add_output(x + fd.ops.normal(0.0, 1.0, shape, **seeds))
    return fd


ZEROS = torch.zeros(9)


def test_stateful_draws_are_the_stateless_ones_of_seed_and_offset():
    fd, stateless = drawing(), drawing(stateless=True)
    for seed in (0, 7, 2**40 + 3):
        torch.manual_seed(seed)
        for offset in range(4):
            assert torch.equal(fd.execute([ZEROS])[0], stateless.execute([ZEROS, seed, offset])[0])


def test_several_draws_of_a_call_take_an_offset_each():
    fd, stateless = drawing(draws=3), drawing(stateless=True)
    torch.manual_seed(3)
    outputs = [*fd.execute([ZEROS]), *fd.execute([ZEROS])]
    for offset, output in enumerate(outputs):
        assert torch.equal(output, stateless.execute([ZEROS, 3, offset])[0])


def test_torchs_own_draws_and_ours_go_on_from_each_other():
    fd = drawing()
    torch.manual_seed(1)
    first, between, second = fd.execute([ZEROS])[0], torch.rand(5), fd.execute([ZEROS])[0]
    torch.manual_seed(1)
    again = fd.execute([ZEROS])[0], torch.rand(5), fd.execute([ZEROS])[0]
    assert all(torch.equal(a, b) for a, b in zip((first, between, second), again))
    torch.manual_seed(1)
    assert not torch.equal(torch.rand(5), between)


def test_states_are_kept_and_brought_back():
    fd = drawing()
    torch.manual_seed(11)
    torch.rand(100_000)  # many blocks of the twister
    state = torch.get_rng_state()
    before = fd.execute([ZEROS])[0]
    torch.rand(7)
    torch.set_rng_state(state)
    assert torch.equal(fd.execute([ZEROS])[0], before)
    with torch.random.fork_rng():
        forked = fd.execute([ZEROS])[0]
    assert torch.equal(fd.execute([ZEROS])[0], forked)


def test_offsets_count_the_words_that_were_given():
    torch.manual_seed(5)
    for words in (0, 1, 622, 2, 5000, 624 * 50):
        state = torch.get_rng_state().numpy()
        before = torch_generator._offset(5, state)
        torch.empty(words, dtype=torch.int32).random_()
        assert torch_generator._offset(5, torch.get_rng_state().numpy()) == before + words


def test_far_from_the_seed_equal_states_still_draw_alike():
    words = np.arange(624, dtype=np.uint32)
    assert torch_generator._blocks_made(5, words) is None
    state = torch.get_rng_state().numpy().copy()
    state[24 : 24 + 8 * 624] = words.astype(np.uint64).view(np.uint8)
    assert torch_generator._offset(5, state) == torch_generator._offset(5, state.copy())


def test_threads_draw_apart():
    fd, drawn = drawing(), []
    torch.manual_seed(2)
    threads = [threading.Thread(target=lambda: drawn.append(fd.execute([ZEROS])[0])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({tuple(output.tolist()) for output in drawn}) == 8


def test_arrays_of_others_draw_from_the_packages_generator():
    fd = drawing()
    zeros = ZEROS.numpy()
    ferrofuse.manual_seed(4)
    before = torch.get_rng_state()
    first = fd.execute([zeros])[0]
    assert torch.equal(torch.get_rng_state(), before)
    ferrofuse.manual_seed(4)
    assert np.array_equal(fd.execute([zeros])[0], first)


def test_a_state_is_looked_for_once(monkeypatch):
    asked = []
    monkeypatch.setattr(torch_generator, "_search", lambda *state: asked.append(state))
    words = np.arange(1, 625, dtype=np.uint32)
    for seed in (5, 5, 5, 6, 6):
        assert torch_generator._blocks_made(seed, words) is None
    assert [seed for seed, _ in asked] == [5, 6]
