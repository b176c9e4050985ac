#include "run/timing/straggler.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/spec.h"
#include "base/status_macros.h"
#include "random/keyed_random.h"

namespace grapevine {
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

// A seeded choice of `count` ranks.
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
  // Parsed as the options of a spec whose name is left out.
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
