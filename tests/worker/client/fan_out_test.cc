#include "worker/client/fan_out.h"

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "common/mutex.h"
#include "gtest/gtest.h"
#include "tests/status_matchers.h"

namespace rowan {
namespace {

using ::rowan::testing::StatusIs;
using ::testing::ElementsAre;

constexpr auto kAborted = absl::StatusCode::kAborted;
constexpr auto kDeadline = absl::StatusCode::kDeadlineExceeded;

// A server that answers when the test says so. Used by one thread, except where `mu` is named.
class Puppet final : public DataPlane {
 public:
  absl::Status Hello(const RequestHeader&, HelloReply*) override { return hello; }
  void Pull(const PullRequest* request, PullWaiting waiting, PullDone done) override {
    ++asked;
    if (at_once.has_value()) return done(*at_once);
    pulls[request] = {std::move(waiting), std::move(done)};
  }
  void CancelPull(const PullRequest* request) override {
    ++cancelled;
    if (obeys && pulls.count(request) > 0) AnswerPull(absl::CancelledError("given up while waiting for rank 3"));
  }
  void Push(PushRequest, PushDone done) override {
    ++asked;
    push = std::move(done);
  }
  void Lookup(const PullRequest* request, PullDone done) override { Pull(request, nullptr, std::move(done)); }

  // The one pull that waits.
  void AnswerPull(const absl::Status& status) {
    auto pull = std::move(pulls.begin()->second);
    pulls.erase(pulls.begin());
    pull.second(status);
  }
  void TellWaiting(const std::string& what) { pulls.begin()->second.first(what); }

  absl::Status hello;
  absl::optional<absl::Status> at_once;
  bool obeys = true;  // a cancelled pull is answered
  int asked = 0, cancelled = 0;
  std::map<const PullRequest*, std::pair<PullWaiting, PullDone>> pulls;
  PushDone push;
};

struct Fan {
  explicit Fan(int n, absl::Duration deadline = absl::Seconds(60)) : servers(n) {
    ShardMap map;
    map.servers.resize(n);
    if (n > 1) map.servers[1].tcp = "h:7";
    std::vector<DataPlane*> planes;
    for (Puppet& server : servers) planes.push_back(&server);
    fan = std::make_unique<FanOut>(planes, map, deadline);
  }
  Pending Pull() {
    return fan->Pull(Pulls(), [this](const std::string& what) { told.push_back(what); });
  }
  Router::Pulls Pulls() {
    Router::Pulls pulls;
    pulls.requests.resize(servers.size());
    return pulls;
  }

  std::vector<Puppet> servers;
  std::unique_ptr<FanOut> fan;
  std::vector<std::string> told;
};

// Waits in a thread of its own.
class Waiter {
 public:
  explicit Waiter(Pending pending) : pending_(std::move(pending)) {
    thread_ = std::thread([this] {
      const absl::Status status = pending_.Wait();
      MutexLock lock(&mu_);
      result_ = status;
    });
  }
  ~Waiter() {
    if (thread_.joinable()) thread_.join();
  }
  bool done() {
    MutexLock lock(&mu_);
    return result_.has_value();
  }
  absl::Status Result() {
    thread_.join();
    MutexLock lock(&mu_);
    return *result_;
  }

