#include "node/runner/gradient_desk.h"

#include <cmath>
#include <utility>

#include "kernels/vector/norms.h"

namespace grapevine {

// The runner's end of the desk.
class GradientDesk::Computer final : public GradientComputer {
 public:
  Computer(GradientDesk* desk, GradientReports reports)
      : desk_(desk), reports_(std::move(reports)) {
    MutexLock lock(desk_->mutex_);
    desk_->reports_ = &reports_;
  }
  ~Computer() override {
    MutexLock lock(desk_->mutex_);
    desk_->reports_ = nullptr;
    desk_->dropped_ = desk_->wanted_ && desk_->wanted_->given;
    desk_->wanted_.reset();
  }

  void Compute(SharedVector at, SharedVector into, Round round,
               std::vector<int64_t> cuts) override {
    MutexLock lock(desk_->mutex_);
    desk_->wanted_ = {.task = {round, std::move(at), std::move(into)},
                      .cuts = std::move(cuts),
                      .begin = std::chrono::steady_clock::now()};
    desk_->changed_.NotifyAll();
  }

 private:
  GradientDesk* const desk_;
  const GradientReports reports_;
};

std::unique_ptr<GradientComputer> GradientDesk::NewComputer(GradientReports reports) {
  return std::make_unique<Computer>(this, std::move(reports));
}

absl::StatusOr<std::optional<GradientDesk::Task>> GradientDesk::Await(
    std::chrono::steady_clock::time_point deadline) {
  MutexLock lock(mutex_);
  while (true) {
    if (!closed_.ok()) return closed_;
    if (end_) return end_;
    if (wanted_) {
      wanted_->given = true;
      return wanted_->task;
    }
    if (std::chrono::steady_clock::now() >= deadline) return std::nullopt;
    changed_.WaitUntil(mutex_, deadline);
  }
}

// Reported under the lock, so that the computer, whose destructor takes it, is there until the end.
// The reports only put mail into a box.
absl::Status GradientDesk::Deliver(double loss) {
  MutexLock lock(mutex_);
  if (!closed_.ok()) return closed_;
  if (std::exchange(dropped_, false)) return absl::OkStatus();
  if (!wanted_ || !wanted_->given) {
    return absl::FailedPreconditionError("no gradient has been asked for that is not delivered");
  }
  const Request request = *std::exchange(wanted_, std::nullopt);
  const SharedVector& gradient = request.task.gradient;
  for (const int64_t cut : request.cuts) reports_->part({request.task.round, cut});
  reports_->done({.round = request.task.round,
                  .loss = loss,
                  .noise = {},
                  .begin = request.begin,
                  .end = std::chrono::steady_clock::now(),
                  .finite = std::isfinite(SquaredNorm(gradient.data.get(), gradient.size)),
                  .has_loss = !std::isnan(loss)});
  return absl::OkStatus();
}

void GradientDesk::Finish(SharedVector model) {
  MutexLock lock(mutex_);
  if (!closed_.ok()) return;
  end_ = Task{.round = 0, .replica = std::move(model), .gradient = {}};
  changed_.NotifyAll();
}

void GradientDesk::Close(absl::Status why) {
  MutexLock lock(mutex_);
  if (!end_) closed_.Update(why);
  changed_.NotifyAll();
}

}  // namespace grapevine
