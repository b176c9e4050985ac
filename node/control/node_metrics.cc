#include "node/control/node_metrics.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <ranges>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/gradient.h"
#include "base/status.h"
#include "base/units.h"
#include "glog/logging.h"

namespace grapevine {

namespace {

void AddEarlierWait(const control::PeerWait& earlier, control::NodeMetrics* report) {
  auto& waits = *report->mutable_waits();
  const auto found = std::ranges::find(waits, earlier.peer(), &control::PeerWait::peer);
  control::PeerWait* const sum = found == waits.end() ? waits.Add() : &*found;
  sum->set_peer(earlier.peer());
  sum->set_time_ns(sum->time_ns() + earlier.time_ns());
}

}  // namespace

void AddEarlier(const control::NodeMetrics& earlier, control::NodeMetrics* report) {
  report->set_samples(report->samples() + earlier.samples());
  if (earlier.has_steps()) {
    control::StepSums& sum = *report->mutable_steps();
    sum.set_count(sum.count() + earlier.steps().count());
    sum.set_time_s(sum.time_s() + earlier.steps().time_s());
    sum.set_gradient_s(sum.gradient_s() + earlier.steps().gradient_s());
    sum.set_mix_s(sum.mix_s() + earlier.steps().mix_s());
    sum.set_wait_s(sum.wait_s() + earlier.steps().wait_s());
  }
  for (const control::PeerWait& wait : earlier.waits()) AddEarlierWait(wait, report);
  if (earlier.has_noise()) {
    control::GradientNoise& sum = *report->mutable_noise();
    sum.set_variance(sum.variance() + earlier.noise().variance());
    sum.set_square(sum.square() + earlier.noise().square());
    sum.set_gradients(sum.gradients() + earlier.noise().gradients());
  }
  if (!earlier.has_train_loss_sum()) return;
  report->set_train_loss_sum(report->train_loss_sum() + earlier.train_loss_sum());
}

void MetricsReporter::Report(control::NodeMetrics metrics) {
  if (kept_) AddEarlier(*kept_, &metrics);
  kept_ = std::move(metrics);
  const absl::Status status = SendKept(Time::min());
  if (!status.ok()) VLOG(1) << "a measurement is kept: " << status.message();
}

absl::Status MetricsReporter::Tell(control::Report last, Time deadline) {
  absl::Status status = SendKept(deadline);
  if (status.ok()) status = send_(deadline, std::move(last));
  if (!absl::IsResourceExhausted(status)) return status;
  return WithFailure(absl::ResourceExhaustedError(absl::StrCat(
                         "the last measurements cannot be sent: ", std::string(status.message()),
                         " (--peer-timeout is how long that may last)")),
                     Failure::kPeerLost);
}

absl::Status MetricsReporter::SendKept(Time deadline) {
  if (!kept_) return absl::OkStatus();
  control::Report report;
  *report.mutable_metrics() = *kept_;
  absl::Status status = send_(deadline, std::move(report));
  if (status.ok()) kept_.reset();
  return status;
}

namespace {

using Reports = std::map<Rank, control::NodeMetrics>;

// Returns (1/n) sum_i |s_i - mean s|^2 over the workers: for sketches, an unbiased estimate of the
// same distance of the replicas. Distances are relative to the first sketch, so that equal replicas
// are at distance 0 to the bit. Absent unless all sketches have the same, positive size.
std::optional<double> MeanSquaredDistance(const Reports& reports, Rank workers) {
  const control::NodeMetrics& first = reports.begin()->second;
  const int size = first.sketch_size();
  if (size == 0) return std::nullopt;
  const auto servers = reports.lower_bound(workers);
  const auto counted = static_cast<double>(std::distance(reports.begin(), servers));
  std::vector<double> mean(size);
  for (auto it = reports.begin(); it != servers; ++it) {
    const control::NodeMetrics& report = it->second;
    if (report.sketch_size() != size) return std::nullopt;
    for (int i = 0; i < size; ++i) mean[i] += (report.sketch(i) - first.sketch(i)) / counted;
  }
  double sum = 0;
  for (auto it = reports.begin(); it != servers; ++it) {
    const control::NodeMetrics& report = it->second;
    for (int i = 0; i < size; ++i) {
      const double distance = report.sketch(i) - first.sketch(i) - mean[i];
      sum += distance * distance;
    }
  }
  return sum / counted;
}

// Returns when the last node had completed the round.
double LatestTime(const Reports& reports) {
  double time_s = 0;
  for (const auto& [rank, report] : reports) time_s = std::max(time_s, report.time_s());
  return time_s;
}

// The largest number of gradients, far above that of any run; sums over all nodes remain numbers.
constexpr int64_t kMaxCount = int64_t{1} << 40;

bool CanBe(int64_t count) { return count >= 0 && count <= kMaxCount; }
bool CanBe(double value) { return value >= 0 && value <= static_cast<double>(kMaxCount); }

// Returns the sum, or the largest number: nodes may all report more than is possible.
int64_t SumOfBytes(int64_t all, int64_t one) {
  return std::min(all, std::numeric_limits<int64_t>::max() - one) + one;
}

// The largest noise. Squares of floats, summed over any batch and run, are far below it, and sums
// of it are finite.
constexpr double kMostNoise = 1e200;

absl::Status CheckNoise(Rank rank, const control::NodeMetrics& report, bool measures_noise) {
  if (!report.has_noise()) return absl::OkStatus();
  if (!measures_noise) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank ", rank, " reported a noise that the run does not measure"));
  }
  const control::GradientNoise& noise = report.noise();
  // Each gradient with a noise has at least two batches.
  if (noise.gradients() >= 0 && noise.gradients() <= report.samples() / 2 &&
      std::abs(noise.variance()) <= kMostNoise && std::abs(noise.square()) <= kMostNoise) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("rank ", rank, " reported a noise that cannot be: ", noise.ShortDebugString(),
                   ", of ", report.samples(), " samples"));
}

