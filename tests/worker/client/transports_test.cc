#include "tests/common/data_plane_contract.h"

namespace rowan {
namespace {

using ::rowan::testing::Transport;

INSTANTIATE_TEST_SUITE_P(Transports, DataPlaneContractTest,
                         ::testing::Values(Transport::kLocal, Transport::kTcp, Transport::kUnix),
                         rowan::testing::NameOf);

}  // namespace
}  // namespace rowan
