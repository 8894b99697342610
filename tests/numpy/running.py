"""Runs many cases in one process: one definition with all their calls, then every output against its result."""

import json
import pathlib
import subprocess
import tempfile

import numpy as np

import dtypes
from cases import STORAGE, first

MOST = 120  # cases of one definition


def batches(cases):
    """Neighbouring cases together."""
    return [cases[place : place + MOST] for place in range(0, len(cases), MOST)]


def run(binary, cases):
    """What is wrong with these cases, as a list of sentences."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        words = write(folder, cases)
        line = [binary, "run", str(folder / "definition.py"), "--check", "--json", "--output", str(folder / "out"), *words]
        ended = subprocess.run(line, capture_output=True, text=True, check=False)
        if ended.returncode not in (0, 1):
            return apart(binary, cases, f"exit code {ended.returncode}\n{ended.stderr.strip()}")
        outputs = json.loads(ended.stdout)["outputs"]
        return [complaint for found in compared(cases, outputs) if (complaint := found)]


def apart(binary, cases, complaint):
    """A batch that does not run, halved until the cases that do not run stand alone."""
    if len(cases) == 1:
        return [f"{cases[0].label}: {complaint}"]
    half = len(cases) // 2
    return run(binary, cases[:half]) + run(binary, cases[half:])


# ------------------------------------------------------------------------------------------------------- the definition
def write(folder, cases):
    """Writes the definition and the files of its inputs; gives the words that name them."""
    operands = list({id(operand): operand for case in cases for operand in case.operands}.values())
    names = {id(operand): f"x{number}" for number, operand in enumerate(operands)}
    lines = ["def ops(fd):"]
    for operand in operands:
        shape = [-1] * operand.values.ndim
        dtype = f"DataType.{operand.dtype.language}"
        lines.append(f"    {names[id(operand)]} = fd.define_tensor(shape={shape}, contiguity=False, dtype={dtype})")
    for number, case in enumerate(cases):
        results = [f"r{number}_{place}" for place in range(len(case.results))]
        call = case.call.format(*[names[id(operand)] for operand in case.operands])
        lines.append(f"    {', '.join(results)} = {call}")
        lines += [f"    fd.add_output({result})" for result in results]
    specs = "".join(f"    {spec(operand)},\n" for operand in operands)
    (folder / "definition.py").write_text("\n".join(lines) + f"\n\ninputs = [\n{specs}]\n")
    return write_files(folder, {names[id(operand)]: operand.values for operand in operands if operand.layout is None})


def spec(operand):
    """The entry of an operand in the list of inputs."""
    dtype, layout = operand.dtype, operand.layout
    if layout is None:
        return f"torch.zeros({operand.values.shape}, dtype=torch.{dtype.torch})"
    start = first(dtype.short)
    drawn = f"torch.arange({start}, {start + STORAGE / 16}, 0.0625).to(torch.{dtype.torch})"
    return f"{drawn}.as_strided({layout.sizes}, {layout.strides})"


def write_files(folder, arrays):
    complex_ones = {name: array for name, array in arrays.items() if array.dtype.kind == "c"}
    words = []
    for name, array in complex_ones.items():
        np.save(folder / f"{name}.npy", array)
        words += ["--input", f"{name}={folder / name}.npy"]
    others = {name: array for name, array in arrays.items() if name not in complex_ones}
    write_safetensors(folder / "inputs.safetensors", others)
    return [*words, *(["--input", str(folder / "inputs.safetensors")] if others else [])]


def write_safetensors(path, arrays):
    header, blobs, place = {}, [], 0
    for name, array in arrays.items():
        blob = array.tobytes()
        span = [place, place + len(blob)]
        header[name] = {"dtype": dtypes.of(array).file, "shape": list(array.shape), "data_offsets": span}
        blobs.append(blob)
        place += len(blob)
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(blobs))


def read_safetensors(path):
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    kinds = {dtype.file: dtype.numpy for dtype in dtypes.ALL.values()}
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        first, last = entry["data_offsets"]
        tensors[name] = np.frombuffer(data[start + first : start + last], kinds[entry["dtype"]]).reshape(entry["shape"])
    return tensors


# ----------------------------------------------------------------------------------------------------- the comparison
def compared(cases, outputs):
    """A complaint, or none, for each output."""
    files = {}
    wanted = [(case, result) for case in cases for result in case.results]
    for (case, result), output in zip(wanted, outputs, strict=True):
        path = pathlib.Path(output["file"])
        if path not in files:
            files[path] = np.load(path) if path.suffix == ".npy" else read_safetensors(path)
        got = files[path] if path.suffix == ".npy" else files[path][output["name"]]
        complaint = compare(result, got)
        if complaint is None and output["check"]["mismatches"]:
            complaint = f"not what the evaluator says: {output['check']}"
        yield complaint and f"{case.label}: {complaint}"


def compare(result, got):
    """What is wrong with an output, if anything is."""
    expected = np.asarray(result.values)
    if dtypes.of(got).short != result.dtype:
        return f"the dtype is {dtypes.of(got).short}, not {result.dtype}"
    if got.shape != expected.shape:
        return f"the shape is {got.shape}, NumPy's is {expected.shape}"
    dtype = dtypes.ALL[result.dtype]
    absolute = np.broadcast_to(result.absolute, expected.shape)
    if dtype.is_complex:
        part = dtypes.ALL[{"c64": "f32", "c128": "f64"}[result.dtype]]
        good = np.logical_and(
            close(part, got.real, expected.real, result.ulps, absolute),
            close(part, got.imag, expected.imag, result.ulps, absolute),
        )
    elif dtype.is_float:
        good = close(dtype, got, expected, result.ulps, absolute)
    else:
        good = got == expected
    if np.all(good):
        return None
    at = tuple(int(k) for k in np.argwhere(~good)[0])
    return f"at {list(at)} it gives {got[at]!r}, NumPy says {expected[at]!r} ({np.sum(~good)} of {good.size} differ)"


def close(dtype, got, expected, ulps, absolute):
    """Where floats are what they should be: the rounded number, or one within the bound of the exact one."""
    with np.errstate(all="ignore"):
        rounded = dtype.rounded(expected).astype(np.longdouble)
        got, expected = got.astype(np.longdouble), expected.astype(np.longdouble)
        bound = ulps * dtype.arithmetic.spacing(expected) + dtype.spacing(expected) / 2 + absolute
        equal = got == rounded
        if ulps == 0 and not np.any(absolute):
            equal &= (got != 0) | (np.signbit(got) == np.signbit(rounded))
        near = np.abs(got - expected) <= bound
        # The largest number and infinity are neighbours.
        spilt = np.isinf(got) & np.isfinite(expected) & (np.abs(expected) + bound >= dtype.largest)
        spilt &= np.signbit(got) == np.signbit(expected)
        return equal | (np.isnan(got) & np.isnan(rounded)) | (near & (ulps + absolute > 0)) | spilt
