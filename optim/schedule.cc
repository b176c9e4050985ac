#include "optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "topology/spec.h"

namespace grapevine {
namespace {

// What multiplies the base rate in a round after the ramp.
using Shape = std::function<double(int64_t)>;

// "5" epochs or "10%" of the run, in rounds; nullopt when it is neither.
std::optional<int64_t> ParsePosition(std::string text, const ScheduleOptions& options) {
  const bool share = absl::EndsWith(text, "%");
  if (share) text.pop_back();
  double value = 0;
  if (!absl::SimpleAtod(text, &value) || !std::isfinite(value) || value < 0) return std::nullopt;
  const double rounds =
      share ? value / 100 * static_cast<double>(options.rounds) : value * options.rounds_per_epoch;
  if (rounds > 1e18) return std::nullopt;
  return std::llround(rounds);
}

absl::Status PositionError(const Spec& spec, std::string_view key, std::string_view text) {
  return SpecError(
      spec.text, absl::StrCat(std::string(key), ": '", std::string(text),
                              "' is not a position; write epochs (5) or a share of the run (10%)"));
}

// 0 at the end of the ramp, 1 at the end of the run.
double Progress(int64_t round, int64_t ramp, int64_t rounds) {
  if (rounds <= ramp) return 1;
  const double t = static_cast<double>(round - ramp) / static_cast<double>(rounds - ramp);
  return std::clamp(t, 0.0, 1.0);
}

absl::StatusOr<Shape> StepShape(const Spec& spec, const std::string& at, double factor,
                                const ScheduleOptions& options) {
  std::vector<int64_t> positions;
  const std::vector<std::string> texts = absl::StrSplit(at, '+');
  for (const std::string& position : texts) {
    const std::optional<int64_t> round = ParsePosition(position, options);
    if (!round) return PositionError(spec, "at", position);
    positions.push_back(*round);
  }
  return [positions, factor](int64_t round) {
    const auto passed = std::count_if(positions.begin(), positions.end(),
                                      [&](int64_t position) { return round >= position; });
    return std::pow(factor, static_cast<double>(passed));
  };
}

// `decline` falls from 1 to 0 over [0, 1].
Shape DecliningShape(int64_t ramp, int64_t rounds, double end,
                     std::function<double(double)> decline) {
  return [=, decline = std::move(decline)](int64_t round) {
    return end + (1 - end) * decline(Progress(round, ramp, rounds));
  };
}

double HalfCosine(double t) { return (1 + std::cos(std::numbers::pi * t)) / 2; }

absl::StatusOr<Shape> MakeShape(const Spec& spec, SpecReader& reader, int64_t ramp,
                                const ScheduleOptions& options) {
  if (spec.name == "constant") return [](int64_t) { return 1.0; };
  if (spec.name == "step") {
    const std::string at = reader.Text("at", "50%+75%");
    return StepShape(spec, at, reader.Real("factor", 0.1, 0), options);
  }
  if (spec.name == "cosine") {
    return DecliningShape(ramp, options.rounds, reader.Real("end", 0, 0, 1), HalfCosine);
  }
  if (spec.name == "poly") {
    const double power = reader.Real("power", 1, 0);
    return DecliningShape(ramp, options.rounds, reader.Real("end", 0, 0, 1),
                          [power](double t) { return std::pow(1 - t, power); });
  }
  return SpecError(spec.text, "unknown schedule; known: constant, step, cosine, poly");
}

absl::Status Validate(std::string_view spec, const ScheduleOptions& options) {
  if (!(options.base_rate >= 0 && std::isfinite(options.base_rate))) {
    return SpecError(spec, absl::StrCat("the learning rate is ", options.base_rate,
                                        "; it must be 0 or a positive number"));
  }
  if (!(options.rounds_per_epoch > 0 && std::isfinite(options.rounds_per_epoch)) ||
      options.rounds < 0) {
    return SpecError(spec, absl::StrCat("a run of ", options.rounds, " rounds at ",
                                        options.rounds_per_epoch, " rounds an epoch is no run"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Schedule> MakeSchedule(std::string_view text, const ScheduleOptions& options) {
  if (absl::Status status = Validate(text, options); !status.ok()) return status;
  const absl::StatusOr<Spec> spec = ParseSpec(text);
  if (!spec.ok()) return spec.status();
  SpecReader reader(*spec);
  const std::string warmup = reader.Text("warmup", "0");
  const std::optional<int64_t> ramp = ParsePosition(warmup, options);
  if (!ramp) return PositionError(*spec, "warmup", warmup);
  absl::StatusOr<Shape> shape = MakeShape(*spec, reader, *ramp, options);
  if (!shape.ok()) return shape.status();
  if (absl::Status status = reader.Finish(); !status.ok()) return status;
  return [base = options.base_rate, last = std::max<int64_t>(options.rounds - 1, 0), ramp = *ramp,
          shape = *std::move(shape)](int64_t round) {
    round = std::clamp<int64_t>(round, 0, last);
    if (round < ramp) return base * static_cast<double>(round + 1) / static_cast<double>(ramp);
    return base * shape(round);
  };
}

}  // namespace grapevine
