#include "optim/batch_schedule.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/spec.h"
#include "base/status_macros.h"

namespace grapevine {
namespace {

// More than any data set divides into.
constexpr int64_t kLargestGrowth = int64_t{1} << 30;

}  // namespace

absl::StatusOr<BatchSchedule> BatchSchedule::Make(std::string_view text, const RunExtent& run) {
  ASSIGN_OR_RETURN(const Spec spec, ParseSpec(text));
  SpecReader reader(spec);
  BatchSchedule schedule;
  if (spec.name == "none") {
    RETURN_IF_ERROR(reader.Finish());
    return schedule;
  }
  if (spec.name != "step") {
    return SpecError(text, absl::StrCat("unknown batch schedule '", spec.name,
                                        "'; known: none, step[:at=50%+75%][:factor=2]"));
  }
  const std::string at = reader.Text("at", "50%+75%");
  const int64_t factor = reader.Integer("factor", 2, 2, kLargestGrowth);
  RETURN_IF_ERROR(reader.Finish());
  absl::StatusOr<std::vector<double>> positions = ParseRunPositions(at, run);
  if (!positions.ok()) {
    return SpecError(text, absl::StrCat("at: ", std::string(positions.status().message())));
  }
  for (const double position : *positions) {
    if (schedule.LargestGrowth() > kLargestGrowth / factor) {
      return SpecError(text,
                       "the batch grows without end; write fewer positions or a smaller "
                       "factor");
    }
    schedule.Add(position, factor);
  }
  return schedule;
}

void BatchSchedule::Add(double position, int64_t factor) {
  const Stage last = stages_.back();
  // The boundary between rounds that is nearest.
  const double rounds =
      (position - static_cast<double>(last.before)) / static_cast<double>(last.growth);
  const int64_t passed = std::max<int64_t>(0, std::llround(rounds));
  stages_.push_back({.round = last.round + passed,
                     .before = last.before + passed * last.growth,
                     .growth = last.growth * factor});
}

const BatchSchedule::Stage& BatchSchedule::StageOf(int64_t round) const {
  const auto after = std::ranges::upper_bound(stages_, round, {}, &Stage::round);
  // Rounds before the first are asked for where a run has none.
  return after == stages_.begin() ? stages_.front() : *(after - 1);
}

int64_t BatchSchedule::Before(int64_t round) const {
  const Stage& stage = StageOf(round);
  return stage.before + (round - stage.round) * stage.growth;
}

int64_t BatchSchedule::RoundsFor(int64_t first_batches) const {
  // The last stage that begins before so many are seen.
  const auto after = std::ranges::lower_bound(stages_, first_batches, {}, &Stage::before);
  const Stage& stage = after == stages_.begin() ? stages_.front() : *(after - 1);
  return stage.round + (first_batches - stage.before + stage.growth - 1) / stage.growth;
}

}  // namespace grapevine
