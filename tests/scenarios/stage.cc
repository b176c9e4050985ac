#include "tests/scenarios/stage.h"

#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace grapevine::testing {

Words::Words(std::string_view command)
    : words_(absl::StrSplit(std::string(command), ' ', absl::SkipEmpty())) {}

std::string Words::Take() { return empty() ? "" : words_[next_++]; }

bool Words::Skip(std::string_view word) {
  if (empty() || words_[next_] != word) return false;
  ++next_;
  return true;
}

std::string Words::Rest() {
  std::string rest =
      absl::StrJoin(words_.begin() + static_cast<ptrdiff_t>(next_), words_.end(), " ");
  next_ = words_.size();
  return rest;
}

void Words::Complain(const std::string& what, const std::string& word) {
  error_.Update(absl::InvalidArgumentError(absl::StrCat("\"", word, "\" is no ", what)));
}

int64_t Words::Number() {
  const std::string word = Take();
  int64_t number = 0;
  if (!absl::SimpleAtoi(word, &number)) Complain("number", word);
  return number;
}

std::vector<Rank> Words::Ranks(Rank n) {
  std::vector<Rank> ranks;
  if (Skip("all")) {
    for (Rank rank = 0; rank < n; ++rank) ranks.push_back(rank);
    return ranks;
  }
  Rank rank = 0;
  while (!empty() && absl::SimpleAtoi(words_[next_], &rank)) {
    if (rank < 0 || rank >= n) Complain("node", words_[next_]);
    ranks.push_back(rank);
    ++next_;
  }
  if (ranks.empty()) Complain("node", empty() ? "" : words_[next_]);
  return ranks;
}

std::chrono::nanoseconds Words::Time() {
  const std::string word = Take();
  double number = 0;
  if (!absl::SimpleAtod(word, &number)) Complain("time", word);
  double unit = 1e9;
  if (Skip("ms")) {
    unit = 1e6;
  } else if (!Skip("s")) {
    Complain("unit of time", Take());
  }
  return std::chrono::nanoseconds(std::llround(number * unit));
}

absl::Status UnknownCommand(const std::string& command) {
  return absl::InvalidArgumentError(absl::StrCat("no such command: ", command));
}

absl::StatusOr<std::unique_ptr<Stage>> MakeStage(const std::string& command) {
  Words words(command);
  if (words.Skip("cluster")) return MakeClusterStage(words);
  if (words.Skip("coordinator")) return MakeCoordinatorStage(words);
  if (words.Skip("run")) return MakeRunStage(words);
  return absl::InvalidArgumentError(
      absl::StrCat("a script begins with cluster, coordinator or run, not with: ", command));
}

}  // namespace grapevine::testing
