#include "node/runner/gradient_desk.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include "base/status.h"
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
    {
      MutexLock lock(desk_->mutex_);
      desk_->wanted_ = {.task = {round, std::move(at), std::move(into)},
                        .cuts = std::move(cuts),
                        .begin = std::chrono::steady_clock::now()};
      desk_->CoastIfWanted();
      desk_->changed_.NotifyAll();
    }
    desk_->TellIfSpent();
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
    if (wanted_ && !retired_) {
      wanted_->given = true;
      return wanted_->task;
    }
    if (std::chrono::steady_clock::now() >= deadline) return std::nullopt;
    changed_.WaitUntil(mutex_, deadline);
  }
}

// Reports under the lock: the computer, whose destructor takes the lock, thus exists until the end.
// The reports only put mail into a box.
absl::Status GradientDesk::Deliver(double loss) {
  RETURN_IF_ERROR(Take(loss));
  TellIfSpent();
  return absl::OkStatus();
}

absl::Status GradientDesk::Take(double loss) {
  MutexLock lock(mutex_);
  if (!closed_.ok()) return closed_;
  if (std::exchange(dropped_, false)) return absl::OkStatus();
  if (retired_) return absl::FailedPreconditionError("it was said that no gradient follows");
  if (!wanted_ || !wanted_->given) {
    return absl::FailedPreconditionError("no gradient has been asked for that is not delivered");
  }
  Report(loss);
  retired_ = retires_soon_;
  return absl::OkStatus();
}

void GradientDesk::Report(double loss) {
  const Request request = *std::exchange(wanted_, std::nullopt);
  delivered_ = request.task.round + 1;
  const SharedVector& gradient = request.task.gradient;
  for (const int64_t cut : request.cuts) reports_->part({request.task.round, cut});
  reports_->done({.round = request.task.round,
                  .loss = loss,
                  .noise = {},
                  .begin = request.begin,
                  .end = std::chrono::steady_clock::now(),
                  .finite = std::isfinite(SquaredNorm(gradient.data.get(), gradient.size)),
                  .has_loss = !std::isnan(loss)});
}

void GradientDesk::Retire(bool all) {
  {
    MutexLock lock(mutex_);
    retired_ = true;
    all_ = all_ || all;
  }
  TellIfSpent();
}

void GradientDesk::RetireSoon() {
  {
    MutexLock lock(mutex_);
    retires_soon_ = true;
    retired_ = retired_ || !wanted_ || !wanted_->given;
  }
  TellIfSpent();
}

void GradientDesk::Coast(Round below) {
  MutexLock lock(mutex_);
  coasts_ = std::max(coasts_, below);
  CoastIfWanted();
}

// A step moves buffers towards those in the gradient: here, towards where they are.
void GradientDesk::WriteStill(const Task& task) const {
  const auto parameters = static_cast<size_t>(open_.parameters);
  const std::span<float> gradient = task.gradient.span();
  std::ranges::fill(gradient.first(parameters), 0.0f);
  std::ranges::copy(task.replica.span().subspan(parameters), gradient.subspan(parameters).begin());
}

void GradientDesk::CoastIfWanted() {
  // Coasting waits until rank 0 hears how many gradients were given: the gradients that follow do
  // not count.
  if (!spent_ || !wanted_) return;
  // A round that is repeated without a lost node needs no leave.
  if (wanted_->task.round >= std::max(coasts_, *spent_)) return;
  WriteStill(wanted_->task);
  Report(std::nan(""));
}

bool GradientDesk::TakeSpent() {
  if (!retired_ || !(delivered_ || wanted_)) return false;
  if (spent_ && all_ == all_told_) return false;
  if (!spent_) spent_ = wanted_ ? wanted_->task.round : *delivered_;
  all_told_ = all_;
  CoastIfWanted();
  return true;
}

// Called without the lock: on_spent may be about to call the desk.
void GradientDesk::TellIfSpent() {
  Round gradients = 0;
  bool all = false;
  {
    MutexLock lock(mutex_);
    if (!TakeSpent()) return;
    gradients = *spent_;
    all = all_told_;
  }
  open_.on_spent(gradients, all);
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
