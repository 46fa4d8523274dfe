"""The example as real processes: what becomes of a job whose members end well, badly, or without a word."""

import json
import signal
import unittest

from tests.cluster import cluster_harness
from tests.cluster.cluster_harness import TERM, Cluster, until

cluster_harness.BINARIES["ctr"] = "worker/examples/ctr/rowan-ctr"


class TrainTest(unittest.TestCase):
    def generate(self, cluster, rows):
        made = cluster.start("ctr", "generate", "generate", "--rows=%d" % rows, "--out=" + cluster.path("clicks.tsv"))
        self.assertEqual(made.ends(), 0, made.log())

    def worker(self, cluster, coordinator, name, *flags):
        return cluster.start("ctr", name, "train", "--coordinators=" + coordinator.address,
                             "--data=" + cluster.path("clicks.tsv"), "--batch_size=64", "--threads=1", *flags)

    def begin(self, cluster, *flags, rows=20000, epochs=1000):
        """Two servers and two workers that would train for long."""
        self.generate(cluster, rows)
        coordinator = cluster.coordinator("--servers=2", "--workers=2", "--shards=16", *flags)
        servers = [cluster.server(coordinator.address, "--threads=1", name=name) for name in "ab"]
        workers = [self.worker(cluster, coordinator, "w%d" % i, "--epochs=%d" % epochs) for i in range(2)]
        cluster.state(coordinator.address, "training")
        until(lambda: all(int(w["position"]["step"]) > 0 or w["state"] == "finished"
                          for w in cluster.status(coordinator.address)["workers"]), "both train")
        return coordinator, servers, workers

    def test_job_that_finishes_is_shown_and_stopped(self):
        with Cluster() as cluster:
            coordinator, servers, workers = self.begin(cluster, rows=4000, epochs=1)
            for worker in workers:
                self.assertEqual(worker.ends(), 0, worker.log())
            cluster.state(coordinator.address, "finished")
            code, out, _ = cluster.ctl(coordinator.address, "tables")
            self.assertEqual(code, 0)
            self.assertGreater(len(out.splitlines()), 2, out)
            self.assertEqual(cluster.ctl(coordinator.address, "job", "stop")[0], 0)
            for process in servers + [coordinator]:
                self.assertEqual(process.ends(limit=10), 0, process.log())

    def test_digest_is_that_of_one_process(self):
        with Cluster() as cluster:
            self.generate(cluster, 4000)

            def digest(name):
                with open(cluster.path(name + ".json")) as file:
                    return json.load(file)["digest"]

            for workers in (1, 2):
                local = cluster.start("ctr", "local%d" % workers, "train", "--data=" + cluster.path("clicks.tsv"),
                                      "--batch_size=64", "--model_dir=", "--workers=%d" % workers,
                                      "--summary_json=" + cluster.path("local%d.json" % workers))
                self.assertEqual(local.ends(), 0, local.log())
                for servers, unix in ((3, False), (2, True)):
                    name = "c%d%d" % (workers, servers)
                    coordinator = cluster.coordinator("--servers=%d" % servers, "--workers=%d" % workers, name=name)
                    nodes = []
                    for i in range(servers):
                        socket = ["--unix_socket=" + cluster.path(name + "s%d" % i)] if unix else []
                        nodes.append(cluster.server(coordinator.address, *socket, name=name + "server%d" % i))
                    trainers = [self.worker(cluster, coordinator, name + "w%d" % i,
                                            "--summary_json=" + cluster.path(name + ".json")) for i in range(workers)]
                    for trainer in trainers:
                        self.assertEqual(trainer.ends(), 0, trainer.log())
                    self.assertEqual(digest(name), digest("local%d" % workers), name)
                    self.assertEqual(cluster.ctl(coordinator.address, "job", "stop")[0], 0)
                    for process in nodes + [coordinator]:
                        self.assertEqual(process.ends(limit=10), 0, process.log())

    def test_worker_that_is_killed_does_not_leave_the_other_waiting(self):
        with Cluster() as cluster:
            coordinator, servers, workers = self.begin(cluster, "--lease=2s")
            workers[1].signal(signal.SIGKILL)
            workers[1].ends()
            self.assertNotEqual(workers[0].ends(limit=15), 0)
            self.assertRegex(workers[0].log(), r"rank \d \(on .*\) was not heard from for 2")
            cluster.state(coordinator.address, "failed: rank ")
            self.assertEqual(cluster.ctl(coordinator.address, "job", "stop")[0], 0)
            for process in servers + [coordinator]:
                self.assertEqual(process.ends(limit=10), 0, process.log())

    def test_server_that_ends_ends_the_job(self):
        with Cluster() as cluster:
            coordinator, servers, workers = self.begin(cluster)
            servers[0].signal(TERM)
            self.assertEqual(servers[0].ends(limit=10), 128 + TERM)
            for worker in workers:
                self.assertNotEqual(worker.ends(limit=15), 0, worker.log())
            cluster.state(coordinator.address, "failed: ")

    def test_stopped_job_ends_its_workers(self):
        with Cluster() as cluster:
            coordinator, servers, workers = self.begin(cluster)
            self.assertEqual(cluster.ctl(coordinator.address, "job", "stop")[0], 0)
            for process in servers + [coordinator]:
                self.assertEqual(process.ends(limit=15), 0, process.log())
            for worker in workers:
                self.assertNotEqual(worker.ends(limit=15), 0, worker.log())


if __name__ == "__main__":
    unittest.main()