GradientNoise NoiseIn(const control::NodeMetrics& report) {
  const control::GradientNoise& noise = report.noise();
  return {noise.variance(), noise.square(), noise.gradients()};
}

bool CanBe(const StepSums& steps) {
  return CanBe(steps.count) && CanBe(steps.time_s) && CanBe(steps.gradient_s) &&
         CanBe(steps.mix_s) && CanBe(steps.wait_s);
}

// Adds the steps of a report to the sums of the rank.
absl::Status AddStepsOf(Rank rank, const control::StepSums& report, StepSums* sums) {
  const StepSums steps{.count = report.count(),
                       .time_s = report.time_s(),
                       .gradient_s = report.gradient_s(),
                       .mix_s = report.mix_s(),
                       .wait_s = report.wait_s()};
  if (CanBe(steps) && CanBe(*sums += steps)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("rank ", rank, " reported steps that cannot be: ", report.ShortDebugString()));
}

// Adds the waits of a report to the sums of the rank, in a run of `nodes` nodes.
absl::Status AddWaitsOf(Rank rank, const control::NodeMetrics& report, Rank nodes,
                        AwaitedPeers* sums) {
  std::set<Rank> peers;
  for (const control::PeerWait& wait : report.waits()) {
    const Rank peer = wait.peer();
    if (peer < 0 || peer >= nodes || peer == rank || !peers.insert(peer).second ||
        wait.time_ns() < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "rank ", rank, " reported a wait that cannot be: ", wait.ShortDebugString()));
    }
  }
  for (const control::PeerWait& wait : report.waits()) {
    sums->Add(wait.peer(), std::chrono::nanoseconds(wait.time_ns()));
  }
  return absl::OkStatus();
}

