"""Gradients of a small network on real handwritten digits, one .npz file a worker.

    python tests/end_to_end/digits.py FOLDER

writes worker0.npz to worker3.npz. The data are the 1,797 digits that scikit-learn ships, dealt
out to the workers; the network has one hidden layer, is trained for some steps of plain data
parallel gradient descent, and the files hold each worker's gradients of the step after those.
"""

import sys
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

WORKERS = 4
HIDDEN = 256
STEPS = 10
RATE = 0.5


def first_weights():
    draw = np.random.default_rng(1)
    return {
        "hidden.weight": draw.normal(0, 0.1, (64, HIDDEN)),
        "hidden.bias": np.zeros(HIDDEN),
        "output.weight": draw.normal(0, 0.1, (HIDDEN, 10)),
        "output.bias": np.zeros(10),
    }


def gradients(weights, images, digits):
    """Return the mean cross-entropy of a batch and its gradients, in the weights' order."""
    before = images @ weights["hidden.weight"] + weights["hidden.bias"]
    hidden = np.maximum(before, 0)
    scores = hidden @ weights["output.weight"] + weights["output.bias"]
    scores -= scores.max(axis=1, keepdims=True)
    chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    rows = np.arange(len(digits))
    loss = -np.log(chances[rows, digits]).mean()
    chances[rows, digits] -= 1
    error = chances / len(digits)
    back = (error @ weights["output.weight"].T) * (before > 0)
    return loss, {
        "hidden.weight": images.T @ back,
        "hidden.bias": back.sum(axis=0),
        "output.weight": hidden.T @ error,
        "output.bias": error.sum(axis=0),
    }


@cache
def train():
    """Return every worker's gradients after the last step, and the mean loss of each step."""
    data = load_digits()
    images, digits = data.data / 16, data.target
    shares = [slice(worker, None, WORKERS) for worker in range(WORKERS)]
    weights, losses = first_weights(), []
    for _ in range(STEPS + 1):
        found = [gradients(weights, images[share], digits[share]) for share in shares]
        losses.append(sum(loss for loss, _ in found) / WORKERS)
        local = [each for _, each in found]
        for name in weights:
            weights[name] = weights[name] - RATE * sum(each[name] for each in local) / WORKERS
    return local, losses


def write_gradients(folder):
    """Write the workers' files into `folder` and return the gradients."""
    folder.mkdir(parents=True, exist_ok=True)
    local, _ = train()
    for worker, each in enumerate(local):
        narrow = {name: values.astype(np.float32) for name, values in each.items()}
        np.savez(folder / f"worker{worker}.npz", **narrow)
    return local


if __name__ == "__main__":
    write_gradients(Path(sys.argv[1]))
