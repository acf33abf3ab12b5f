# SPDX-License-Identifier: MIT
"""What the peers of Python share: the machine's name, and implementations timed in turn."""
import time


def cpu_name():
    with open("/proc/cpuinfo") as f:
        return next((line.split(":")[1].strip() for line in f if line.startswith("model name")),
                    "CPU")


def measure(impls, rounds):
    """{name: seconds}, after an untimed round."""
    seconds = {name: [] for name in impls}
    for _ in range(rounds + 1):
        for name, call in impls.items():
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
    return {name: s[1:] for name, s in seconds.items()}
