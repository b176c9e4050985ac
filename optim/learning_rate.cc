#include "optim/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/spec.h"
#include "base/status.h"

namespace grapevine {

namespace {

absl::Status PositionError(const Spec& spec, std::string_view key, const absl::Status& why) {
  return SpecError(spec.text, absl::StrCat(std::string(key), ": ", std::string(why.message())));
}

// Returns the rates of the warm-up, in rounds 0 to ramp - 1.
absl::StatusOr<Schedule> Ramp(const Spec& spec, const std::string& from, int64_t ramp,
                              const ScheduleOptions& options) {
  const auto rounds = static_cast<double>(ramp);
  const double end = options.rate;
  if (from == "zero" || (from.empty() && options.unscaled_rate.value_or(end) >= end)) {
    return [=](int64_t round) { return end * static_cast<double>(round + 1) / rounds; };
  }
  if (!options.unscaled_rate) {
    return SpecError(spec.text,
                     "from=base: needs --scale-lr, whose base rate it begins at; drop one of them");
  }
  const double begin = *options.unscaled_rate;
  return [=](int64_t round) { return begin + (end - begin) * static_cast<double>(round) / rounds; };
}

// Returns 0 at the end of the ramp and 1 at the end of the run.
double Progress(int64_t round, int64_t ramp, int64_t rounds) {
  if (rounds <= ramp) return 1;
  const double t = static_cast<double>(round - ramp) / static_cast<double>(rounds - ramp);
  return std::clamp(t, 0.0, 1.0);
}

absl::StatusOr<ScheduleShape> Constant(const Spec&, SpecReader&, int64_t, const ScheduleOptions&) {
  return [](int64_t) { return 1.0; };
}

absl::StatusOr<ScheduleShape> Steps(const Spec& spec, SpecReader& reader, int64_t,
                                    const ScheduleOptions& options) {
  const std::string at = reader.Text("at", "50%+75%");
  const double factor = reader.Real("factor", 0.1, 0);
  const absl::StatusOr<std::vector<double>> positions = ParseRunPositions(at, options.run);
  if (!positions.ok()) return PositionError(spec, "at", positions.status());
  return [positions = *positions, factor](int64_t round) {
    const auto passed = std::ranges::count_if(
        positions, [&](double position) { return round >= std::llround(position); });
    return std::pow(factor, static_cast<double>(passed));
  };
}

// `decline` must fall from 1 to 0 over [0, 1].
ScheduleShape Declining(int64_t ramp, int64_t rounds, double end,
                        std::function<double(double)> decline) {
  return [=, decline = std::move(decline)](int64_t round) {
    return end + (1 - end) * decline(Progress(round, ramp, rounds));
  };
}

double HalfCosine(double t) { return (1 + std::cos(std::numbers::pi * t)) / 2; }

absl::StatusOr<ScheduleShape> Cosine(const Spec&, SpecReader& reader, int64_t ramp,
                                     const ScheduleOptions& options) {
  return Declining(ramp, options.run.rounds, reader.Real("end", 0, 0, 1), HalfCosine);
}

absl::StatusOr<ScheduleShape> Poly(const Spec&, SpecReader& reader, int64_t ramp,
                                   const ScheduleOptions& options) {
  const double power = reader.Real("power", 1, 0);
  return Declining(ramp, options.run.rounds, reader.Real("end", 0, 0, 1),
                   [power](double t) { return std::pow(1 - t, power); });
}

const Registration kConstant(Schedules(), {.name = "constant",
                                           .help = "the base rate throughout",
                                           .make = Constant});
const Registration kSteps(Schedules(), {.name = "step",
                                        .options = "[:at=50%+75%][:factor=0.1]",
                                        .help = "multiplied by the factor at each position",
                                        .make = Steps});
const Registration kCosine(Schedules(), {.name = "cosine",
                                         .options = "[:end=0]",
                                         .help = "half a cosine down to that share of the rate",
                                         .make = Cosine});
const Registration kPoly(Schedules(),
                         {.name = "poly",
                          .options = "[:power=1][:end=0]",
                          .help = "a power of the share that is left of the run after its warm-up",
                          .make = Poly});

absl::Status Validate(std::string_view spec, const ScheduleOptions& options) {
  if (!(options.rate >= 0 && std::isfinite(options.rate))) {
    return SpecError(spec, absl::StrCat("the learning rate is ", options.rate,
                                        "; it must be 0 or a positive number"));
  }
  const RunExtent& run = options.run;
  if (!(run.rounds_per_epoch > 0 && std::isfinite(run.rounds_per_epoch)) || run.rounds < 0) {
    return SpecError(spec, absl::StrCat("a run of ", run.rounds, " rounds at ",
                                        run.rounds_per_epoch, " rounds an epoch is not a run"));
  }
  return absl::OkStatus();
}

}  // namespace

Registry<ScheduleKind>& Schedules() {
  static auto* const schedules = new Registry<ScheduleKind>("schedule");
  return *schedules;
}

absl::StatusOr<Schedule> MakeSchedule(std::string_view text, const ScheduleOptions& options) {
  RETURN_IF_ERROR(Validate(text, options));
  ASSIGN_OR_RETURN(const auto named, Schedules().Read(text));
  SpecReader reader(named.spec);
  const absl::StatusOr<double> warmup = ParseRunPosition(reader.Text("warmup", "0"), options.run);
  if (!warmup.ok()) return PositionError(named.spec, "warmup", warmup.status());
  const int64_t ramp = std::llround(*warmup);
  const std::string from = reader.Text("from", "");
  if (!from.empty() && from != "base" && from != "zero") {
    return SpecError(named.spec.text, absl::StrCat("from: '", from, "' is not base or zero"));
  }
  ASSIGN_OR_RETURN(Schedule warming, Ramp(named.spec, from, ramp, options));
  ASSIGN_OR_RETURN(ScheduleShape shape, named.kind->make(named.spec, reader, ramp, options));
  RETURN_IF_ERROR(reader.Finish());
  return [rate = options.rate, last = std::max<int64_t>(options.run.rounds - 1, 0), ramp,
          warming = std::move(warming), shape = std::move(shape)](int64_t round) {
    round = std::clamp<int64_t>(round, 0, last);
    return round < ramp ? warming(round) : rate * shape(round);
  };
}

absl::StatusOr<std::optional<RateScaling>> ScaleRate(std::string_view text, int64_t global_batch) {
  ASSIGN_OR_RETURN(const Spec spec, ParseSpec(text));
  SpecReader reader(spec);
  if (spec.name == "none") {
    RETURN_IF_ERROR(reader.Finish());
    return std::nullopt;
  }
  if (spec.name != "linear" && spec.name != "sqrt") {
    return SpecError(text, absl::StrCat("unknown scaling '", spec.name,
                                        "'; known: linear[:base=256], none, sqrt[:base=256]"));
  }
  RateScaling scaling{.base = reader.Real("base", 256, 1)};
  RETURN_IF_ERROR(reader.Finish());
  const double batches = static_cast<double>(global_batch) / scaling.base;
  scaling.factor = spec.name == "linear" ? batches : std::sqrt(batches);
  return scaling;
}

}  // namespace grapevine