absl::StatusOr<NodeTotals> TotalsOf(Rank rank, const control::NodeTotals& report) {
  if (!CanBe(report.gradients()) || !CanBe(report.computing_s()) || !CanBe(report.time_s()) ||
      !CanBe(report.applied()) || !CanBe(report.staleness_mean()) ||
      !CanBe(report.staleness_max())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "rank ", rank, " reported totals that cannot be: ", report.ShortDebugString()));
  }
  return NodeTotals{.gradients = report.gradients(),
                    .gradient_s = report.computing_s(),
                    .time_s = report.time_s(),
                    .applied = report.applied(),
                    .staleness_mean = report.staleness_mean(),
                    .staleness_max = report.staleness_max()};
}

}  // namespace

void MetricsCollector::GoOnFrom(Round round, std::span<const RunMetrics> measured, double time_s,
                                int64_t lost_bytes) {
  MutexLock lock(mutex_);
  emitted_ = round;
  lost_bytes_ = lost_bytes;
  meter_.Resume(measured, time_s);
}

void MetricsCollector::TakeOver(std::span<const RunMetrics> measured,
                                std::map<Rank, int64_t> bytes_sent, int64_t lost_bytes) {
  const Round round = measured.empty() ? 0 : measured.back().round;
  GoOnFrom(round, measured, measured.empty() ? 0 : measured.back().time_s, lost_bytes);
  MutexLock lock(mutex_);
  taken_over_at_ = round;
  bytes_sent_ = std::move(bytes_sent);
}

void MetricsCollector::NoEvaluationsBefore(Round round) {
  MutexLock lock(mutex_);
  evaluated_from_ = std::max(evaluated_from_, round);
  EmitComplete();
}

bool MetricsCollector::AwaitsEvaluation(Round round, const Open& open) const {
  return options_.evaluated(round) && !open.evaluation && !open.unevaluated &&
         round >= evaluated_from_;
}

absl::Status MetricsCollector::OnNode(Rank rank, const control::NodeMetrics& report) {
  MutexLock lock(mutex_);
  if (report.has_test_accuracy()) {  // an evaluation alone
    local_accuracy_[rank] = report.test_accuracy();
    return absl::OkStatus();
  }
  if (report.has_totals()) {
    ASSIGN_OR_RETURN(totals_[rank], TotalsOf(rank, report.totals()));
    return absl::OkStatus();
  }
  if (report.round() <= taken_over_at_) return absl::OkStatus();  // measured by another
  if (rank < options_.workers && report.samples() < (options_.has_rounds ? 1 : 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank ", rank, " reported round ", report.round(), " without any samples"));
  }
  if (!CanBe(report.samples())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "rank ", rank, " reported round ", report.round(), " with ", report.samples(), " samples"));
  }
  RETURN_IF_ERROR(CheckNoise(rank, report, options_.measures_noise));
  if (!CanBeCounted(report.bytes_sent()) || !CanBeCounted(report.bytes_received())) {
    return absl::InvalidArgumentError(absl::StrCat("rank ", rank, " reported ", report.bytes_sent(),
                                                   " bytes sent and ", report.bytes_received(),
                                                   " received"));
  }
  const Round last = last_.Of(rank);
  if (last_.contains(rank) && report.round() == last) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank ", rank, " reported round ", report.round(), " twice"));
  }
  if (report.round() <= emitted_ || report.round() < last) {
    return absl::InvalidArgumentError(absl::StrCat("rank ", rank, " reported round ",
                                                   report.round(), " after round ",
                                                   std::max(emitted_, last)));
  }
  if (open_.size() >= kMaxOpen && !open_.contains(report.round())) {
    RETURN_IF_ERROR(MakeRoom());
  }
  if (report.has_steps()) RETURN_IF_ERROR(AddStepsOf(rank, report.steps(), &steps_[rank]));
  RETURN_IF_ERROR(AddWaitsOf(rank, report, options_.size, &waits_[rank]));
  last_.Set(rank, report.round());
  NoteCount(rank, report.bytes_sent());
  control::NodeMetrics& kept = open_[report.round()].reports[rank];
  kept = report;
  kept.clear_steps();  // they are counted already
  kept.clear_waits();
  if (const auto carried = carried_.extract(rank)) AddEarlier(carried.mapped(), &kept);
  EmitComplete();
  return absl::OkStatus();
}

