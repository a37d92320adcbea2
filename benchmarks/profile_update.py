"""Where an update's time goes: torch's profiler over a few updates of one side.

python benchmarks/profile_update.py ours translation
python benchmarks/profile_update.py textbook characters --rows 30
"""

import argparse

from torch.profiler import ProfilerActivity, profile

from seqloom.bench.measuring import precision_here
from seqloom.bench.training import SIDES, TrainSettings, open_trainee
from seqloom.bench.workloads import WORKLOADS, open_pairs
from seqloom.training.machine import choose_threads, computing

UPDATES = 6


def main() -> None:
    """Print the operators by the time that they themselves take."""
    parser = argparse.ArgumentParser(description="Where an update's time goes.")
    parser.add_argument("side", choices=SIDES)
    parser.add_argument("workload", choices=WORKLOADS)
    parser.add_argument("--precision", choices=("auto", "fp32", "bf16"), default="auto")
    parser.add_argument("--rows", type=int, default=20)
    wanted = parser.parse_args()
    settings = TrainSettings(
        workload=WORKLOADS[wanted.workload],
        precision=precision_here(wanted.precision),
        steps=UPDATES,
        threads=choose_threads(None),
    )
    with computing(settings.threads):
        trainee = open_trainee(wanted.side, settings, open_pairs(settings.workload))
        trainee.learn(trainee.batches[0])
        with profile(activities=[ProfilerActivity.CPU]) as profiler:
            for numbers in trainee.batches:
                trainee.learn(numbers)
    print(profiler.key_averages().table(sort_by="self_cpu_time_total", row_limit=wanted.rows))


if __name__ == "__main__":
    main()
