"""Many threads, many calls, garbage collection at every step, forks: nothing grows, nothing is read after it is gone."""

import gc
import os
import signal
import threading
import time
import weakref

import numpy as np
import pytest

import ferrofuse
from ferrofuse import DataType, FusionDefinition, torch_generator

THREADS = 8
PAGES = 4096 // 4  # of 4 KiB: growth that is none of ours


def doubled(rank=1, scale=2.0):
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1] * rank, contiguity=False, dtype=DataType.Float)
        fd.add_output(x * scale)
    return fd


def softmax():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.softmax(x, dim=1))
    return fd


def resident_pages():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1])


def in_threads(work):
    """Runs `work(number)` in eight threads at once, and raises what one of them raises."""
    failures, begin = [], threading.Barrier(THREADS)

    def guarded(number):
        try:
            begin.wait()
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


# -------------------------------------------------------------------------------------------------------- threads
def test_threads_share_definitions():
    shared = [doubled(), softmax()]

    def work(number):
        for n in range(1, 60):
            array = np.full(n * (number + 1), n, np.float32)
            assert (shared[0].execute([array])[0] == 2 * n).all()
            [rows] = shared[1].execute([array.reshape(n, number + 1)])
            np.testing.assert_allclose(rows, 1 / (number + 1), rtol=1e-6)

    in_threads(work)


def test_threads_have_their_own_definitions():
    def work(number):
        for n in range(6):
            own = doubled(2, scale=number + n / 8)
            [output] = own.execute([np.ones((3, 5), np.float32)])
            assert (output == number + n / 8).all()

    in_threads(work)


def test_threads_draw_different_numbers():
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.uniform(0.0, 1.0, [fd.define_scalar(DataType.Int)]))
    drawn = []
    ferrofuse.manual_seed(1)
    in_threads(lambda number: drawn.extend(tuple(fd.execute([4])[0]) for _ in range(20)))
    assert len(set(drawn)) == THREADS * 20


# ---------------------------------------------------------------------------------------------------------- memory
def require_flat(calls):
    """Pages do not grow while so many calls of each kind are made."""
    fd, empty, rejected = doubled(), np.ones(0, np.float32), np.ones((1, 1), np.float32)
    array = np.ones(64, np.float32)

    def call():
        fd.execute([array])
        fd.execute([empty])
        with pytest.raises(ValueError):
            fd.execute([rejected])

    for _ in range(3000):
        call()
    before = resident_pages()
    for _ in range(calls // 3):
        call()
    assert resident_pages() - before < PAGES


def test_calls_do_not_grow():
    require_flat(60_000)


@pytest.mark.long
def test_a_million_calls_do_not_grow():
    require_flat(1_000_000)


def test_definitions_do_not_grow():
    array = np.ones(8, np.float32)

    def make(number):
        doubled(scale=float(number % 3)).execute([array])

    for number in range(30):
        make(number)
    before = resident_pages()
    for number in range(60):
        make(number)
    gc.collect()
    assert resident_pages() - before < 8 * PAGES


def test_collecting_at_every_step():
    thresholds = gc.get_threshold()
    gc.set_threshold(1)
    try:
        kept = []
        for n in range(1, 40):
            fd, array = doubled(), np.full(n, n, np.float32)
            fd.myself, fd.arrays = fd, [array]  # a cycle that only the collector ends
            kept += fd.execute([array])
            del fd, array
        gc.collect()
    finally:
        gc.set_threshold(*thresholds)
    for n, output in enumerate(kept, 1):
        assert output.shape == (n,) and (output == 2 * n).all()


def test_cycles_through_outputs_are_collected():
    class Holder:
        pass

    fd, holder = doubled(), Holder()
    holder.fd, fd.holder, holder.outputs = fd, holder, fd.execute([np.ones(4, np.float32)])
    gone = weakref.ref(holder)
    del fd, holder
    gc.collect()
    assert gone() is None


def test_inputs_may_go_while_the_call_runs():
    fd = softmax()
    fd.execute([np.ones((2, 2), np.float32)])
    stop = threading.Event()
    given = []

    def forget():
        while not stop.is_set():
            given.clear()

    thread = threading.Thread(target=forget)
    thread.start()
    try:
        for n in range(200):
            given[:] = [np.full((64, 64), n, np.float32)]
            try:
                outputs = fd.execute(given)
            except ValueError as error:  # the list was emptied before the call looked at it
                assert "expected 1 inputs, got 0" in str(error)
            else:
                np.testing.assert_allclose(outputs[0], 1 / 64, rtol=1e-6)
    finally:
        stop.set()
        thread.join()


# ------------------------------------------------------------------------------------------------------------ fork
def child_says(work):
    """Runs `work` in a forked process; whether it ended well, within a minute."""
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_goes_on():
    fd = softmax()
    large = np.ones((512, 2048), np.float32)
    [before] = fd.execute([large])

    def go_on():
        assert np.array_equal(fd.execute([large])[0], before)  # what is compiled, on threads of its own
        assert (doubled(scale=3.5).execute([np.ones(4, np.float32)])[0] == 3.5).all()  # and something new

    assert child_says(go_on)
    assert np.array_equal(fd.execute([large])[0], before)
    assert child_says(lambda: (go_on(), os._exit(0 if child_says(go_on) else 1)))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forks_while_other_threads_run():
    fd = softmax()
    large = np.ones((256, 1024), np.float32)
    [expected] = fd.execute([large])
    stop = threading.Event()

    def work():
        while not stop.is_set():
            fd.execute([large])

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        ends = [child_says(lambda: np.testing.assert_array_equal(fd.execute([large])[0], expected)) for _ in range(10)]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert all(ends)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_while_another_thread_compiles_for_the_first_time():
    row = np.ones(64, np.float32)
    for number in range(6):
        fd = doubled(scale=2.5 + number)
        thread = threading.Thread(target=fd.execute, args=([row],))
        thread.start()
        time.sleep(number * 2e-3)
        try:
            assert child_says(lambda: np.testing.assert_array_equal(fd.execute([row])[0], 2.5 + number))
        finally:
            thread.join()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_while_another_thread_draws_from_torch():
    held, forked = threading.Event(), threading.Event()

    def hold():
        with torch_generator._lock:
            held.set()
            forked.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    try:
        assert child_says(lambda: os._exit(0 if torch_generator._lock.acquire(timeout=5) else 1))
    finally:
        forked.set()
        thread.join()
