#include "server/service/refusal.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "tests/server/table/engine_fixture.h"

namespace rowan {
namespace {

using ::rowan::testing::DenseOf;
using ::rowan::testing::MakePush;
using ::rowan::testing::TableOf;
using ::rowan::testing::TestEngine;

TEST(RefusalTest, NamesTableKeyRankAndStep) {
  TestEngine engine(16);
  const uint32_t table = engine.Add(TableOf("ads", 1, proto::Optimizer::SGD));
  const uint32_t dense = engine.Add(DenseOf("tower", 1, proto::Optimizer::SGD));
  std::vector<PushRequest> pushes;
  // By rank: key 7, key 8, the tower.
  for (const std::vector<float>& g : {std::vector<float>{1, 3e38f, 1}, {1, 3e38f, 1}, {NAN, 1, INFINITY}}) {
    RequestHeader header;
    header.rank = static_cast<uint32_t>(pushes.size());
    header.number = 40;
    pushes.push_back(
        MakePush(engine->placement(), {{table, {7, 8}, {g[0], g[1]}}}, {{dense, "tower", {g[2]}}}, 0, header));
  }
  const auto describe = [&](const std::vector<const PushRequest*>& of) {
    return DescribeRefusal(*engine.operator->(), engine->ApplyStep(of, 0, 40), of);
  };
  EXPECT_EQ(describe({&pushes[0]}), "");
  EXPECT_EQ(describe({&pushes[2]}),
            "table 'ads' key 7 of rank 2 at step 40, dense parameter 'tower' of rank 2 at step 40");
  EXPECT_EQ(describe({&pushes[0], &pushes[1]}), "table 'ads' key 8 of the ranks' sum at step 40");
  pushes[1].refused_dense = {dense};
  EXPECT_EQ(describe({&pushes[1]}), "dense parameter 'tower' of rank 1 at step 40");
  EXPECT_EQ(engine->ApplyStep({&pushes[0], &pushes[2]}, 0, 40).first_row->key, 7u);
}

}  // namespace
}  // namespace rowan
