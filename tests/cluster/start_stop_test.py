"""Servers and coordinator as processes: how they come together, what they say, and how they end."""

import itertools
import os
import signal
import socket
import time
import unittest

from tests.cluster.cluster_harness import INT, TERM, Cluster, free_port, until


class StartTest(unittest.TestCase):
    def test_any_start_order_leads_to_a_job(self):
        for order in itertools.permutations(["coordinator", "a", "b"]):
            with self.subTest(order=order), Cluster() as cluster:
                address = "127.0.0.1:%d" % free_port()
                for who in order:
                    if who == "coordinator":
                        cluster.coordinator("--listen=" + address, "--servers=2", "--shards=8")
                    else:
                        server = cluster.server(address, name=who)
                        cluster.port(server)
                cluster.state(address, "waiting for workers: 0 of 1, missing 1 more")
                status = cluster.status(address)
                self.assertEqual([s["state"] for s in status["servers"]], ["serving", "serving"])
                self.assertEqual(sorted(s["name"] for s in status["servers"]), ["a", "b"])
                self.assertEqual([s["shards"] for s in status["servers"]], [4, 4])
                self.assertEqual(status["map"]["version"], "1")

    def test_everybody_says_what_is_waited_for(self):
        with Cluster() as cluster:
            address = "127.0.0.1:%d" % free_port()
            server = cluster.server(address)
            server.says("waiting for the coordinator at " + address)
            coordinator = cluster.coordinator("--listen=" + address, "--servers=2")
            coordinator.says("waiting for servers: 1 of 2, missing 1 more")
            # Again, some seconds later.
            until(lambda: coordinator.log().count("waiting for servers: 1 of 2") > 1, "said again")
            self.assertEqual(cluster.status(address)["state"], "waiting for servers: 1 of 2, missing 1 more")

    def test_coordinator_that_never_comes_ends_the_wait(self):
        with Cluster() as cluster:
            address = "127.0.0.1:%d" % free_port()
            server = cluster.server(address, "--wait=1s")
            self.assertEqual(server.ends(), 1)
            server.says("rowan-server: gave up after 1s: waiting for the coordinator at " + address)

    def test_second_process_on_a_port_says_so(self):
        with Cluster() as cluster:
            first = cluster.coordinator()
            second = cluster.start("coordinator", "second", "--listen=" + first.address)
            self.assertEqual(second.ends(), 1)
            second.says("rowan-coordinator: cannot listen on %s: Address already in use" % first.address)
            third = cluster.server(first.address, "--listen=" + first.address)
            self.assertEqual(third.ends(), 1)
            third.says("rowan-server: cannot listen on %s: Address already in use" % first.address)

    def test_unix_socket_in_use_is_left_alone(self):
        with Cluster() as cluster:
            coordinator = cluster.coordinator("--servers=2")
            path = cluster.path("s")
            first = cluster.server(coordinator.address, "--unix_socket=" + path, name="a")
            cluster.state(coordinator.address, "waiting for servers: 1 of 2")
            second = cluster.server(coordinator.address, "--unix_socket=" + path, name="b")
            self.assertEqual(second.ends(), 1)
            second.says("cannot listen on unix:%s: Address already in use" % path)
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(path)
            self.assertIsNone(first.popen.poll())
            self.assertEqual(cluster.status(coordinator.address)["servers"][0]["address"]["unix"], path)

    def test_advertised_address_that_leads_nowhere_is_named(self):
        with Cluster() as cluster:
            coordinator = cluster.coordinator()
            nowhere = "127.0.0.1:%d" % free_port()
            server = cluster.server(coordinator.address, "--advertise=" + nowhere)
            self.assertEqual(server.ends(), 1)
            server.says("rowan-server: the advertised address %s cannot be reached from the coordinator" % nowhere)

    def test_advertised_address_of_another_server_is_named(self):
        with Cluster() as cluster:
            coordinator = cluster.coordinator("--servers=2")
            first = cluster.server(coordinator.address, name="a")
            address = "127.0.0.1:%d" % cluster.port(first)
            second = cluster.server(coordinator.address, "--advertise=" + address, name="b")
            self.assertEqual(second.ends(), 1)
            second.says("the advertised address %s leads the coordinator to another server" % address)

    def test_advertised_address_of_the_coordinator_that_leads_nowhere_is_named(self):
        with Cluster() as cluster:
            nowhere = "127.0.0.1:%d" % free_port()
            coordinator = cluster.coordinator("--advertise=" + nowhere)
            coordinator.says("the advertised address %s cannot be reached from this host" % nowhere)

    def test_all_addresses_of_a_host_cannot_be_advertised(self):
        with Cluster() as cluster:
            coordinator = cluster.coordinator()
            server = cluster.server(coordinator.address, "--listen=0.0.0.0:0")
            self.assertEqual(server.ends(), 2)
            server.says("--advertise=: must name this host")
            other = cluster.server(coordinator.address, "--listen=0.0.0.0:0", "--advertise=localhost:0", name="b")
            cluster.state(coordinator.address, "waiting for workers")
            self.assertTrue(cluster.status(coordinator.address)["servers"][0]["address"]["tcp"].startswith("localhost:"))
            self.assertIsNone(other.popen.poll())

    def test_name_that_is_taken_is_refused(self):
        with Cluster() as cluster:
            coordinator = cluster.coordinator("--servers=2")
            cluster.server(coordinator.address, name="a")
            cluster.state(coordinator.address, "waiting for servers: 1 of 2")
            twin = cluster.start("server", "twin", "--coordinators=" + coordinator.address, "--name=a")
            self.assertEqual(twin.ends(), 1)
            twin.says("rowan-server: the name 'a' is taken by server 0")

    def test_proxy_of_the_environment_has_no_influence(self):
        proxy = {name: "http://127.0.0.1:1" for name in ("http_proxy", "https_proxy", "grpc_proxy")}
        with Cluster() as cluster:
            coordinator = cluster.coordinator(environment=proxy)
            cluster.server(coordinator.address, environment=proxy)
            cluster.state(coordinator.address, "waiting for workers")


