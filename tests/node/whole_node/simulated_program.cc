#include "tests/node/whole_node/simulated_program.h"

#include <glog/logging.h>

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace grapevine::testing {

// The desk's, which wakes the program, and whose times are virtual.
class SimulatedProgram::Computer final : public GradientComputer {
 public:
  Computer(SimulatedProgram* program, GradientReports reports)
      : program_(program),
        inner_(program->desk_.NewComputer(
            {.done =
                 [this, done = std::move(reports.done)](GradientResult result) {
                   result.begin = begin_;
                   result.end = program_->process_->now();
                   done(std::move(result));
                 },
             .part = std::move(reports.part)})) {}

  void Compute(SharedVector at, SharedVector into, Round round,
               std::vector<int64_t> cuts) override {
    begin_ = program_->process_->now();
    inner_->Compute(std::move(at), std::move(into), round, std::move(cuts));
    program_->GoOn();
  }

 private:
  SimulatedProgram* const program_;
  SteadyTime begin_;
  const std::unique_ptr<GradientComputer> inner_;
};

SimulatedProgram::SimulatedProgram(Objective* objective, Process* process, Options options)
    : objective_(objective), process_(process), options_(std::move(options)) {
  desk_.SetOpenEnd(
      {.parameters = objective_->layout().parameter_size, .on_spent = options_.on_spent});
}

std::unique_ptr<GradientComputer> SimulatedProgram::NewComputer(GradientReports reports) {
  return std::make_unique<Computer>(this, std::move(reports));
}

void SimulatedProgram::Coast(Round below, bool all) {
  if (all) desk_.RetireSoon();
  desk_.Coast(below);
}

void SimulatedProgram::GoOn() {
  if (std::exchange(busy_, true)) return;
  process_->After(options_.duration(),
                  [this] { given_ < options_.gradients ? TakeTask() : End(); });
}

// It has the task while it computes.
void SimulatedProgram::TakeTask() {
  const auto task = desk_.Await(SteadyTime::min());
  CHECK(task.ok()) << task.status();
  if (!*task) {
    busy_ = false;
    return;
  }
  process_->After(options_.duration(), [this, task = **task] {
    const absl::StatusOr<double> loss =
        objective_->Gradient(task.replica.data.get(), task.round, task.gradient.data.get());
    const absl::Status delivered = desk_.Deliver(*loss);
    CHECK(delivered.ok()) << delivered;
    ++given_;
    busy_ = false;
    // Another one is computed when it is wanted; it ends by itself.
    if (given_ == options_.gradients) GoOn();
  });
}

void SimulatedProgram::End() { desk_.Retire(options_.ends_all); }

}  // namespace grapevine::testing
