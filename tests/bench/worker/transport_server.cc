// The server of transport_bench: two tables of ROWS rows behind gRPC, and raw peers, both on TCP and on Unix sockets in
// FOLDER. Prints its addresses, and ends when its standard input does.
// usage: transport_server ROWS FOLDER
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "common/thread_pool.h"
#include "server/service/data_plane_service.h"
#include "server/service/engine_sizes.h"
#include "server/service/parameter_server.h"
#include "server/table/shard_engine.h"
#include "tests/bench/worker/bench_table.h"
#include "tests/bench/worker/raw_peer.h"

namespace rowan::bench {
namespace {

void Load(uint32_t id, int64_t rows, ShardEngine* engine) {
  CHECK(engine->AddTable(MakeSchema(id)).ok());
  const auto schema = *engine->Table(id);
  std::vector<char> block(schema->row_bytes());
  for (int64_t i = 0; i < rows; ++i) {
    schema->InitBlock(KeyOf(i), block.data());
    const uint32_t shard = engine->placement().ShardOfKey(KeyOf(i));
    CHECK(engine->LoadBlock(shard, id, KeyOf(i), {block.data(), block.size()}).ok());
  }
}

int Run(int64_t rows, const std::string& folder) {
  ThreadPool pool(1);
  ShardEngine engine(Placement(kShards), &pool);
  Load(kPullTable, rows, &engine);
  Load(kPushTable, rows, &engine);
  ParameterServer::Options options;
  options.job.set_mode(proto::JobSpec::ASYNC);
  options.job.set_num_ranks(1);
  options.job.set_num_shards(kShards);
  ParameterServer plane(options, &engine);

  DataPlaneService tcp_service(&plane, EngineSizes(&engine)), unix_service(&plane, EngineSizes(&engine));
  const auto start = [](DataPlaneService* service, const std::string& listen) {
    ServerOptions server;
    server.listen = listen;
    server.max_message_bytes = service->max_message_bytes();
    auto started = StartServer(
        server, [&](grpc::ServerBuilder& builder) { builder.RegisterCallbackGenericService(service); });
    CHECK(started.ok()) << started.status();
    return *std::move(started);
  };
  const StartedServer tcp = start(&tcp_service, "127.0.0.1:0");
  const StartedServer unix_server = start(&unix_service, "unix:" + folder + "/grpc");

  uint16_t raw_port = 0;
  const int raw_tcp = RawListen("", &raw_port);
  const int raw_unix = RawListen(folder + "/raw", nullptr);
  static const std::vector<char>* const raw_rows = new std::vector<char>(size_t{1} << 30, 'x');
  for (const int listener : {raw_tcp, raw_unix}) {
    std::thread([listener] {
      for (int fd; (fd = accept(listener, nullptr, nullptr)) >= 0;) {
        NoDelay(fd);
        std::thread(RawServe, fd, raw_rows).detach();
      }
    }).detach();
  }
  std::printf("%s %s %d\n", tcp.address.c_str(), unix_server.address.c_str(), raw_port);
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  tcp_service.Shutdown();
  unix_service.Shutdown();
  tcp.server->Shutdown(std::chrono::system_clock::now());
  unix_server.server->Shutdown(std::chrono::system_clock::now());
  // The raw peers' threads end with the process.
  std::fflush(nullptr);
  std::_Exit(0);
}

}  // namespace
}  // namespace rowan::bench

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  return rowan::bench::Run(std::atoll(argv[1]), argv[2]);
}
