// One experiment, trained by real nodes and simulated, without a command line:
// the library behind `grapevine train` and `grapevine sim` is experiment/.
//
//   train_and_simulate FOLDER
#include <iostream>
#include <string>

#include "base/status.h"
#include "experiment/api.h"

absl::Status TrainAndSimulate(const std::string& folder) {
  ASSIGN_OR_RETURN(const auto experiment,
                   grapevine::MakeExperiment({{"nodes", "4"},
                                              {"topology", "ring"},
                                              {"model", "mlp:width=32"},
                                              {"data", "synthetic:train=1024:test=256"},
                                              {"epochs", "2"},
                                              {"compute", "5ms"}}));
  ASSIGN_OR_RETURN(const auto trained, grapevine::Train(*experiment, {.out = folder + "/trained"}));
  ASSIGN_OR_RETURN(const auto simulated,
                   grapevine::Simulate(*experiment, {.out = folder + "/simulated"}));
  std::cout << "trained:   accuracy " << *trained.test_accuracy << " after " << *trained.wall_time_s
            << " s\n"
            << "simulated: accuracy " << *simulated.test_accuracy << " after "
            << *simulated.simulated_time_s << " s\n";
  return absl::OkStatus();
}

int main(int argc, char** argv) {
  const absl::Status status = TrainAndSimulate(argc > 1 ? argv[1] : "runs/example");
  if (!status.ok()) std::cerr << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
