#include "tests/node/whole_node/simulated_gradients.h"

#include <algorithm>
#include <utility>

namespace grapevine::testing {
namespace {

void Hand(std::vector<float>& gradient, const SharedVector& into, int64_t from, int64_t to) {
  std::copy(gradient.begin() + from, gradient.begin() + to, into.data.get() + from);
}

}  // namespace

SimulatedGradients::SimulatedGradients(Objective* objective, Process* process, Duration duration,
                                       GradientReports reports)
    : objective_(objective),
      process_(process),
      duration_(std::move(duration)),
      reports_(std::make_shared<GradientReports>(std::move(reports))) {}

void SimulatedGradients::Compute(SharedVector at, SharedVector into, Round round,
                                 std::vector<int64_t> cuts) {
  const SteadyTime begin = process_->now();
  const std::chrono::nanoseconds total = duration_(round);
  auto work = std::make_shared<Work>(Work{into, std::vector<float>(into.size), into.size});
  absl::StatusOr<double> loss = objective_->Gradient(at.data.get(), round, work->gradient.data());
  const std::weak_ptr<GradientReports> reports = reports_;
  for (size_t i = 0; i < cuts.size(); ++i) {
    const auto part = static_cast<int64_t>(i + 1);
    process_->After(total * part / static_cast<int64_t>(cuts.size() + 1),
                    [reports, work, round, cut = cuts[i]] {
                      Hand(work->gradient, work->into, cut, std::exchange(work->from, cut));
                      if (const auto alive = reports.lock()) alive->part({round, cut});
                    });
  }
  // `at` is read until the end.
  process_->After(total, [reports, work, round, loss = std::move(loss), begin, at,
                          process = process_]() mutable {
    Hand(work->gradient, work->into, 0, work->from);
    work->into = {};
    at = {};
    if (const auto alive = reports.lock()) {
      alive->done({.round = round, .loss = std::move(loss), .begin = begin, .end = process->now()});
    }
  });
}

}  // namespace grapevine::testing
