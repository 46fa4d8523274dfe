#include "server/admin/render.h"

#include "gtest/gtest.h"

namespace rowan {
namespace {

TEST(RenderTest, ColumnsAreAsWideAsTheirWidestCell) {
  EXPECT_EQ(RenderTable({"NAME", "ROWS", "STATE"}, {{"a", "5", "ok"}, {"longer", "12345", "-"}}),
            "NAME     ROWS  STATE\n"
            "a           5  ok\n"
            "longer  12345  -\n");
  EXPECT_EQ(RenderTable({"A", "B"}, {}), "A  B\n");
}

TEST(RenderTest, RowIsShownWithItsSlices) {
  proto::RowReport report;
  report.set_table("ads\n");
  report.set_key(~uint64_t{0});
  report.set_shard(3);
  report.set_server(1);
  report.set_outcome("found");
  report.add_slices()->set_name("linear");
  report.mutable_slices(0)->add_values(0.5f);
  report.add_slices()->set_name("factors");
  report.mutable_slices(1)->add_values(-1.25f);
  report.mutable_slices(1)->add_values(2);
  EXPECT_EQ(Render(report),
            "ads\\n 18446744073709551615 (0xffffffffffffffff): found, shard 3 on server 1\n"
            "linear: 0.5\n"
            "factors: -1.25 2\n");
}

TEST(RenderTest, StatusNamesWhatIsMissing) {
  proto::ClusterStatus status;
  status.set_state("waiting for servers: 1 of 2, missing 1 more");
  proto::ServerStatus* const server = status.add_servers();
  server->set_name("a");
  server->mutable_address()->set_tcp("h:1");
  server->set_state("serving");
  server->set_incarnation(1);
  server->set_last_heard_ms(250);
  status.add_servers()->set_server(1);
  status.mutable_servers(1)->set_state("missing");
  const std::string text = Render(status);
  EXPECT_EQ(text.find("job      waiting for servers: 1 of 2, missing 1 more\n"), 0u) << text;
  EXPECT_NE(text.find("     0  a     h:1      serving            1       0      0  250ms\n"), text.npos) << text;
  EXPECT_NE(text.find("     1  -     -        missing            0       0      0      -\n"), text.npos) << text;
}

}  // namespace
}  // namespace rowan
