// Trains over the in-memory transport and writes the models, for tools/same_bits:
//
//   train_in_memory OUT NAME=VALUE...       settings by name: nodes=4 eval_every=0.25
#include <iostream>
#include <map>
#include <string>

#include "base/status.h"
#include "experiment/api.h"
#include "tests/process/memory_run.h"

namespace grapevine::testing {
namespace {

absl::Status Main(int argc, char** argv) {
  if (argc < 2) return UsageError("usage: train_in_memory OUT NAME=VALUE...");
  std::map<std::string, std::string> settings;
  for (int i = 2; i < argc; ++i) {
    const std::string setting = argv[i];
    const size_t equals = setting.find('=');
    if (equals == setting.npos) return UsageError(setting + ": not NAME=VALUE");
    settings[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  ASSIGN_OR_RETURN(const auto experiment, MakeExperiment(settings));
  return TrainInMemory(*experiment, argv[1]).status();
}

}  // namespace
}  // namespace grapevine::testing

int main(int argc, char** argv) {
  const absl::Status status = grapevine::testing::Main(argc, argv);
  if (!status.ok()) std::cerr << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
