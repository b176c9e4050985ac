#include "run/timing/compute_time.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/spec.h"
#include "base/status.h"
#include "base/units.h"
#include "random/keyed_random.h"
#include "random/portable_math.h"
#include "run/timing/compute_profile.h"

namespace grapevine {

namespace {

// A normal draw is no shorter than this fraction of its mean.
constexpr double kShortestNormal = 0.01;
// The largest sigma of a lognormal draw: wider ones are not gradient times any more.
constexpr double kWidestSigma = 5;

// Draws the nanoseconds of one gradient from a fresh stream of random numbers.
using Draw = std::function<double(KeyedRandom&)>;

class DrawnComputeTime final : public ComputeTime {
 public:
  DrawnComputeTime(uint64_t seed, Draw draw) : seed_(seed), draw_(std::move(draw)) {}

  int64_t Gradient(Rank rank, Round round) const override {
    KeyedRandom random(seed_, Purpose::kComputeTime, static_cast<uint64_t>(rank),
                       static_cast<uint64_t>(round));
    return ToGradientTime(draw_(random));
  }

 private:
  const uint64_t seed_;
  const Draw draw_;
};

// Draws a number that is uniform in (0, 1].
double PositiveUnit(KeyedRandom& random) { return 1 - random.Unit(); }

absl::StatusOr<int64_t> ParseTime(const Spec& spec, const std::string& text) {
  const absl::StatusOr<std::chrono::nanoseconds> time = ParseDuration(text);
  if (!time.ok()) return SpecError(spec.text, std::string(time.status().message()));
  if (time->count() > kLongestGradient) {
    return SpecError(spec.text,
                     absl::StrCat(text, " is longer than a gradient may take, ",
                                  FormatDuration(std::chrono::nanoseconds(kLongestGradient))));
  }
  return time->count();
}

// Reads the options of a spec and keeps the first error.
class Options {
 public:
  explicit Options(const Spec& spec) : spec_(spec), reader_(spec) {}

  // Reads a required time, positive, in nanoseconds.
  double Time(const char* key) {
    const std::string text = reader_.Text(key, "");
    if (text.empty())
      return Refuse(absl::StrCat("needs ", key, "=TIME, for example ", key, "=10ms"));
    const absl::StatusOr<int64_t> time = ParseTime(spec_, text);
    if (!time.ok()) {
      status_.Update(time.status());
      return 0;
    }
    if (*time == 0) return Refuse(absl::StrCat("option ", key, ": must be positive"));
    return static_cast<double>(*time);
  }

  // Reads a required number above `above`, at most `most`.
  double Number(const char* key, double above, double most) {
    constexpr double kAbsent = -1;
    const double value = reader_.Real(key, kAbsent, above, most);
    if (value == kAbsent) return Refuse(absl::StrCat("needs ", key, "=NUMBER"));
    if (value == above) {
      return Refuse(absl::StrCat("option ", key, ": must be more than ", above));
    }
    return value;
  }

  absl::Status Finish() {
    // Reports an unknown option first, since it explains a missing one.
    absl::Status status = reader_.Finish();
    status.Update(status_);
    return status;
  }

 private:
  double Refuse(const std::string& why) {
    status_.Update(SpecError(spec_.text, why));
    return 0;
  }