 private:
  Pending pending_;
  Mutex mu_;
  absl::optional<absl::Status> result_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
};

TEST(FanOutTest, ACallEndsWhenAllServersHaveAnswered) {
  Fan f(3);
  Waiter waiter(f.Pull());
  f.servers[1].AnswerPull(absl::OkStatus());
  f.servers[0].AnswerPull(absl::OkStatus());
  EXPECT_FALSE(waiter.done());
  f.servers[2].AnswerPull(absl::OkStatus());
  EXPECT_OK(waiter.Result());
  for (const Puppet& server : f.servers) EXPECT_EQ(server.cancelled, 0);
}

TEST(FanOutTest, TheFirstErrorWinsAndTheOthersAreLetGoAndWaitedFor) {
  Fan f(3);
  f.servers[0].obeys = false;
  Waiter waiter(f.Pull());
  f.servers[1].AnswerPull(absl::AbortedError("redo"));
  EXPECT_EQ(f.servers[0].cancelled, 1);
  EXPECT_EQ(f.servers[2].cancelled, 1);
  EXPECT_EQ(f.servers[1].cancelled, 0) << "it has answered";
  EXPECT_FALSE(waiter.done()) << "server 0 still uses the caller's memory";
  f.servers[0].AnswerPull(absl::InternalError("later"));
  EXPECT_THAT(waiter.Result(), StatusIs(kAborted, "server 1 (h:7): redo"));
}

TEST(FanOutTest, AfterAnErrorAtOnceNobodyElseIsAsked) {
  Fan f(3);
  f.servers[1].at_once = absl::AbortedError("redo");
  EXPECT_THAT(f.Pull().Wait(), StatusIs(kAborted, "server 1 (h:7): redo"));
  EXPECT_EQ(f.servers[0].cancelled, 1);
  EXPECT_EQ(f.servers[2].asked, 0);
}

TEST(FanOutTest, ADeadlineLetsGoOfThoseThatHaveNotAnswered) {
  Fan f(3, absl::Milliseconds(1));
  Pending pending = f.Pull();
  f.servers[0].AnswerPull(absl::OkStatus());
  EXPECT_THAT(pending.Wait(),
              StatusIs(kDeadline, "no answer within 1ms: server 1 (h:7): given up while waiting for rank 3"));
  EXPECT_EQ(f.servers[0].cancelled, 0);
}

TEST(FanOutTest, OneServersErrorIsItsOwn) {
  Fan f(1);
  f.servers[0].at_once = absl::AbortedError("redo");
  EXPECT_THAT(f.Pull().Wait(), StatusIs(kAborted, "redo"));
}

TEST(FanOutTest, WaitingIsToldOfOneServerAtATime) {
  Fan f(3);
  Pending pending = f.Pull();
  f.servers[1].TellWaiting("still waiting for b");
  f.servers[0].TellWaiting("still waiting for a");
  f.servers[0].AnswerPull(absl::OkStatus());
  f.servers[2].TellWaiting("still waiting for c");
  f.servers[1].TellWaiting("still waiting for b");
  EXPECT_THAT(f.told, ElementsAre("server 0: still waiting for a", "server 1 (h:7): still waiting for b"));
  f.servers[1].AnswerPull(absl::OkStatus());
  f.servers[2].AnswerPull(absl::OkStatus());
  EXPECT_OK(pending.Wait());
}

TEST(FanOutTest, APushIsTakenWhenAllServersHaveAcknowledgedIt) {
  for (const int refuses : {-1, 0, 1, 2}) {
    Fan f(3);
    std::vector<absl::Status> then;
    Pending pending = f.fan->Push(std::vector<PushRequest>(3), [&](const absl::Status& s) { then.push_back(s); });
    for (const int i : {2, 0, 1}) {
      EXPECT_TRUE(then.empty());
      f.servers[i].push({i == refuses ? absl::AbortedError("redo") : absl::OkStatus(), {}, 0});
    }
    ASSERT_EQ(then.size(), 1u);
    EXPECT_EQ(then[0].ok(), refuses < 0);
    EXPECT_EQ(pending.Wait(), then[0]);
    for (const Puppet& server : f.servers) EXPECT_EQ(server.asked, 1);
  }
}

TEST(FanOutTest, OutsideStepsServersThatAreNotConcernedAreLeftOut) {
  Fan f(3);
  EXPECT_OK(f.fan->Lookup(f.Pulls()).Wait());
  EXPECT_OK(f.fan->PushBare(std::vector<PushRequest>(3)).Wait());
  Router::Pulls pulls = f.Pulls();
  pulls.requests[2].dense.emplace_back();
  f.servers[2].at_once = absl::AbortedError("redo");
  EXPECT_THAT(f.fan->Lookup(std::move(pulls)).Wait(), StatusIs(kAborted, "server 2: redo"));
  EXPECT_EQ(f.servers[0].asked + f.servers[1].asked, 0);
}

TEST(FanOutTest, HelloNamesTheServerThatRefuses) {
  Fan f(3);
  std::vector<HelloReply> replies;
  EXPECT_OK(f.fan->Hello({}, &replies));
  EXPECT_EQ(replies.size(), 3u);
  f.servers[2].hello = absl::AbortedError("replaced");
  EXPECT_THAT(f.fan->Hello({}, &replies), StatusIs(kAborted, "server 2: replaced"));
}

}  // namespace
}  // namespace rowan