void MetricsCollector::OnEvaluation(const EvaluationRecord& evaluation) {
  MutexLock lock(mutex_);
  if (evaluation.round <= emitted_) return;  // another one, of the remaining nodes
  open_[evaluation.round].evaluation = evaluation;
  EmitComplete();
}

void MetricsCollector::OnNoEvaluation(Round round) {
  MutexLock lock(mutex_);
  if (round <= emitted_) return;
  open_[round].unevaluated = true;
  EmitComplete();
}

void MetricsCollector::Lose(Rank rank) {
  MutexLock lock(mutex_);
  if (!lost_.insert(rank).second) return;
  const auto newcomer = newcomers_.extract(rank);
  const bool counted = newcomer && !newcomer.mapped().reported;
  if (!counted) lost_bytes_ = SumOfBytes(lost_bytes_, bytes_sent_[rank]);
  last_.Erase(rank);
  carried_.erase(rank);
  local_accuracy_.erase(rank);
  for (auto& [round, open] : open_) open.reports.erase(rank);
  EmitComplete();
}

void MetricsCollector::TakeIn(Rank rank, Round from) {
  MutexLock lock(mutex_);
  if (lost_.erase(rank) == 0) return;
  newcomers_[rank] = {.from = from, .bytes_before = bytes_sent_[rank]};
  last_.Set(rank, from);
}

void MetricsCollector::NoteCount(Rank rank, int64_t bytes_sent) {
  const auto newcomer = newcomers_.find(rank);
  if (newcomer != newcomers_.end() && !std::exchange(newcomer->second.reported, true)) {
    newcomer->second.counts_on = bytes_sent >= newcomer->second.bytes_before;
    if (newcomer->second.counts_on) lost_bytes_ -= newcomer->second.bytes_before;
  }
  bytes_sent_[rank] = bytes_sent;
}

int64_t MetricsCollector::BytesOfOthers(Round round) const {
  int64_t bytes = lost_bytes_;
  for (const auto& [rank, newcomer] : newcomers_) {
    if (newcomer.counts_on && newcomer.from >= round) {
      bytes = SumOfBytes(bytes, newcomer.bytes_before);
    }
  }
  return bytes;
}

Rank MetricsCollector::NodesIn(Round round) const {
  return Living() - static_cast<Rank>(std::ranges::count_if(newcomers_, [round](const auto& entry) {
           return entry.second.from >= round;
         }));
}

bool MetricsCollector::Passed(Round round) const {
  return last_.size() == Living() && last_.AllAtLeast(round);
}

absl::Status MetricsCollector::MakeRoom() {
  for (auto entry = open_.begin(); entry != open_.end(); ++entry) {
    if (options_.evaluated(entry->first) || !AllReported(entry->first, entry->second)) continue;
    const Open joined = std::move(entry->second);
    const Round round = entry->first;
    open_.erase(entry);
    JoinToNextAfter(round, joined);
    return absl::OkStatus();
  }
  Rank silent = 0;
  for (Rank rank = 1; rank < options_.size; ++rank) {
    if (!lost_.contains(rank) && last_.Of(rank) < last_.Of(silent)) silent = rank;
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("rank ", silent, " has reported nothing after round ", last_.Of(silent),
                   ", and others are ", open_.size(), " measurements ahead of it"));
}

void MetricsCollector::JoinToNextAfter(Round round, const Open& open) {
  for (const auto& [rank, report] : open.reports) {
    auto next = open_.upper_bound(round);
    while (next != open_.end() && !next->second.reports.contains(rank)) ++next;
    AddEarlier(report, next == open_.end() ? &carried_[rank] : &next->second.reports.at(rank));
  }
}