  const Spec& spec_;
  SpecReader reader_;
  absl::Status status_;
};

Draw Normal(Options& options) {
  const double mean = options.Time("mean");
  const double deviation = options.Time("sd");
  return [mean, deviation](KeyedRandom& random) {
    return std::max(mean + deviation * random.Normal(), kShortestNormal * mean);
  };
}

Draw Exponential(Options& options) {
  const double mean = options.Time("mean");
  return [mean](KeyedRandom& random) { return -mean * PortableLog(PositiveUnit(random)); };
}

Draw LogNormal(Options& options) {
  const double median = options.Time("median");
  const double sigma = options.Number("sigma", 0, kWidestSigma);
  return [median, sigma](KeyedRandom& random) {
    return median * PortableExp(sigma * random.Normal());
  };
}

// A Pareto distribution with alpha <= 1 has no mean, and a run would not end.
Draw Pareto(Options& options) {
  const double min = options.Time("min");
  const double alpha = options.Number("alpha", 1, 1e6);
  return [min, alpha](KeyedRandom& random) {
    return min * PortableExp(-PortableLog(PositiveUnit(random)) / alpha);
  };
}

// Inverts the distribution function that connects the quantiles by straight lines.
Draw Measured(const DeviceProfile& device) {
  return [times = std::vector<int64_t>(device.gradient_ns().begin(), device.gradient_ns().end())](
             KeyedRandom& random) {
    const double place = random.Unit() * static_cast<double>(times.size() - 1);
    const auto below = static_cast<size_t>(place);
    const auto low = static_cast<double>(times[below]);
    if (below + 1 == times.size()) return low;
    return low +
           (place - static_cast<double>(below)) * (static_cast<double>(times[below + 1]) - low);
  };
}

constexpr std::pair<const char*, Draw (*)(Options&)> kDistributions[] = {
    {"normal", Normal}, {"exponential", Exponential}, {"lognormal", LogNormal}, {"pareto", Pareto}};

absl::StatusOr<std::unique_ptr<const ComputeTime>> Make(const Spec& spec, uint64_t seed) {
  if (absl::ascii_isdigit(spec.name.front()) || spec.name.front() == '-') {
    ASSIGN_OR_RETURN(const int64_t time, ParseTime(spec, spec.name));
    RETURN_IF_ERROR(SpecReader(spec).Finish());
    return std::make_unique<FixedComputeTime>(time);
  }
  std::string known;
  for (const auto& [name, make] : kDistributions) {
    absl::StrAppend(&known, ", ", name, ":...");
    if (spec.name != name) continue;
    Options options(spec);
    Draw draw = make(options);
    RETURN_IF_ERROR(options.Finish());
    return std::make_unique<DrawnComputeTime>(seed, std::move(draw));
  }
  return SpecError(spec.text, absl::StrCat("must be a time such as 10ms", known,
                                           ", profile:FILE[:device=NAME]"));
}

class PassesComputeTime final : public ComputeTime {
 public:
  PassesComputeTime(std::unique_ptr<const ComputeTime> compute, PassesOf passes)
      : compute_(std::move(compute)), passes_(std::move(passes)) {}

  int64_t Gradient(Rank rank, Round round) const override {
    return compute_->Gradients(rank, passes_(round));
  }

 private:
  const std::unique_ptr<const ComputeTime> compute_;
  const PassesOf passes_;
};

}  // namespace

int64_t ComputeTime::Gradients(Rank rank, Passes passes) const {
  int64_t sum = 0;
  for (int64_t pass = 0; pass < passes.count && sum < kLongestGradient; ++pass) {
    sum += Gradient(rank, passes.first + pass);
  }
  return std::min(sum, kLongestGradient);
}

int64_t FixedComputeTime::Gradients(Rank, Passes passes) const {
  if (nanoseconds_ > kLongestGradient / passes.count) return kLongestGradient;
  return nanoseconds_ * passes.count;
}

int64_t ToGradientTime(double nanoseconds) {
  const double longest = static_cast<double>(kLongestGradient);
  if (!(nanoseconds < longest)) return kLongestGradient;
  return nanoseconds > 0 ? static_cast<int64_t>(nanoseconds + 0.5) : 0;
}

absl::StatusOr<std::unique_ptr<const ComputeTime>> MakeComputeTime(std::string_view text,
                                                                   uint64_t seed) {
  ASSIGN_OR_RETURN(const std::optional<DeviceProfile> device, ProfiledDevice(text));
  if (device) return std::make_unique<DrawnComputeTime>(seed, Measured(*device));
  const std::string flag = absl::StrCat("--compute=", std::string(text));
  absl::StatusOr<Spec> spec = ParseSpec(text);
  if (!spec.ok()) return SpecError("--compute", std::string(spec.status().message()));
  spec->text = flag;  // the text that errors quote
  return Make(*spec, seed);
}

std::unique_ptr<const ComputeTime> WithPasses(std::unique_ptr<const ComputeTime> compute,
                                              PassesOf passes) {
  return std::make_unique<PassesComputeTime>(std::move(compute), std::move(passes));
}

namespace {

constexpr double kMaxFactor = 1e6;

class StraggledComputeTime final : public ComputeTime {
 public:
  StraggledComputeTime(std::unique_ptr<const ComputeTime> compute, Stragglers stragglers)
      : compute_(std::move(compute)), stragglers_(std::move(stragglers)) {}

  int64_t Gradient(Rank rank, Round round) const override {
    return ToGradientTime(static_cast<double>(compute_->Gradient(rank, round)) *
                          stragglers_.Factor(rank, round));
  }

