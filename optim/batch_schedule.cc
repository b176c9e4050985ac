#include "optim/batch_schedule.h"

#include <glog/logging.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/spec.h"
#include "base/status.h"

namespace grapevine {

bool PlateauWatch::Improves(double loss) const {
  if (!std::isfinite(loss)) return false;
  return !lowest_ || loss < *lowest_ - rule_.threshold * std::abs(*lowest_);
}

bool PlateauWatch::OnLoss(double loss) {
  const bool unaffected = std::exchange(takes_effect_next_, false);
  if (Improves(loss)) {
    lowest_ = loss;
    without_progress_ = 0;
    return false;
  }
  if (unaffected || grown_ == rule_.most) return false;
  if (++without_progress_ < rule_.patience) return false;
  without_progress_ = 0;
  ++grown_;
  takes_effect_next_ = true;
  return true;
}

namespace {

// The largest growth; no data set divides into more first batches.
constexpr int64_t kLargestGrowth = int64_t{1} << 30;

constexpr char kKnown[] =
    "none, step[:at=50%+75%][:factor=2], "
    "plateau[:factor=2][:patience=2][:threshold=0.01][:most=3]";

// The largest patience; no run has more evaluations.
constexpr int64_t kMostPatience = 1'000'000;

// Returns `factor` to the power of `times`, or some number above kLargestGrowth if the power is
// above it.
int64_t Power(int64_t factor, int64_t times) {
  int64_t power = 1;
  for (; times > 0 && power <= kLargestGrowth; --times) power *= factor;
  return power;
}

}  // namespace

absl::StatusOr<BatchSchedule> BatchSchedule::Make(std::string_view text, const RunExtent& run) {
  ASSIGN_OR_RETURN(const Spec spec, ParseSpec(text));
  SpecReader reader(spec);
  BatchSchedule schedule;
  if (spec.name == "step") {
    RETURN_IF_ERROR(schedule.ReadSteps(spec, reader, run));
  } else if (spec.name == "plateau") {
    RETURN_IF_ERROR(schedule.ReadPlateaus(spec, reader));
  } else if (spec.name != "none") {
    return SpecError(text,
                     absl::StrCat("unknown batch schedule '", spec.name, "'; known: ", kKnown));
  } else {
    RETURN_IF_ERROR(reader.Finish());
  }
  return schedule;
}

absl::Status BatchSchedule::ReadSteps(const Spec& spec, SpecReader& reader, const RunExtent& run) {
  const std::string at = reader.Text("at", "50%+75%");
  const int64_t factor = reader.Integer("factor", 2, 2, kLargestGrowth);
  RETURN_IF_ERROR(reader.Finish());
  absl::StatusOr<std::vector<double>> positions = ParseRunPositions(at, run);
  if (!positions.ok()) {
    return SpecError(spec.text, absl::StrCat("at: ", std::string(positions.status().message())));
  }
  for (const double position : *positions) {
    if (stages_.back().growth > kLargestGrowth / factor) {
      return SpecError(spec.text,
                       "the batch grows without end; write fewer positions or a smaller "
                       "factor");
    }
    Add(position, factor);
  }
  return absl::OkStatus();
}

absl::Status BatchSchedule::ReadPlateaus(const Spec& spec, SpecReader& reader) {
  PlateauRule rule;
  rule.factor = reader.Integer("factor", rule.factor, 2, kLargestGrowth);
  rule.patience = reader.Integer("patience", rule.patience, 1, kMostPatience);
  rule.threshold = reader.Real("threshold", rule.threshold, 0, 1);
  rule.most = reader.Integer("most", rule.most, 1, kLargestGrowth);
  RETURN_IF_ERROR(reader.Finish());
  if (Power(rule.factor, rule.most) > kLargestGrowth) {
    return SpecError(spec.text,
                     "the batch grows without end; take a smaller factor, or a smaller most");
  }
  plateau_ = rule;
  return absl::OkStatus();
}

void BatchSchedule::Add(double position, int64_t factor) {
  const Stage last = stages_.back();
  // The batch grows at the nearest boundary between rounds.
  const double rounds =
      (position - static_cast<double>(last.before)) / static_cast<double>(last.growth);
  const int64_t passed = std::max<int64_t>(0, std::llround(rounds));
  GrowFrom(last.round + passed, last.growth * factor);
}

void BatchSchedule::GrowFrom(int64_t round, int64_t growth) {
  const Stage& last = stages_.back();
  CHECK(round >= last.round && growth >= last.growth)
      << "a batch of " << growth << " from round " << round << " on, after one of " << last.growth
      << " from round " << last.round << " on";
  if (growth == last.growth) return;
  stages_.push_back({.round = round, .before = Before(round), .growth = growth});
}

int64_t BatchSchedule::LargestGrowth() const {
  return plateau_ ? Power(plateau_->factor, plateau_->most) : stages_.back().growth;
}

const BatchSchedule::Stage& BatchSchedule::StageOf(int64_t round) const {
  const auto after = std::ranges::upper_bound(stages_, round, {}, &Stage::round);
  // If a run has no rounds, a round before the first stage is asked for.
  return after == stages_.begin() ? stages_.front() : *(after - 1);
}

int64_t BatchSchedule::Before(int64_t round) const {
  const Stage& stage = StageOf(round);
  return stage.before + (round - stage.round) * stage.growth;
}

int64_t BatchSchedule::RoundsFor(int64_t first_batches) const {
  // The last stage that begins before this number of first batches is seen.
  const auto after = std::ranges::lower_bound(stages_, first_batches, {}, &Stage::before);
  const Stage& stage = after == stages_.begin() ? stages_.front() : *(after - 1);
  return stage.round + (first_batches - stage.before + stage.growth - 1) / stage.growth;
}

}  // namespace grapevine
