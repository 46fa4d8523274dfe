"""Starts, watches and ends the processes of a cluster for a test. Python's standard library only.

Every process is started by a Cluster and ended by it, by pid, whatever the test does; each has its output in a file of
the cluster's own directory. Nothing waits without a limit, and nothing sleeps for luck.
"""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

BINARIES = {
    "coordinator": "server/coordinator/rowan-coordinator",
    "server": "server/rowan-server",
    "ctl": "server/admin/rowanctl",
}


def until(condition, what, limit=20.0):
    """Returns condition()'s first true result; fails after `limit` seconds."""
    deadline = time.monotonic() + limit
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > deadline:
            raise AssertionError("%s: not within %g s" % (what, limit))
        time.sleep(0.02)


class Process:
    """One process; its stdout and stderr together in self.log_path."""

    def __init__(self, name, words, log_path, environment=None):
        self.name = name
        self.log_path = log_path
        with open(log_path, "wb") as log:
            self.popen = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                env=dict(os.environ, **(environment or {})))

    def log(self):
        with open(self.log_path, errors="replace") as log:
            return log.read()

    def says(self, text, limit=20.0):
        """Waits until the process has printed `text`."""
        try:
            until(lambda: text in self.log() or self.popen.poll() is not None, "", limit)
        except AssertionError:
            pass
        if text not in self.log():
            raise AssertionError("%s does not say %r:\n%s" % (self.name, text, self.log()))

    def ends(self, limit=20.0):
        """Waits for its end and returns its exit code."""
        try:
            return self.popen.wait(limit)
        except subprocess.TimeoutExpired:
            raise AssertionError("%s does not end:\n%s" % (self.name, self.log()))

    def signal(self, number):
        self.popen.send_signal(number)

    def kill(self):
        """Ends it at once, if it still runs."""
        if self.popen.poll() is None:
            self.popen.kill()
            self.popen.wait()


class Cluster:
    """The processes of one test: `with Cluster() as cluster: ...`."""

    def __enter__(self):
        # Not under $TEST_TMPDIR: the path of a Unix socket has at most 107 bytes.
        self.directory = tempfile.mkdtemp(prefix="rowan-")
        self.processes = []
        return self

    def __exit__(self, kind, error, trace):
        for process in reversed(self.processes):
            process.kill()
        if kind is not None:
            for process in self.processes:
                print("--- %s\n%s" % (process.name, process.log()))
        shutil.rmtree(self.directory)

    def path(self, name):
        return os.path.join(self.directory, name)

    def start(self, binary, name, *flags, environment=None):
        process = Process(name, [BINARIES[binary]] + list(flags), self.path(name + ".log"), environment)
        self.processes.append(process)
        return process

    def port(self, process):
        """The port that `process` writes to its --port_file, which is named like it."""
        path = self.path(process.name + ".port")
        until(lambda: os.path.exists(path) or process.popen.poll() is not None, process.name + " listens")
        if not os.path.exists(path):
            raise AssertionError("%s ended:\n%s" % (process.name, process.log()))
        with open(path) as file:
            return int(file.read())

    def coordinator(self, *flags, name="coordinator", **more):
        process = self.start("coordinator", name, "--port_file=" + self.path(name + ".port"), *flags, **more)
        process.address = "127.0.0.1:%d" % self.port(process)
        return process

    def server(self, coordinator, *flags, name="a", **more):
        """`coordinator`: HOST:PORT."""
        return self.start("server", name, "--coordinators=" + coordinator, "--name=" + name,
                          "--port_file=" + self.path(name + ".port"), *flags, **more)

    def ctl(self, coordinator, *words):
        """Runs rowanctl; returns (exit code, stdout, stderr)."""
        done = subprocess.run([BINARIES["ctl"], *words, "--coordinator=" + coordinator], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=30)
        return done.returncode, done.stdout, done.stderr

    def status(self, coordinator):
        code, out, error = self.ctl(coordinator, "status", "--output=json")
        if code != 0:
            raise AssertionError("rowanctl status: %d: %s" % (code, error))
        return json.loads(out)

    def state(self, coordinator, text, limit=20.0):
        """Waits until the job's state begins with `text`."""
        until(lambda: self.status(coordinator)["state"].startswith(text), "job is " + text, limit)


def free_port():
    """A port that nobody listens on now."""
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


TERM = signal.SIGTERM
INT = signal.SIGINT
