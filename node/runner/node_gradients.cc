#include "node/runner/node_gradients.h"

#include <glog/logging.h>

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/tensor/tensor_thread.h"
#include "kernels/vector/replica_layout.h"

namespace grapevine {

namespace {

using Clock = std::chrono::steady_clock;

// Long enough to cost nothing; every wait has a deadline all the same.
constexpr auto kIdleWait = std::chrono::seconds(1);

}  // namespace

GradientWorker::GradientWorker(Objective* objective, GradientPace pace, GradientReports reports,
                               CallOnceComputed once_computed, IsFinite is_finite)
    : objective_(objective),
      pace_(std::move(pace)),
      reports_(std::move(reports)),
      once_computed_(once_computed ? std::move(once_computed)
                                   : [](std::function<void()> computed) { computed(); }),
      is_finite_(is_finite ? std::move(is_finite) : [](const SharedVector&) { return true; }) {
  thread_ = std::thread([this] { Loop(); });
}

GradientWorker::~GradientWorker() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void GradientWorker::Compute(SharedVector at, SharedVector into, Round round,
                             std::vector<int64_t> cuts) {
  {
    MutexLock lock(mutex_);
    CHECK(!work_) << "two gradients at once";
    work_ = Work{std::move(at), std::move(into), round, std::move(cuts)};
  }
  changed_.NotifyAll();
}

bool GradientWorker::Next(Work* work) {
  MutexLock lock(mutex_);
  while (!work_ && !stopping_) changed_.WaitUntil(mutex_, Clock::now() + kIdleWait);
  if (stopping_) return false;
  *work = *std::exchange(work_, std::nullopt);
  return true;
}

void GradientWorker::Loop() {
  const TensorThread tensor_thread;
  Work work;
  while (Next(&work)) {
    const Clock::time_point begin = Clock::now();
    absl::StatusOr<double> loss = Compute(work);
    const bool finite = !loss.ok() || !work.cuts.empty() || is_finite_(work.into);
    if (pace_) Pace(work, begin);
    const Round round = work.round;
    // Nothing is left to wait for after an error; without cuts the objective has waited.
    const bool at_once = !loss.ok() || work.cuts.empty();
    work = {};  // the vectors are released before the runner hears of it
    // The captures of the report may outlive the worker.
    const auto norms = objective_->norms();
    const auto report = [done = reports_.done, result = GradientResult{round,
                                                                       std::move(loss),
                                                                       objective_->noise(),
                                                                       begin,
                                                                       Clock::now(),
                                                                       {norms.begin(), norms.end()},
                                                                       finite}] { done(result); };
    at_once ? report() : once_computed_(report);
  }
}

absl::StatusOr<double> GradientWorker::Compute(const Work& work) {
  const float* const at = work.at.data.get();
  float* const into = work.into.data.get();
  if (pace_ || work.cuts.empty()) return objective_->Gradient(at, work.round, into);
  auto next = work.cuts.begin();
  return objective_->GradientInParts(at, work.round, into, [&](int64_t from) {
    for (; next != work.cuts.end() && *next >= from; ++next) ReportPart({work.round, *next});
  });
}

void GradientWorker::ReportPart(const GradientReady& part) {
  once_computed_([report = reports_.part, part] { report(part); });
}

void GradientWorker::Pace(const Work& work, Clock::time_point begin) {
  const std::chrono::duration<double> total = pace_(work.round, Clock::now() - begin);
  for (const int64_t cut : work.cuts) {
    const double share = objective_->ReadyAt(cut, work.round);
    DelayUntil(begin + std::chrono::duration_cast<Clock::duration>(total * share));
    ReportPart({work.round, cut});
  }
  DelayUntil(begin + std::chrono::duration_cast<Clock::duration>(total));
}

void GradientWorker::DelayUntil(Clock::time_point deadline) {
  MutexLock lock(mutex_);
  while (!stopping_ && Clock::now() < deadline) changed_.WaitUntil(mutex_, deadline);
}

GradientLane::GradientLane(std::unique_ptr<GradientComputer> computer, DataPath* data_path,
                           const NodeExchange* exchange, TraceRecorder* trace)
    : computer_(std::move(computer)), data_path_(data_path), exchange_(exchange), trace_(trace) {}

void GradientLane::Ask(Vec at, Vec into, Round round, std::span<const int64_t> cuts) {
  CHECK(computer_ != nullptr) << "a node without an objective was asked for a gradient";
  CHECK(!asked_) << "a gradient of round " << round << " was asked for before that of "
                 << asked_->round << " began";
  asked_ = {.at = data_path_->vectors().At(at),
            .into = into,
            .round = round,
            .cuts = {cuts.begin(), cuts.end()},
            .after = exchange_->last_send()};
}

void GradientLane::Begin(bool model_held) {
  if (!asked_ || (model_held && !HeldBackFor().empty())) return;
  Request request = *std::exchange(asked_, std::nullopt);
  if (trace_ != nullptr) trace_->BeginGradient();
  data_path_->BeforeGradient(request.at, request.into);
  if (!data_path_->status().ok()) return;
  at_ = request.at;
  gradient_ = data_path_->vectors().At(request.into);
  computer_->Compute(std::move(request.at), gradient_, request.round, std::move(request.cuts));
}

void GradientLane::End() { at_ = gradient_ = {}; }

std::set<Rank> GradientLane::HeldBackFor() const {
  return asked_ ? exchange_->Leaving(asked_->after) : std::set<Rank>{};
}

std::string GradientLane::WhereNotFinite(const ReplicaLayout& layout) const {
  for (const auto& [memory, whose] :
       {std::pair(at_, "replica"), std::pair(gradient_, "gradient")}) {
    const absl::StatusOr<SharedVector> vector = data_path_->Read(memory);
    if (!vector.ok()) continue;
    const std::string tensor = FirstNonFinite(layout, vector->data.get());
    if (!tensor.empty()) return absl::StrCat(tensor, " of its ", whose);
  }
  return "";
}

}  // namespace grapevine
