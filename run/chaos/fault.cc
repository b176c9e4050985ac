#include "run/chaos/fault.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "base/units.h"

namespace grapevine {
namespace {

using std::chrono::nanoseconds;

constexpr double kMaxFactor = 1e6;
// Sums of times fit in 64 bits.
constexpr nanoseconds kLongest = std::chrono::hours(24 * 365);

struct KindName {
  FaultKind kind;
  std::string_view name;
};

constexpr KindName kKinds[] = {
    {FaultKind::kKill, "kill"},           {FaultKind::kStop, "stop"},
    {FaultKind::kSlow, "slow"},           {FaultKind::kCut, "cut"},
    {FaultKind::kPartition, "partition"}, {FaultKind::kDrop, "drop"},
    {FaultKind::kCorrupt, "corrupt"},     {FaultKind::kDiskFull, "disk-full"}};

std::string_view NameOf(FaultKind kind) {
  return std::ranges::find(kKinds, kind, &KindName::kind)->name;
}

bool OnEdge(FaultKind kind) {
  return kind == FaultKind::kCut || kind == FaultKind::kDrop || kind == FaultKind::kCorrupt;
}

bool HappensOnce(FaultKind kind) {
  return kind == FaultKind::kKill || kind == FaultKind::kCorrupt || kind == FaultKind::kDiskFull;
}

// Reads one fault's options; the first error is kept.
class Reader {
 public:
  explicit Reader(const Spec& spec) : spec_(spec), reader_(spec) {}

  Rank OneRank() {
    const int64_t rank = reader_.Integer("rank", -1, 0, std::numeric_limits<Rank>::max());
    if (rank < 0) Refuse("needs rank=R, the node that it is about");
    return static_cast<Rank>(rank);
  }

  // "0+1" or "1-2".
  std::vector<Rank> Ranks(const char* key, char separator) {
    std::vector<Rank> ranks;
    const std::string text = reader_.Text(key, "");
    if (text.empty()) return ranks;
    for (const std::string& part : std::vector<std::string>(absl::StrSplit(text, separator))) {
      Rank rank = 0;
      if (!absl::SimpleAtoi(part, &rank) || rank < 0) {
        Refuse(absl::StrCat("option ", key, ": '", part, "' is no rank"));
      } else if (std::ranges::find(ranks, rank) != ranks.end()) {
        Refuse(absl::StrCat("option ", key, ": rank ", rank, " is named twice"));
      }
      ranks.push_back(rank);
    }
    return ranks;
  }

  std::vector<Rank> Edge(bool needed) {
    std::vector<Rank> ends = Ranks("edge", '-');
    if (ends.empty() ? needed : ends.size() != 2) Refuse("needs edge=A-B, two ranks");
    return ends;
  }

  double Number(const char* key, double least, double most) {
    const double value = reader_.Real(key, -1, least, most);
    if (value < 0) Refuse(absl::StrCat("needs ", key, "=NUMBER"));
    return value;
  }

  void Begin(bool needed, Fault* fault) {
    const std::string text = reader_.Text("at", "");
    if (text == "round") {
      Round round = -1;
      if (!absl::SimpleAtoi(reader_.Argument(), &round) || round < 0) {
        Refuse("option at: must be round:N, the rounds completed by then, or a time");
      }
      fault->round = round;
    } else if (!text.empty()) {
      fault->time = Time("at", text);
    } else if (needed) {
      Refuse("needs at=round:N or at=TIME, for example at=10s");
    }
  }

  nanoseconds Duration(bool needed) {
    const std::string text = reader_.Text("for", "");
    if (!text.empty()) return Time("for", text);
    if (needed) Refuse("needs for=TIME, for example for=5s");
    return Fault::kForever;
  }

  absl::Status Finish() {
    // An unknown option explains a missing one.
    absl::Status status = reader_.Finish();
    status.Update(status_);
    return status;
  }

