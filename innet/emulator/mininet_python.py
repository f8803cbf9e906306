"""Find the Python that has Mininet: Debian's package is for the system's Python only."""

import subprocess

MININET_PYTHONS = ("/usr/bin/python3", "python3")
_ASK = "import mininet.net; print(mininet.net.VERSION)"
_ASK_S = 20.0


def find_mininet() -> tuple[str, str] | None:
    """The first Python that can import Mininet, and Mininet's version; None without one."""
    for python in MININET_PYTHONS:
        try:
            # Isolated, as the script that builds the network runs.
            ran = subprocess.run(
                [python, "-I", "-c", _ASK],
                capture_output=True,
                text=True,
                check=False,
                timeout=_ASK_S,
            )
        except (FileNotFoundError, subprocess.TimeoutExpired):
            continue
        if ran.returncode == 0:
            return python, ran.stdout.strip()
    return None
