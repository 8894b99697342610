"""What the first call of a long definition costs: time and memory of a process that reads, plans, compiles and runs it.

    python bench/first_call                      # every definition, of 1,000 ops each, and a chain of each op
    python bench/first_call --ops 300 sin pads   # some of them, of another length
    python bench/first_call --beyond 3 500       # print only those that take more seconds or MiB
    python bench/first_call --write FOLDER       # their files alone

Each runs in a process of its own, `ferrofuse run` without a cache on data of a few kilobytes, so that what is measured is
the compiler. A process that takes more than `--seconds` is ended, one that asks for more than `--gibibytes` gets none.

`seconds` is what a clock says, on a busy machine more than the definition is to blame for, `user` the time of all
processors, `plan` the seconds before the first kernel is compiled: one processor plans, all compile.
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

from definitions import DEFINITIONS, text_of
from every_op import chains

COLUMNS = ["seconds", "user", "MiB", "plan", "segments", "kernels", "evaluated"]


@dataclass
class Run:
    """What became of a process."""

    seconds: float
    user: float
    mebibytes: float
    code: int
    out: str
    err: str

    def words(self):
        """Its line of the table, behind the name."""
        costs = f"{self.seconds:10.2f}{self.user:10.2f}{self.mebibytes:10.0f}"
        if self.code != 0:
            reason = next((line.strip() for line in self.err.splitlines() if line.strip()), "")
            return f"{costs}   ended with {self.code}: {reason[:80]}"
        report = json.loads(self.out)
        evaluated = sum(bool(segment.get("evaluator_reason")) for segment in report["segments"])
        return f"{costs}{report['plan_ms'] / 1000:10.2f}{len(report['segments']):10}{len(report['kernels']):10}{evaluated:10}"


def measure(command, seconds, limit):
    """Runs a command."""

    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CPU, (2 * seconds, 2 * seconds))

    begin = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        environment = dict(os.environ, FERROFUSE_CACHE="none")
        process = subprocess.Popen(command, stdout=out, stderr=err, env=environment, preexec_fn=limited)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        taken = time.monotonic() - begin
        out.seek(0), err.seek(0)
        texts = out.read().decode(), err.read().decode()
        return Run(taken, used.ru_utime, used.ru_maxrss / 1024, process.returncode, *texts)


def first_call(name, make, arguments, folder):
    """Makes the first call of a definition."""
    path = pathlib.Path(folder) / f"{name}.py"
    path.write_text(text_of(make, arguments.ops))
    command = [arguments.binary, "run", str(path), "--json", *(["--check"] if arguments.check else [])]
    return measure(command, arguments.seconds, arguments.gibibytes << 30)


def makers(binary):
    """All definitions by name: those written here, and a chain of each op that the binary lists."""
    listed = subprocess.run([binary, "ops", "--json"], check=True, capture_output=True).stdout
    return DEFINITIONS | chains(json.loads(listed))


def chosen(names, known):
    """The definitions of these names; all without any."""
    if unknown := set(names) - set(known):
        sys.exit(f"no definition is called {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    return {name: known[name] for name in names or known}


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="definitions of definitions.py, and ops")
    parser.add_argument("--ops", type=int, default=1000, help="ops of a definition, or inputs, or outputs")
    parser.add_argument("--binary", default="target/release/ferrofuse")
    parser.add_argument("--beyond", nargs=2, type=float, default=[0, 0], metavar=("SECONDS", "MIB"))
    parser.add_argument("--seconds", type=int, default=60, help="a process gets twice as much time of processors")
    parser.add_argument("--gibibytes", type=int, default=8, help="a process may ask for")
    parser.add_argument("--check", action="store_true", help="compare with the evaluator too, which takes its time")
    parser.add_argument("--write", metavar="FOLDER", help="write the files, run nothing")
    return parser.parse_args()


def main():
    arguments = options()
    definitions = chosen(arguments.names, makers(arguments.binary))
    if arguments.write:
        for name, make in definitions.items():
            (pathlib.Path(arguments.write) / f"{name}.py").write_text(text_of(make, arguments.ops))
        return
    print(f"{'definition':24}{'ops':>7}" + "".join(f"{column:>10}" for column in COLUMNS))
    seconds, mebibytes = arguments.beyond
    with tempfile.TemporaryDirectory() as folder:
        for name, make in definitions.items():
            run = first_call(name, make, arguments, folder)
            if run.code != 0 or run.seconds >= seconds or run.mebibytes >= mebibytes:
                print(f"{name:24}{arguments.ops:7}{run.words()}", flush=True)


if __name__ == "__main__":
    main()