class EndTest(unittest.TestCase):
    def test_stopped_job_leaves_nothing_running(self):
        with Cluster() as cluster:
            coordinator = cluster.coordinator("--servers=2")
            servers = [cluster.server(coordinator.address, name=name) for name in "ab"]
            cluster.state(coordinator.address, "waiting for workers")
            code, _, error = cluster.ctl(coordinator.address, "job", "stop")
            self.assertEqual((code, error), (0, ""))
            for process in servers + [coordinator]:
                self.assertEqual(process.ends(limit=10), 0, process.log())

    def test_job_can_be_stopped_before_it_is_complete(self):
        with Cluster() as cluster:
            coordinator = cluster.coordinator("--servers=2")
            server = cluster.server(coordinator.address)
            cluster.state(coordinator.address, "waiting for servers: 1 of 2")
            self.assertEqual(cluster.ctl(coordinator.address, "job", "stop")[0], 0)
            self.assertEqual(server.ends(limit=10), 0)
            self.assertEqual(coordinator.ends(limit=10), 0)

    def test_signals_end_each_process_in_its_grace_time(self):
        for number in (TERM, INT):
            with self.subTest(signal=number), Cluster() as cluster:
                coordinator = cluster.coordinator("--servers=2")
                waiting = cluster.server("127.0.0.1:%d" % free_port(), name="waiting")
                waiting.says("waiting for the coordinator")
                server = cluster.server(coordinator.address)
                cluster.state(coordinator.address, "waiting for servers: 1 of 2")
                for process in (waiting, server, coordinator):
                    process.signal(number)
                    start = time.monotonic()
                    self.assertEqual(process.ends(limit=10), 128 + number, process.log())
                    self.assertLess(time.monotonic() - start, 5)

    def test_second_signal_ends_a_process_at_once(self):
        with Cluster() as cluster:
            # A signal that finds the process still ending; one that has ended is as good.
            coordinator = cluster.coordinator()
            coordinator.signal(TERM)
            coordinator.signal(INT)
            self.assertIn(coordinator.ends(limit=5), (128 + TERM, 128 + INT))

    def test_server_that_ends_makes_room_before_the_job_begins(self):
        with Cluster() as cluster:
            coordinator = cluster.coordinator()
            server = cluster.server(coordinator.address)
            cluster.state(coordinator.address, "waiting for workers")
            server.signal(TERM)
            server.ends()
            cluster.state(coordinator.address, "waiting for servers: 0 of 1, missing 1 more", limit=2)
            cluster.server(coordinator.address, name="b")
            cluster.state(coordinator.address, "waiting for workers")
            self.assertEqual(cluster.status(coordinator.address)["servers"][0]["incarnation"], 2)

    def test_killed_server_is_seen_when_its_lease_ends(self):
        with Cluster() as cluster:
            coordinator = cluster.coordinator("--lease=1s")
            server = cluster.server(coordinator.address)
            cluster.state(coordinator.address, "waiting for workers")
            server.signal(signal.SIGKILL)
            cluster.state(coordinator.address, "waiting for servers: 0 of 1, the lease of server 0", limit=5)

    def test_paused_server_comes_back_by_itself(self):
        with Cluster() as cluster:
            coordinator = cluster.coordinator("--lease=1s")
            server = cluster.server(coordinator.address)
            cluster.state(coordinator.address, "waiting for workers")
            server.signal(signal.SIGSTOP)
            try:
                cluster.state(coordinator.address, "waiting for servers: 0 of 1, the lease of server 0", limit=5)
            finally:
                server.signal(signal.SIGCONT)
            cluster.state(coordinator.address, "waiting for workers", limit=5)

    def test_server_outlives_a_short_loss_of_its_coordinator_and_no_other(self):
        with Cluster() as cluster:
            coordinator = cluster.coordinator()
            patient = cluster.server(coordinator.address, "--wait=1s")
            cluster.state(coordinator.address, "waiting for workers")
            coordinator.signal(signal.SIGKILL)
            coordinator.ends()
            patient.says("waiting for the coordinator at " + coordinator.address)
            self.assertEqual(patient.ends(limit=10), 1)
            patient.says("rowan-server: gave up after 1s")

    def test_server_of_a_coordinator_that_was_started_anew_ends(self):
        with Cluster() as cluster:
            coordinator = cluster.coordinator()
            server = cluster.server(coordinator.address)
            cluster.state(coordinator.address, "waiting for workers")
            coordinator.signal(signal.SIGKILL)
            coordinator.ends()
            os.remove(cluster.path("coordinator.port"))
            cluster.coordinator("--listen=" + coordinator.address)
            self.assertEqual(server.ends(limit=15), 1)
            server.says("the coordinator was started anew")


