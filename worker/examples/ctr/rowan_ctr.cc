// rowan-ctr: the click-through-rate example. Generates clicks, trains on them, evaluates and predicts.
#include "common/flags.h"
#include "common/interrupt.h"
#include "common/log.h"
#include "worker/examples/ctr/ctr_commands.h"

namespace {

rowan::Program MakeProgram() {
  const rowan::FlagGroup input = {"Input", {"data", "max_bad_share"}};
  const rowan::FlagGroup train_input = {"Input", {"data", "test_data", "max_bad_share"}};
  const rowan::FlagGroup training = {
      "Training", {"batch_size", "epochs", "shuffle", "seed", "row_learning_rate", "dense_learning_rate"}};
  const rowan::FlagGroup job = {"Job", {"coordinators", "unix_sockets", "mode", "workers", "threads", "shards", "pipeline"}};
  return {"rowan-ctr",
          "the click-through-rate example",
          {{"generate",
            "writes clicks of a known model as Criteo TSV",
            {{"Output", {"rows", "seed", "out", "threads", "summary_json"}}, rowan::LogFlags()},
            {"out"}},
           {"train",
            "trains a model and evaluates it",
            {train_input, training, job, {"Output", {"model_dir", "summary_json", "profile"}}, rowan::LogFlags()},
            {"data"}},
           {"evaluate",
            "scores labelled rows with a stored model",
            {input, {"Model", {"model_dir", "threads"}}, {"Output", {"summary_json"}}, rowan::LogFlags()},
            {"data"}},
           {"predict",
            "writes the click probability of each row, one a line",
            {{"Input", {"data"}}, {"Model", {"model_dir", "threads"}}, {"Output", {"out"}}, rowan::LogFlags()},
            {"data", "out"}}}};
}

}  // namespace

int main(int argc, char** argv) {
  const rowan::Program program = MakeProgram();
  const rowan::CommandLine line = rowan::ParseFlagsOrExit(program, argc, argv);
  if (const absl::Status status = rowan::InitLogging(program.name); !status.ok()) {
    return rowan::UsageError(program, line, status.message());
  }
  const rowan::Interrupt interrupt;
  if (line.command == "generate") return rowan::RunGenerate(program, line, interrupt);
  if (line.command == "train") return rowan::RunTrain(program, line, interrupt);
  if (line.command == "evaluate") return rowan::RunEvaluate(program, line, interrupt);
  return rowan::RunPredict(program, line, interrupt);
}
