#include "server/service/data_plane_service.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace rowan {
namespace {

constexpr char kExchange[] = "/rowan.proto.DataPlane/Exchange";

class Refusal final : public grpc::ServerGenericBidiReactor {
 public:
  explicit Refusal(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

}  // namespace

DataPlaneService::DataPlaneService(DataPlane* plane, DataPlaneSizes sizes, const DataStreamLimits& limits)
    : context_(std::make_shared<DataStreamContext>(plane, std::move(sizes), limits)) {}

DataPlaneService::~DataPlaneService() {
  Shutdown();
  context_->WaitUntilIdle();
  context_->executor.Join();  // the last stream may end in one of its threads
}

int64_t DataPlaneService::max_message_bytes() const {
  return std::min<int64_t>(2 * context_->limits.max_message_bytes, std::numeric_limits<int32_t>::max());
}

void DataPlaneService::Shutdown() {
  std::vector<std::shared_ptr<DataStream>> streams;
  {
    MutexLock lock(&mu_);
    shutdown_ = true;
    for (const auto& stream : streams_) streams.push_back(stream.lock());
    streams_.clear();
  }
  for (const auto& stream : streams) {
    if (stream != nullptr) stream->Close(grpc::Status(grpc::StatusCode::UNAVAILABLE, "the server is shutting down"));
  }
}

grpc::ServerGenericBidiReactor* DataPlaneService::CreateReactor(grpc::GenericCallbackServerContext* context) {
  if (context->method() != kExchange) {
    return new Refusal({grpc::StatusCode::UNIMPLEMENTED, absl::StrCat("no such method: ", context->method())});
  }
  MutexLock lock(&mu_);
  if (shutdown_) return new Refusal({grpc::StatusCode::UNAVAILABLE, "the server is shutting down"});
  for (auto it = streams_.begin(); it != streams_.end();) it = it->expired() ? streams_.erase(it) : std::next(it);
  const std::shared_ptr<DataStream> stream = DataStream::Start(context_);
  streams_.insert(stream);
  return stream.get();
}

}  // namespace rowan
