"""Whether what `grapevine doctor` measures of a network foretells the steps of a run over it.

Doctor and nodes are started as users of a cluster do it, from the first host on all of them; the
lab's hosts have no sshd, and `ip netns exec` is the remote shell. The simulator is told nothing but
the file that doctor has written.
"""
import os
import shutil
import subprocess

import lab as network
from cell import CellFailed, step_of_run
from units import bits_per_second, seconds

# The gate: a predicted step's error.
GATE = 0.10
LIMIT_S = 120
# The host by its address, and a line for its shell.
SHELL = """#!/bin/sh
exec ip netns exec {prefix}$((${{1##*.}} - 1)) sh -c "$2"
"""


def write_shell(folder):
    path = os.path.abspath(os.path.join(folder, "lab-shell"))
    with open(path, "w", encoding="utf-8") as file:
        file.write(SHELL.format(prefix=network.PREFIX))
    os.chmod(path, 0o755)
    return path


def run_on_first(lab, arguments):
    child = lab.start(0, arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output, _ = child.communicate(timeout=LIMIT_S)
    if child.returncode != 0:
        raise CellFailed("`%s`: %s" % (" ".join(arguments[:2]), output.strip()))
    return output


def foretell(cell, slow, grapevine, relay, scratch):
    """Seconds a round: measured, and simulated over the network that was measured before.

    slow: what the last host may send, as a text; empty: as much as the others.
    """
    grapevine = os.path.abspath(grapevine)
    file = os.path.abspath(os.path.join(scratch, "doctor-network.textproto"))
    run, simulated = (os.path.abspath(os.path.join(scratch, name))
                      for name in ("doctor-run", "doctor-simulation"))
    for folder in (run, simulated):
        shutil.rmtree(folder, ignore_errors=True)
    cell.steady_rounds()
    with network.Lab(relay, cell.nodes, bits_per_second(cell.bandwidth),
                     round(seconds(cell.latency) * 1e6)) as lab:
        if slow:
            lab.limit(cell.nodes - 1, bits_per_second(slow))
        hosts = ["--hosts=" + ",".join(network.address(rank) for rank in range(cell.nodes)),
                 "--insecure", "--remote-shell=" + write_shell(scratch)]
        print(run_on_first(lab, [grapevine, "doctor", "--topology=" + cell.topology,
                                 "--network-out=" + file] + hosts))
        run_on_first(lab, [grapevine, "train", "--out=" + run] + hosts + cell.arguments())
    done = subprocess.run(
        [grapevine, "sim", "--log-every=1", "--out=" + simulated, "--network=file:" + file,
         "--model=" + cell.model, "--compute=" + cell.compute] + cell.experiment(),
        capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CellFailed("grapevine sim: " + done.stderr.strip())
    return step_of_run(cell, run), step_of_run(cell, simulated)


def judge_foretelling(cell, slow, grapevine, relay, scratch):
    """Prints a line; whether the gate holds."""
    measured, predicted = foretell(cell, slow, grapevine, relay, scratch)
    error = predicted / measured - 1
    print("%s%s: measured %.1f ms a round, predicted %.1f ms, %+.1f %% (gate: %.0f %%)" % (
        cell.label(), ", one host sends at " + slow if slow else "", measured * 1e3, predicted * 1e3, error * 100, GATE * 100))
    return abs(error) <= GATE
