#include "worker/client/step_ledger.h"

#include "gtest/gtest.h"

namespace rowan {
namespace {

TEST(StepLedgerTest, OnlyStepsWithoutGapsAreAcknowledged) {
  StepLedger ledger(10);
  for (uint64_t step = 10; step < 14; ++step) ledger.MarkSent(step);
  EXPECT_EQ(ledger.pushed(), 14u);
  ledger.MarkAnswered(12, absl::OkStatus());
  ledger.MarkAnswered(11, absl::OkStatus());
  EXPECT_EQ(ledger.acknowledged(), 10u);
  ledger.MarkAnswered(10, absl::OkStatus());
  EXPECT_EQ(ledger.acknowledged(), 13u);
}

TEST(StepLedgerTest, ARefusedStepIsPushedAgainUnlessALaterOneWas) {
  StepLedger ledger(0);
  ledger.MarkSent(0);
  ledger.MarkAnswered(0, absl::UnavailableError("gone"));
  EXPECT_EQ(ledger.pushed(), 0u);
  EXPECT_EQ(ledger.acknowledged(), 0u);
  ledger.MarkSent(0);
  ledger.MarkSent(1);
  ledger.MarkAnswered(0, absl::UnavailableError("gone"));
  EXPECT_EQ(ledger.pushed(), 2u);
  ledger.MarkAnswered(1, absl::OkStatus());
  EXPECT_EQ(ledger.acknowledged(), 0u) << "step 0 never came";
}

}  // namespace
}  // namespace rowan