 private:
  nanoseconds Time(const char* key, const std::string& text) {
    const absl::StatusOr<nanoseconds> time = ParseDuration(text);
    if (!time.ok()) {
      Refuse(absl::StrCat("option ", key, ": ", std::string(time.status().message())));
    } else if (*time > kLongest) {
      Refuse(absl::StrCat("option ", key, ": ", text, " is longer than any run"));
    } else {
      return *time;
    }
    return nanoseconds(0);
  }
  void Refuse(const std::string& why) { status_.Update(SpecError(spec_.text, why)); }

  const Spec& spec_;
  SpecReader reader_;
  absl::Status status_;
};

std::vector<Rank> ReadRanks(FaultKind kind, Reader& reader) {
  if (OnEdge(kind)) return reader.Edge(kind != FaultKind::kDrop);
  if (kind == FaultKind::kPartition) return reader.Ranks("ranks", '+');
  return {reader.OneRank()};
}

}  // namespace

bool IsFatal(FaultKind kind) { return HappensOnce(kind); }

bool Fault::IsBetween(Rank from, Rank to) const {
  const auto named = [this](Rank rank) { return std::ranges::find(ranks, rank) != ranks.end(); };
  switch (kind) {
    case FaultKind::kCut:
      return named(from) && named(to);
    case FaultKind::kDrop:
      return ranks.empty() || (named(from) && named(to));
    case FaultKind::kPartition:
      return named(from) != named(to);
    case FaultKind::kCorrupt:
      return from == ranks[0] && to == ranks[1];
    default:
      return false;
  }
}

bool Fault::IsOfProcess() const { return !OnEdge(kind) && kind != FaultKind::kPartition; }

absl::StatusOr<Fault> ParseFault(const Spec& spec) {
  const auto known = std::ranges::find(kKinds, spec.name, &KindName::name);
  if (known == std::end(kKinds)) {
    return SpecError(spec.text,
                     absl::StrCat("no such fault; there are ",
                                  absl::StrJoin(kKinds, ", ",
                                                [](std::string* out, const KindName& kind) {
                                                  absl::StrAppend(out, std::string(kind.name));
                                                }),
                                  ", random"));
  }
  Fault fault{.kind = known->kind, .ranks = {}, .round = {}};
  Reader reader(spec);
  fault.ranks = ReadRanks(fault.kind, reader);
  if (fault.kind == FaultKind::kSlow) fault.amount = reader.Number("factor", 1, kMaxFactor);
  if (fault.kind == FaultKind::kDrop) fault.amount = reader.Number("p", 0, 1);
  // What merely makes slow may hold from the beginning.
  reader.Begin(fault.kind != FaultKind::kSlow && fault.kind != FaultKind::kDrop, &fault);
  if (!HappensOnce(fault.kind)) fault.duration = reader.Duration(fault.kind == FaultKind::kStop);
  RETURN_IF_ERROR(reader.Finish());
  if (fault.kind == FaultKind::kPartition && fault.ranks.empty()) {
    return SpecError(spec.text, "needs ranks=A+B, one of the two sides");
  }
  if (fault.kind == FaultKind::kPartition) std::ranges::sort(fault.ranks);
  return fault;
}

std::string FaultText(const Fault& fault) {
  std::string text(NameOf(fault.kind));
  if (fault.kind == FaultKind::kSlow) absl::StrAppend(&text, ":factor=", fault.amount);
  if (fault.kind == FaultKind::kDrop) absl::StrAppend(&text, ":p=", fault.amount);
  if (OnEdge(fault.kind)) {
    if (!fault.ranks.empty()) absl::StrAppend(&text, ":edge=", absl::StrJoin(fault.ranks, "-"));
  } else if (fault.kind == FaultKind::kPartition) {
    absl::StrAppend(&text, ":ranks=", absl::StrJoin(fault.ranks, "+"));
  } else {
    absl::StrAppend(&text, ":rank=", fault.ranks[0]);
  }
  absl::StrAppend(&text, ":at=",
                  fault.round ? absl::StrCat("round:", *fault.round) : FormatDuration(fault.time));
  if (fault.duration != Fault::kForever) {
    absl::StrAppend(&text, ":for=", FormatDuration(fault.duration));
  }
  return text;
}

}  // namespace grapevine
