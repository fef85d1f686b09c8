#!/usr/bin/env python3
"""What sonde found, beside what people use today, on the same GPU.

    sonde run bandwidth tensor --json load.json
    tests/gpu/beside.py load.json

The driver's copy from device to device, a STREAM triad, a fill, a sum and
large matrix products of the vendor's library, through PyTorch.  Prints a line
for each with the quotient; exits with 1 if sonde is below 97 % of one.
"""
import json
import sys

import torch

LEAST = 0.97
BYTES = 4 << 30


def seconds(act, times=20):
    """Median-like: all of them, after three that do not count."""
    for _ in range(3):
        act()
    begin = torch.cuda.Event(enable_timing=True)
    end = torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(times):
        act()
    end.record()
    torch.cuda.synchronize()
    return 1e-3 * begin.elapsed_time(end) / times


def streams():
    a, b, c = (torch.ones(BYTES // 4, device="cuda") for _ in range(3))
    yield ("memory.copy_bandwidth", "device-to-device copy",
           2 * BYTES / seconds(lambda: a.copy_(b)))
    yield ("memory.triad_bandwidth", "triad a = b + 3 c",
           3 * BYTES / seconds(lambda: torch.add(b, c, alpha=3.0, out=a)))
    yield ("memory.write_bandwidth", "fill",
           BYTES / seconds(lambda: a.fill_(1.0)))
    yield ("memory.read_bandwidth", "sum",
           BYTES / seconds(lambda: a.sum()))


def products(size=8192):
    torch.backends.cuda.matmul.allow_tf32 = True
    kinds = {"bf16": torch.bfloat16, "f16": torch.float16,
             "tf32": torch.float32}
    for name, kind in kinds.items():
        x, y = (torch.randn(size, size, device="cuda", dtype=kind)
                for _ in range(2))
        yield (name, "matrix product " + name,
               2 * size ** 3 / seconds(lambda: x @ y))


def best_product(findings, kind):
    """Of the whole GPU, with random operands."""
    return max((f["value"] for id, f in findings.items()
                if id.startswith("tensor.wgmma") and id.endswith(".gpu")
                and "." + kind + "." in id and f.get("value")), default=None)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        findings = json.load(file)["findings"]
    pairs = [(findings.get(id, {}).get("value"), what, rate)
             for id, what, rate in streams()]
    pairs += [(best_product(findings, kind), what, rate)
              for kind, what, rate in products()]
    short = False
    for found, what, rate in pairs:
        if found is None:
            print(f"{what:24} {rate:10.4g}  sonde: not measured")
            continue
        short |= found < LEAST * rate
        print(f"{what:24} {rate:10.4g}  sonde {found:10.4g}"
              f"  {100 * found / rate:6.1f} %")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