 private:
  const std::unique_ptr<const ComputeTime> compute_;
  const Stragglers stragglers_;
};

absl::Status NoSuchRank(std::string_view culprit, int64_t rank, Rank nodes) {
  return SpecError(culprit, absl::StrCat("there is no rank ", rank, " among ", nodes, " nodes"));
}

// Returns a seeded choice of `count` ranks.
std::vector<Rank> Choose(Rank count, Rank nodes, uint64_t seed) {
  std::vector<Rank> ranks(nodes);
  for (Rank rank = 0; rank < nodes; ++rank) ranks[rank] = rank;
  KeyedRandom(seed, Purpose::kStraggler).Shuffle(std::span<Rank>(ranks));
  ranks.resize(count);
  return ranks;
}

}  // namespace

absl::StatusOr<Stragglers> Stragglers::Make(std::string_view spec,
                                            std::span<const std::string> slow, Rank nodes,
                                            uint64_t seed) {
  Stragglers stragglers;
  stragglers.seed_ = seed;
  std::vector<bool> named(nodes);
  for (const std::string& text : slow) {
    RETURN_IF_ERROR(stragglers.AddSlow(text, nodes, &named));
  }
  RETURN_IF_ERROR(stragglers.AddSpec(spec, nodes, seed));
  return stragglers;
}

void Stragglers::MultiplyPermanent(Rank rank, double factor, Rank nodes) {
  if (permanent_.empty()) permanent_.assign(nodes, 1);
  permanent_[rank] *= factor;
}

absl::Status Stragglers::AddSlow(const std::string& text, Rank nodes, std::vector<bool>* named) {
  const std::string culprit = absl::StrCat("--slow=", text);
  const size_t colon = text.find(':');
  Rank rank = 0;
  double factor = 0;
  if (colon == std::string::npos || !absl::SimpleAtoi(text.substr(0, colon), &rank) ||
      !absl::SimpleAtod(text.substr(colon + 1), &factor)) {
    return SpecError(culprit, "must be RANK:FACTOR, for example 3:2.5");
  }
  if (rank < 0 || rank >= nodes) return NoSuchRank(culprit, rank, nodes);
  if (!(factor >= 1 && factor <= kMaxFactor)) {
    return SpecError(culprit,
                     absl::StrCat("the factor must be at least 1 and at most ", kMaxFactor));
  }
  if ((*named)[rank]) return SpecError(culprit, absl::StrCat("rank ", rank, " is named twice"));
  (*named)[rank] = true;
  MultiplyPermanent(rank, factor, nodes);
  return absl::OkStatus();
}

absl::Status Stragglers::AddSpec(std::string_view text, Rank nodes, uint64_t seed) {
  if (text == "none") return absl::OkStatus();
  const std::string culprit = absl::StrCat("--straggler=", std::string(text));
  // The value is parsed as the options of a spec whose name is left out.
  absl::StatusOr<Spec> spec = ParseSpec(absl::StrCat("straggler:", std::string(text)));
  if (!spec.ok()) return SpecError(culprit, std::string(spec.status().message()));
  spec->text = culprit;
  if (!spec->arguments.empty() ||
      spec->options.count("rank") + spec->options.count("fraction") + spec->options.count("p") !=
          1) {
    return SpecError(culprit, "must be none, rank=R:factor=F, fraction=Q:factor=F or p=P:factor=F");
  }
  constexpr int64_t kAbsent = -1;
  SpecReader reader(*spec);
  const int64_t rank = reader.Integer("rank", kAbsent);
  const double fraction = reader.Real("fraction", 0, 0, 1);
  const double probability = reader.Real("p", 0, 0, 1);
  const double factor = reader.Real("factor", kAbsent, 1, kMaxFactor);
  RETURN_IF_ERROR(reader.Finish());
  if (factor == kAbsent) {
    return SpecError(culprit, "needs factor=F: how many times as long gradients take");
  }
  if (spec->options.contains("rank")) {
    if (rank < 0 || rank >= nodes) return NoSuchRank(culprit, rank, nodes);
    MultiplyPermanent(static_cast<Rank>(rank), factor, nodes);
  } else if (fraction > 0) {
    const auto count = static_cast<Rank>(fraction * nodes + 0.5);
    for (Rank one : Choose(std::max<Rank>(count, 1), nodes, seed)) {
      MultiplyPermanent(one, factor, nodes);
    }
  } else {
    probability_ = probability;
    transient_ = factor;
  }
  return absl::OkStatus();
}

double Stragglers::Factor(Rank rank, Round round) const {
  double factor = permanent_.empty() ? 1 : permanent_[rank];
  if (probability_ > 0 && KeyedRandom(seed_, Purpose::kStraggler, static_cast<uint64_t>(rank) + 1,
                                      static_cast<uint64_t>(round))
                                  .Unit() < probability_) {
    factor *= transient_;
  }
  return factor;
}

std::unique_ptr<const ComputeTime> WithStragglers(std::unique_ptr<const ComputeTime> compute,
                                                  Stragglers stragglers) {
  if (stragglers.none()) return compute;
  return std::make_unique<StraggledComputeTime>(std::move(compute), std::move(stragglers));
}

}  // namespace grapevine
