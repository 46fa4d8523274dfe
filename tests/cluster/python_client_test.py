"""A client made from the .proto files alone reads what the C++ worker trained, and its pushes count."""

import subprocess
import unittest

from tests.cluster import cluster_harness
from tests.cluster.cluster_harness import Cluster

cluster_harness.BINARIES["ctr"] = "worker/examples/ctr/rowan-ctr"
SCRIPT = "worker/examples/python/rowan_read.py"
WIDTH = 17  # of the example's rows: first-order weight and embedding


def read(coordinator, *words):
    done = subprocess.run([SCRIPT, coordinator.address, *words], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


class PythonClientTest(unittest.TestCase):
    def test_reads_and_pushes(self):
        with Cluster() as cluster:
            clicks = cluster.path("clicks.tsv")
            made = cluster.start("ctr", "generate", "generate", "--rows=2000", "--out=" + clicks)
            self.assertEqual(made.ends(), 0, made.log())
            coordinator = cluster.coordinator("--servers=2", "--workers=1", "--mode=async")
            for name in "ab":
                cluster.server(coordinator.address, name=name)
            worker = cluster.start("ctr", "worker", "train", "--coordinators=" + coordinator.address, "--data=" + clicks,
                                   "--threads=1")
            self.assertEqual(worker.ends(), 0, worker.log())

            code, tables, errors = read(coordinator, "tables")
            self.assertEqual(code, 0, errors)
            self.assertIn("table ctr\n", tables)
            self.assertIn("dense tower/0/weights\n", tables)

            with open(clicks) as file:  # the first row's first id
                value = file.readline().rstrip("\n").split("\t")[14]
            before = self.row(coordinator, value)
            self.assertEqual(before[2], "found")
            self.assertEqual(self.row(coordinator, "never-seen")[2], "absent")
            code, _, errors = read(coordinator, "push", "ctr", "C1", value, *["1"] * WIDTH)
            self.assertEqual(code, 0, errors)
            after = self.row(coordinator, value)
            for was, now in zip(before[3:], after[3:]):  # Adagrad: down by the rate at most
                self.assertLess(float(now), float(was))
                self.assertLess(float(was) - float(now), 0.0501)

            code, _, errors = read(coordinator, "push", "ctr", "C1", value, "1", "2")
            self.assertEqual((code, errors), (1, "table 'ctr' has rows of 17 floats, 2 were given\n"))
            self.assertEqual(read(coordinator, "pull", "nope", "C1", value)[0], 1)
            self.assertEqual(read(coordinator)[0], 2)

    def row(self, coordinator, value):
        code, text, errors = read(coordinator, "pull", "ctr", "C1", value)
        self.assertEqual(code, 0, errors)
        return text.split()


if __name__ == "__main__":
    unittest.main()
