"""Loading a problem with a delay matrix of 1,000 nodes, against json.loads alone on the same text."""

import json
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from berth.files import load

NODES = 1000
ROUNDS = 3


def write_problem(file: Path) -> None:
    chance = random.Random(0)
    delays = [
        [0.0 if here == there else round(chance.uniform(1, 100), 3) for there in range(NODES)]
        for here in range(NODES)
    ]
    document = {
        "format": "berth/v1",
        "name": "large",
        "network": {"nodes": [{"name": f"node-{k}"} for k in range(NODES)], "delay_ms": delays},
        "applications": [{"name": "app", "operators": [{"name": "source"}]}],
    }
    file.write_text(json.dumps(document))


def best_seconds(run: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - started)
    return best


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "large.json"
        write_problem(file)
        text = file.read_text()
        ours = best_seconds(lambda: load(file))
        alone = best_seconds(lambda: json.loads(text))
    print(f"load: a problem of {NODES} nodes with a full matrix, {len(text) / 1e6:.1f} MB of JSON")
    print(f"berth.files.load {ours:.3f} s, json.loads alone {alone:.3f} s: ratio {ours / alone:.2f}")


if __name__ == "__main__":
    main()
