#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "cli/commands/commands.h"
#include "experiment/simulated/replayed_run.h"
#include "run/recording/recording.h"

namespace grapevine {
namespace {

// Returns the number as "12,345".
std::string Grouped(int64_t number) {
  std::string digits = std::to_string(number);
  for (size_t end = digits.size(); end > 3; end -= 3) digits.insert(end - 3, 1, ',');
  return digits;
}

absl::Status ReplayFiles(const std::vector<std::string>& files) {
  ASSIGN_OR_RETURN(const std::vector<RecordedNode> recordings, ReadRecordings(files));
  ASSIGN_OR_RETURN(const ReplayedRun run, ReplayRun(recordings));
  std::cout << absl::StrFormat(
                   "replayed %d nodes, %s events: every replica ends in the recorded bits",
                   run.nodes, Grouped(run.events))
            << std::endl;
  return absl::OkStatus();
}

}  // namespace

void AddReplayCommand(CommandLine& line) {
  Command command = line.AddCommand(
      "replay", "run recorded nodes again without a network, and compare the bits of their models");
  auto files = std::make_shared<std::vector<std::string>>();
  command
      .AddFlag({.names = "FILE",
                .help = "what --record wrote: the recordings of all nodes, in one file or several",
                .placeholder = "FILE..."},
               files.get())
      .Required();
  command.SetFooter(
      "Examples:\n"
      "  grapevine train -n 4 --model=softmax --rounds=100 --record=run.rec && "
      "grapevine replay run.rec\n"
      "  grapevine replay runs/ring/node-*/events.rec");
  command.OnChosen([files] { return ReplayFiles(*files); });
}

}  // namespace grapevine
