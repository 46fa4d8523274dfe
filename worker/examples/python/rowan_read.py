#!/usr/bin/python3
"""Talks to a Rowan cluster from Python, by its .proto files alone: lists tables, pulls rows by value, pushes to them.

  rowan_read.py COORDINATOR tables
  rowan_read.py COORDINATOR pull TABLE FEATURE VALUE...
  rowan_read.py COORDINATOR push TABLE FEATURE VALUE GRADIENT...     (one number a float of the row; not in a sync job)

COORDINATOR: HOST:PORT. Needs Debian's python3-grpcio, python3-protobuf and protobuf-compiler. A push outside steps is
taken as it is (weight 0) and applied exactly once. Exits 0, 1 with one line on stderr, 2 for a wrong command line.
"""
import os, queue, struct, subprocess, sys, tempfile
import grpc

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..')
sys.path.insert(0, os.path.join(ROOT, 'common'))
sys.dont_write_bytecode = True
import rowan_key
with tempfile.TemporaryDirectory() as generated:
    protos = ['proto/%s.proto' % name for name in ('table', 'job', 'snapshot', 'coordinator', 'data_plane')]
    subprocess.run(['protoc', '-I.', '--python_out=' + generated] + protos, cwd=ROOT, check=True)
    sys.path.insert(0, generated)
    from proto import coordinator_pb2, data_plane_pb2

DEADLINE = 30  # seconds, of each call
OPTIONS = [('grpc.enable_http_proxy', 0), ('grpc.max_receive_message_length', -1)]


class Cluster:
    def __init__(self, address):
        self.channel = grpc.insecure_channel(address, OPTIONS)
        self.me = self.ask('RegisterClient', coordinator_pb2.RegisterClientRequest(
            protocol=coordinator_pb2.PROTOCOL_CURRENT, process=int.from_bytes(os.urandom(8), 'little')),
            coordinator_pb2.RegisterClientReply)
        self.status = self.ask('GetStatus', coordinator_pb2.GetStatusRequest(), coordinator_pb2.ClusterStatus)

    def ask(self, method, request, reply):
        call = self.channel.unary_unary('/rowan.proto.Coordinator/' + method, type(request).SerializeToString,
                                        reply.FromString)
        return call(request, timeout=DEADLINE)

    def table(self, name):
        for table in self.status.tables:
            if table.WhichOneof('spec') == 'table' and table.table.name == name:
                return table.id, sum(s.width for s in table.table.slices)
        sys.exit('no table is called %r' % name)

    def shard(self, key):  # the top bits of the key's hash
        return rowan_key.mix(key + 0x9e3779b97f4a7c15 & rowan_key.M) * self.me.job.num_shards >> 64

    def exchange(self, shard, **body):
        """One request to the server of `shard`; its reply."""
        server = self.me.map.servers[self.me.map.server_of_shard[shard]].tcp
        header = data_plane_pb2.DataHeader(generation=self.me.generation, rank=self.me.rank,
                                           incarnation=self.me.incarnation, map_version=self.me.map.version)
        with grpc.insecure_channel(server, OPTIONS) as channel:
            call = channel.stream_stream('/rowan.proto.DataPlane/Exchange',
                                         data_plane_pb2.DataRequest.SerializeToString,
                                         data_plane_pb2.DataReply.FromString)
            requests = queue.SimpleQueue()  # The stream stays open until the reply is here: closing it gives calls up.
            requests.put(data_plane_pb2.DataRequest(id=1, header=header, **body))
            for reply in call(iter(requests.get, None), timeout=DEADLINE):
                requests.put(None)
                if reply.status.code:
                    sys.exit('%s: %s' % (server, reply.status.message))
                return reply
        sys.exit('%s: no reply' % server)


def main(words):
    if len(words) == 2 and words[1] == 'tables':
        for table in Cluster(words[0]).status.tables:
            spec = table.table if table.WhichOneof('spec') == 'table' else table.dense
            print(table.id, table.WhichOneof('spec'), spec.name)
        return
    if len(words) < 5 or words[1] not in ('pull', 'push') or (words[1] == 'push' and len(words) < 6):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    cluster = Cluster(words[0])
    table, width = cluster.table(words[2])
    for value in words[4:] if words[1] == 'pull' else words[4:5]:
        key = rowan_key.key(words[3].encode(), value.encode())
        packed = struct.pack('<Q', key)
        if words[1] == 'pull':
            reply = cluster.exchange(cluster.shard(key), lookup=data_plane_pb2.PullBody(tables=[
                data_plane_pb2.TableKeys(table=table, width=width, want_outcomes=True, keys=packed)])).pull.tables[0]
            found = 'found' if reply.outcomes == b'\0' else 'absent'
            print(value, '%016x' % key, found, *('%.9g' % f for f in struct.unpack('<%df' % width, reply.rows)))
        else:
            gradient = [float(f) for f in words[5:]]
            if len(gradient) != width:
                sys.exit('table %r has rows of %d floats, %d were given' % (words[2], width, len(gradient)))
            cluster.exchange(cluster.shard(key), push=data_plane_pb2.PushBody(sections=[data_plane_pb2.Section(
                shard=cluster.shard(key), tables=[data_plane_pb2.TableGradients(
                    table=table, width=width, keys=packed, gradients=struct.pack('<%df' % width, *gradient))])]))
            print('pushed to', '%016x' % key)


if __name__ == '__main__':
    main(sys.argv[1:])