class RowanctlTest(unittest.TestCase):
    def test_exit_codes_and_tables(self):
        with Cluster() as cluster:
            nobody = "127.0.0.1:%d" % free_port()
            code, out, error = cluster.ctl(nobody, "status", "--timeout=2s")
            self.assertEqual((code, out), (3, ""))
            self.assertIn("rowanctl: the coordinator at %s does not answer" % nobody, error)
            coordinator = cluster.coordinator("--shards=4")
            cluster.server(coordinator.address)
            cluster.state(coordinator.address, "waiting for workers")
            code, out, _ = cluster.ctl(coordinator.address, "status")
            self.assertEqual(code, 0)
            self.assertIn("job      waiting for workers: 0 of 1, missing 1 more\n", out)
            self.assertRegex(out, r"0 +a +127\.0\.0\.1:\d+ +serving")
            code, out, _ = cluster.ctl(coordinator.address, "shards", "--digest")
            self.assertEqual(code, 0)
            self.assertEqual(len(out.splitlines()), 1 + 4 + 1)
            self.assertIn("digest " + "0" * 32, out)
            self.assertEqual(cluster.ctl(coordinator.address, "tables")[:2],
                             (0, "ID  NAME  KIND  FLOATS  ROWS  MIB  INDEX MIB\n"))
            code, _, error = cluster.ctl(coordinator.address, "row", "get", "ads", "17")
            self.assertEqual((code, error), (4, "rowanctl: there is no table 'ads'\n"))
            self.assertEqual(cluster.ctl(coordinator.address, "row", "get", "ads", "x")[0], 2)


if __name__ == "__main__":
    unittest.main()