void MetricsCollector::Emit(const RunMetrics& metrics) {
  emitted_ = metrics.round;
  emit_(metrics);
}

void MetricsCollector::EmitComplete() {
  while (!open_.empty() && Passed(open_.begin()->first)) {
    const auto& [round, front] = *open_.begin();
    if (AwaitsEvaluation(round, front)) return;
    const auto node = open_.extract(open_.begin());
    const Open& open = node.mapped();
    if (AllReported(node.key(), open)) {
      Emit(Join(node.key(), open));
      continue;
    }
    JoinToNextAfter(node.key(), open);
    if (open.evaluation) Emit(EvaluationAlone(node.key(), open));
  }
}

// Returns the measurement of a round of which a report is missing.
RunMetrics MetricsCollector::EvaluationAlone(Round round, const Open& open) {
  return meter_.MeasureModel(options_.at(round), LatestTime(open.reports), *open.evaluation);
}

void MetricsCollector::NoteServerLinks(const Open& open) {
  if (options_.workers == options_.size) return;
  ServerLinks& links = server_links_.emplace();
  for (auto it = open.reports.lower_bound(options_.workers); it != open.reports.end(); ++it) {
    links.bytes_sent.push_back(it->second.bytes_sent());
    links.bytes_received.push_back(it->second.bytes_received());
  }
}

RunMetrics MetricsCollector::Join(Round round, const Open& open) {
  NoteServerLinks(open);
  RunWork work{.time_s = LatestTime(open.reports),
               .bytes_sent = BytesOfOthers(round),
               .consensus_distance = MeanSquaredDistance(open.reports, options_.workers)};
  for (const auto& [rank, report] : open.reports) {
    work.bytes_sent = SumOfBytes(work.bytes_sent, report.bytes_sent());
    if (rank >= options_.workers) continue;
    if (report.has_train_loss_sum()) {
      work.loss_sum = work.loss_sum.value_or(0) + report.train_loss_sum();
      work.losses += report.samples();  // a report's sum is over samples
    }
    work.samples += report.samples();
    work.noise += NoiseIn(report);
  }
  const Rank nodes = NodesIn(round);
  if (nodes < options_.size || options_.changed) work.living = nodes;
  return meter_.Measure(options_.at(round), work, open.evaluation);
}

int64_t MetricsCollector::lost_bytes() const {
  MutexLock lock(mutex_);
  return lost_bytes_;
}

std::set<Rank> MetricsCollector::lost() const {
  MutexLock lock(mutex_);
  return lost_;
}

Rank MetricsCollector::living() const {
  MutexLock lock(mutex_);
  return Living();
}

RunMetrics MetricsCollector::latest() const {
  MutexLock lock(mutex_);
  return meter_.latest();
}

std::optional<ServerLinks> MetricsCollector::server_links() const {
  MutexLock lock(mutex_);
  return server_links_;
}

std::map<int64_t, StepSums> MetricsCollector::steps() const {
  MutexLock lock(mutex_);
  return steps_;
}

std::map<int64_t, AwaitedPeers> MetricsCollector::waits() const {
  MutexLock lock(mutex_);
  return waits_;
}

std::vector<NodeTotals> MetricsCollector::totals() const {
  MutexLock lock(mutex_);
  if (static_cast<Rank>(totals_.size()) != options_.size) return {};
  std::vector<NodeTotals> totals;
  for (const auto& [rank, node] : totals_) totals.push_back(node);
  return totals;
}

std::optional<Spread> MetricsCollector::local_test_accuracy() const {
  MutexLock lock(mutex_);
  const auto lost = static_cast<Rank>(lost_.size());
  if (static_cast<Rank>(local_accuracy_.size()) + lost != options_.workers) return std::nullopt;
  std::vector<double> accuracies;
  for (const auto& [rank, accuracy] : local_accuracy_) accuracies.push_back(accuracy);
  return SpreadOf(accuracies);
}

}  // namespace grapevine
