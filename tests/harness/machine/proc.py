"""What the kernel says of a process."""

import os
from pathlib import Path


def cpu_seconds(pid):
    """Processor time of the process, in user and in kernel mode."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def pss(pid):
    """Bytes that the process has in memory; what it shares with others counts in parts."""
    return _rollup(pid, "Pss")


def own_memory(pid):
    """Those that belong to no file: what others run on the machine does not change them."""
    return _rollup(pid, "Anonymous")


def _rollup(pid, what):
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(f"{what}:"))


def peak_memory(pid):
    """The most bytes that the process ever had in memory at once (VmHWM)."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmHWM:"))
