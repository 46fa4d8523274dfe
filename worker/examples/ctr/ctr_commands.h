// The commands of rowan-ctr. Each runs after the flags were parsed and checked, prints results to stdout, progress and
// errors to stderr, and returns the program's exit code: 0, 2 wrong flags or input, found before
// anything started, 1 any other failure, 128 + signal interrupted.
#ifndef ROWAN_WORKER_EXAMPLES_CTR_CTR_COMMANDS_H_
#define ROWAN_WORKER_EXAMPLES_CTR_CTR_COMMANDS_H_

#include "common/flags.h"
#include "common/interrupt.h"

namespace rowan {

int RunGenerate(const Program& program, const CommandLine& line, const Interrupt& interrupt);
int RunTrain(const Program& program, const CommandLine& line, const Interrupt& interrupt);
int RunEvaluate(const Program& program, const CommandLine& line, const Interrupt& interrupt);
int RunPredict(const Program& program, const CommandLine& line, const Interrupt& interrupt);

}  // namespace rowan

#endif  // ROWAN_WORKER_EXAMPLES_CTR_CTR_COMMANDS_H_
