// The program that computes a node's gradients, at production's desk, in virtual time; it ends when
// it has given a number of them that the node does not know.
//
// Thread-compatible.
#ifndef GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_PROGRAM_H_
#define GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_PROGRAM_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/ids.h"
#include "model/problem/objective.h"
#include "node/runner/gradient_desk.h"
#include "node/runner/node_gradients.h"
#include "tests/node/whole_node/process.h"

namespace grapevine::testing {

class SimulatedProgram {
 public:
  struct Options {
    Round gradients = 0;    // that it gives
    bool ends_all = false;  // the others are to end with it
    // Of its next piece of work.
    std::function<std::chrono::nanoseconds()> duration;
    std::function<void(Round gradients, bool all)> on_spent;
  };

  // The objective and the process outlive it.
  SimulatedProgram(Objective* objective, Process* process, Options options);

  // RunnerOptions::gradients.
  std::unique_ptr<GradientComputer> NewComputer(GradientReports reports);
  // As the coordinator says.
  void Coast(Round below, bool all);

 private:
  class Computer;

  // Goes on, if there is something to do, as soon as it has the time.
  void GoOn();
  void TakeTask();
  void End();

  Objective* const objective_;
  Process* const process_;
  const Options options_;
  GradientDesk desk_;
  Round given_ = 0;
  bool busy_ = false;
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_PROGRAM_H_
