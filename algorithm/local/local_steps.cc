#include "algorithm/local/local_steps.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace grapevine {
namespace {

// An exchange that is due this many rounds after the end of a round, or less, takes place at that
// end: the rounds of an epoch are a quotient, and may be off by as much.
constexpr double kRounding = 1e-9;

}  // namespace

Round LocalSteps::RoundOf(int64_t index) const {
  return static_cast<Round>(std::ceil(static_cast<double>(index + 1) * interval_ - kRounding)) - 1;
}

int64_t LocalSteps::Before(Round round) const {
  auto index = static_cast<int64_t>(static_cast<double>(round) / interval_);
  while (index > 0 && RoundOf(index - 1) >= round) --index;
  while (RoundOf(index) < round) ++index;
  return index;
}

double LocalSteps::PerRound(Round rounds) const {
  return rounds > 0 ? static_cast<double>(Before(rounds)) / static_cast<double>(rounds)
                    : 1 / interval_;
}

absl::StatusOr<LocalSteps> ReadLocalSteps(const Spec& spec, SpecReader& reader,
                                          const std::string& key, int64_t fallback,
                                          const RunLength& length) {
  const std::string text = reader.Text(key, absl::StrCat(fallback));
  const auto refuse = [&](const std::string& why) {
    return SpecError(spec.text, absl::StrCat("option ", key, ": ", why));
  };
  if (text == "once") {
    if (length.rounds > 0) return LocalSteps(static_cast<double>(length.rounds));
    return refuse("once means at the end of the run, and this one has no rounds");
  }
  if (text == "epoch") {
    // If a round is longer than an epoch, every round has one exchange.
    if (length.rounds_per_epoch > 0) return LocalSteps(std::max(1.0, length.rounds_per_epoch));
    return refuse(absl::StrCat("without a data set there are no epochs; take ", key, "=", fallback,
                               " or another number of rounds"));
  }
  int64_t every = 0;
  if (!absl::SimpleAtoi(text, &every) || every < 1) {
    return refuse(absl::StrCat("'", text, "' is neither a number of rounds from 1 on, nor epoch, ",
                               "nor once"));
  }
  if (length.rounds > 0 && every > length.rounds) {
    return refuse(absl::StrCat("the run ends after ", length.rounds, " rounds, before its nodes ",
                               "would exchange; take ", key, "=", length.rounds, " or less"));
  }
  return LocalSteps(static_cast<double>(every));
}

}  // namespace grapevine
