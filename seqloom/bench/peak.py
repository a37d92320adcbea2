"""Peak memory of one side's training, in a process of its own: `python -m seqloom.bench.peak ours SETTINGS`."""

import sys

from seqloom.bench.measuring import peak_mb
from seqloom.bench.training import SIDES, SideName, TrainSettings, open_trainee
from seqloom.bench.workloads import open_pairs
from seqloom.training.machine import computing


def measure_peak(side: SideName, settings: TrainSettings) -> float:
    """Train over all of a round's batches once, the largest of the epoch first, and look how large the process became."""
    with computing(settings.threads):
        trainee = open_trainee(side, settings, open_pairs(settings.workload))
        for numbers in (trainee.largest, *trainee.batches):
            trainee.learn(numbers)
    return peak_mb()


def main() -> None:
    """Print the peak in MB."""
    wanted, settings = sys.argv[1:]
    side = next(one for one in SIDES if one == wanted)
    sys.stdout.write(f"{measure_peak(side, TrainSettings.model_validate_json(settings)):.1f}\n")


if __name__ == "__main__":
    main()
