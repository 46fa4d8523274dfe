// RemoteShardHost: a server in another process, as the coordinator sees it. Every call has a deadline. Thread-safe.
#ifndef ROWAN_SERVER_COORDINATOR_REMOTE_SHARD_HOST_H_
#define ROWAN_SERVER_COORDINATOR_REMOTE_SHARD_HOST_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/coordinator/shard_host.h"

namespace rowan {

class RemoteShardHost final : public ShardHost {
 public:
  // Does not connect yet. InvalidArgument for a bad address.
  static absl::StatusOr<std::unique_ptr<RemoteShardHost>> Create(const std::string& address);
  ~RemoteShardHost() override;

  // Whether `process` is who listens at the address; asked again for up to `limit` while nobody answers.
  // FailedPrecondition names the address and who or what was there instead.
  absl::Status CheckIsProcess(uint64_t process, absl::Duration limit);

  // Unavailable or DeadlineExceeded if the server does not answer: it may have done it all the same.
  absl::Status AddTable(uint32_t id, const proto::TableSpec& spec) override;
  absl::Status AddDense(uint32_t id, const proto::DenseSpec& spec) override;

 private:
  struct Impl;
  explicit RemoteShardHost(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace rowan

#endif  // ROWAN_SERVER_COORDINATOR_REMOTE_SHARD_HOST_H_
