#include "run/chaos/fault_schedule.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/spec.h"
#include "base/status.h"
#include "base/units.h"
#include "random/keyed_random.h"
#include "system/file.h"

namespace grapevine {

namespace {

using std::chrono::nanoseconds;

constexpr double kMaxFactor = 1e6;
// The longest time of a fault: sums of times fit in 64 bits.
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

// Reads the options of one fault and keeps the first error.
class Reader {
 public:
  explicit Reader(const Spec& spec) : spec_(spec), reader_(spec) {}

  Rank OneRank() {
    const int64_t rank = reader_.Integer("rank", -1, 0, std::numeric_limits<Rank>::max());
    if (rank < 0) Refuse("needs rank=R, the node that it is about");
    return static_cast<Rank>(rank);
  }

  // Reads a list of ranks: "0+1" or "1-2".
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
    const nanoseconds duration = Optional("for");
    if (duration != Fault::kForever) return duration;
    if (needed) Refuse("needs for=TIME, for example for=5s");
    return Fault::kForever;
  }

  nanoseconds Optional(const char* key) {
    const std::string text = reader_.Text(key, "");
    return text.empty() ? Fault::kForever : Time(key, text);
  }

  absl::Status Finish() {
    // Reports an unknown option first, since it explains a missing one.
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
  // Faults that only slow the run down may hold from the beginning.
  reader.Begin(fault.kind != FaultKind::kSlow && fault.kind != FaultKind::kDrop, &fault);
  if (fault.kind == FaultKind::kKill) fault.duration = reader.Optional("back");
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
    absl::StrAppend(
        &text, fault.kind == FaultKind::kKill ? ":back=" : ":for=", FormatDuration(fault.duration));
  }
  return text;
}

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr std::string_view kFile = "file:";
constexpr char kFlag[] = "--chaos";

absl::Status CheckRanks(const Fault& fault, const ChaosExtent& extent, const std::string& text) {
  for (const Rank rank : fault.ranks) {
    if (rank >= extent.nodes) {
      return SpecError(text,
                       absl::StrCat("there is no rank ", rank, " among ", extent.nodes, " nodes"));
    }
    if (fault.kind == FaultKind::kSlow && rank >= extent.workers) {
      return SpecError(text,
                       absl::StrCat("rank ", rank, " is a server, and computes no gradients"));
    }
  }
  if (fault.kind == FaultKind::kPartition &&
      fault.ranks.size() == static_cast<size_t>(extent.nodes)) {
    return SpecError(text, "all ranks are on one side");
  }
  return absl::OkStatus();
}

absl::Status CheckEdge(const Fault& fault, const ChaosExtent& extent, const std::string& text) {
  if (fault.IsOfProcess() || fault.kind == FaultKind::kPartition || fault.ranks.empty() ||
      extent.edges.empty()) {
    return absl::OkStatus();
  }
  const auto [low, high] = std::minmax(fault.ranks[0], fault.ranks[1]);
  if (std::ranges::binary_search(extent.edges, std::pair(low, high))) return absl::OkStatus();
  return SpecError(text, absl::StrCat("ranks ", low, " and ", high,
                                      " are no neighbours; `grapevine topology --format=edges` "
                                      "lists those that are"));
}

absl::Status Check(const Fault& fault, const ChaosExtent& extent, const std::string& text) {
  RETURN_IF_ERROR(CheckRanks(fault, extent, text));
  RETURN_IF_ERROR(CheckEdge(fault, extent, text));
  if (fault.kind == FaultKind::kKill && fault.duration != Fault::kForever && !extent.resilient) {
    return SpecError(text,
                     "option back: the run ends with the first node that is killed; let the "
                     "others go on with --on-failure=shrink");
  }
  if (!fault.round || *fault.round < extent.rounds) return absl::OkStatus();
  return SpecError(text, absl::StrCat("would begin after the end of the run, which has ",
                                      extent.rounds, " rounds"));
}

// The options of `random`.
struct RandomFaults {
  uint64_t seed = 1;
  double rate = 0;  // expected faults per round
  std::vector<FaultKind> kinds;
  nanoseconds longest{0};
  nanoseconds back = Fault::kForever;  // time until another process comes after a kill
};

constexpr std::pair<std::string_view, FaultKind> kDrawable[] = {
    {"stop", FaultKind::kStop},           {"slow", FaultKind::kSlow}, {"cut", FaultKind::kCut},
    {"partition", FaultKind::kPartition}, {"drop", FaultKind::kDrop}, {"kill", FaultKind::kKill},
    {"disk-full", FaultKind::kDiskFull}};

absl::StatusOr<std::vector<FaultKind>> Kinds(const Spec& spec, const std::string& text) {
  std::vector<FaultKind> kinds;
  for (const std::string& name : std::vector<std::string>(absl::StrSplit(text, '+'))) {
    const auto known =
        std::ranges::find(kDrawable, name, [](const auto& entry) { return entry.first; });
    if (known == std::end(kDrawable)) {
      return SpecError(spec.text, absl::StrCat("option kinds: '", name,
                                               "' is not one of stop, slow, cut, partition, drop, "
                                               "kill, disk-full"));
    }
    kinds.push_back(known->second);
  }
  return kinds;
}

absl::StatusOr<RandomFaults> ParseRandom(const Spec& spec) {
  SpecReader reader(spec);
  RandomFaults random;
  random.seed = static_cast<uint64_t>(reader.Integer("seed", 1, 0));
  random.rate = reader.Real("rate", -1, 0, 1);
  const std::string kinds = reader.Text("kinds", "stop+slow+cut+partition+drop");
  const std::string longest = reader.Text("for", "1s");
  const std::string back = reader.Text("back", "");
  RETURN_IF_ERROR(reader.Finish());
  if (random.rate < 0) return SpecError(spec.text, "needs rate=P, the faults in a round");
  ASSIGN_OR_RETURN(random.kinds, Kinds(spec, kinds));
  const absl::StatusOr<nanoseconds> time = ParseDuration(longest);
  if (!time.ok()) {
    return SpecError(spec.text, absl::StrCat("option for: ", std::string(time.status().message())));
  }
  if (*time < milliseconds(1) || *time > std::chrono::hours(24)) {
    return SpecError(spec.text, "option for: must be between 1ms and 24h");
  }
  random.longest = *time;
  if (back.empty()) return random;
  const absl::StatusOr<nanoseconds> until = ParseDuration(back);
  if (!until.ok() || *until > kLongest) {
    return SpecError(spec.text, "option back: must be a time, for example 5s");
  }
  random.back = *until;
  return random;
}

// Draws the fault of a round, if it has one, from a stream of random numbers of its own.
class Draw {
 public:
  Draw(const RandomFaults& faults, const ChaosExtent& extent, Round round)
      : faults_(faults),
        extent_(extent),
        round_(round),
        random_(faults.seed, Purpose::kChaos, static_cast<uint64_t>(round)) {}

  // Whether the round has a fault.
  bool Happens() { return random_.Unit() < faults_.rate; }

  Fault Next() {
    Fault fault{
        .kind = faults_.kinds[random_.Below(faults_.kinds.size())], .ranks = {}, .round = round_};
    fault.ranks = RanksOf(fault);
    if (fault.kind == FaultKind::kSlow) {
      fault.amount = static_cast<double>(2 + random_.Below(kFactors));
    }
    if (fault.kind == FaultKind::kDrop) {
      fault.amount = static_cast<double>(1 + random_.Below(kPercents)) / 100;
    }
    if (!IsFatal(fault.kind)) fault.duration = Duration();
    if (fault.kind == FaultKind::kKill) fault.duration = faults_.back;
    return fault;
  }

 private:
  static constexpr uint64_t kFactors = 4;
  static constexpr uint64_t kPercents = 10;

  Rank AnyOf(Rank count) { return static_cast<Rank>(random_.Below(static_cast<uint64_t>(count))); }

  std::vector<Rank> RanksOf(const Fault& fault) {
    if (fault.kind == FaultKind::kPartition) return Side();
    if (!fault.IsOfProcess()) return Edge();
    return {AnyOf(fault.kind == FaultKind::kSlow ? extent_.workers : extent_.nodes)};
  }

  std::vector<Rank> Edge() {
    if (!extent_.edges.empty()) {
      const auto [low, high] = extent_.edges[random_.Below(extent_.edges.size())];
      return {low, high};
    }
    const Rank one = AnyOf(extent_.nodes);
    const Rank other = (one + 1 + AnyOf(extent_.nodes - 1)) % extent_.nodes;
    return {std::min(one, other), std::max(one, other)};
  }

  // Draws one side of a partition: consecutive ranks, at most half of all.
  std::vector<Rank> Side() {
    const Rank count = 1 + AnyOf(extent_.nodes / 2);
    const Rank first = AnyOf(extent_.nodes);
    std::vector<Rank> side;
    for (Rank i = 0; i < count; ++i) side.push_back((first + i) % extent_.nodes);
    std::ranges::sort(side);
    return side;
  }

  nanoseconds Duration() {
    const auto most = std::chrono::duration_cast<milliseconds>(faults_.longest).count();
    return milliseconds(1 + static_cast<int64_t>(random_.Below(static_cast<uint64_t>(most))));
  }

  const RandomFaults& faults_;
  const ChaosExtent& extent_;
  const Round round_;
  KeyedRandom random_;
};

absl::Status TooMany(const std::string& text) {
  return SpecError(text, absl::StrCat("makes more than ", kMaxFaults, " faults"));
}

absl::Status AddRandom(const Spec& spec, const ChaosExtent& extent, FaultSchedule* schedule) {
  ASSIGN_OR_RETURN(const RandomFaults random, ParseRandom(spec));
  if (extent.nodes < 2) return SpecError(spec.text, "needs two nodes at least");
  for (Round round = 0; round < extent.rounds; ++round) {
    Draw draw(random, extent, round);
    if (!draw.Happens()) continue;
    if (schedule->size() == kMaxFaults) return TooMany(spec.text);
    const Fault fault = draw.Next();
    RETURN_IF_ERROR(Check(fault, extent, spec.text));
    schedule->push_back(fault);
  }
  return absl::OkStatus();
}

// Adds the fault or the random faults of one text. Errors begin with `where`.
absl::Status AddOne(const std::string& where, const std::string& text, const ChaosExtent& extent,
                    FaultSchedule* schedule) {
  absl::StatusOr<Spec> spec = ParseSpec(text);
  if (!spec.ok()) return SpecError(where, std::string(spec.status().message()));
  spec->text = absl::StrCat(where, text);  // the text that errors quote
  if (spec->name == "random") return AddRandom(*spec, extent, schedule);
  ASSIGN_OR_RETURN(Fault fault, ParseFault(*spec));
  RETURN_IF_ERROR(Check(fault, extent, spec->text));
  if (schedule->size() == kMaxFaults) return TooMany(spec->text);
  schedule->push_back(std::move(fault));
  return absl::OkStatus();
}

absl::Status AddList(const std::string& where, const std::string& list, const ChaosExtent& extent,
                     FaultSchedule* schedule) {
  for (std::string text : std::vector<std::string>(absl::StrSplit(list, ','))) {
    absl::StripAsciiWhitespace(&text);
    RETURN_IF_ERROR(AddOne(where, text, extent, schedule));
  }
  return absl::OkStatus();
}

absl::Status AddFile(const std::string& path, const ChaosExtent& extent, FaultSchedule* schedule) {
  const absl::StatusOr<std::unique_ptr<MappedFile>> file = MappedFile::Open(path);
  if (!file.ok()) {
    return InputError(absl::StrCat(kFlag, "=", std::string(kFile), path, ": ",
                                   std::string(file.status().message())));
  }
  const std::string text((*file)->bytes().begin(), (*file)->bytes().end());
  int number = 0;
  for (std::string line : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
    ++number;
    absl::StripAsciiWhitespace(&line);
    if (line.empty() || line.front() == '#') continue;
    RETURN_IF_ERROR(AddList(absl::StrCat(path, ":", number, ": "), line, extent, schedule));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<FaultSchedule> MakeFaultSchedule(std::span<const std::string> texts,
                                                const ChaosExtent& extent) {
  FaultSchedule schedule;
  for (const std::string& text : texts) {
    if (text.starts_with(kFile)) {
      RETURN_IF_ERROR(AddFile(text.substr(kFile.size()), extent, &schedule));
    } else {
      RETURN_IF_ERROR(AddList(absl::StrCat(kFlag, "="), text, extent, &schedule));
    }
  }
  return schedule;
}

namespace {

// Whether a fault ends a run. A stop without end does, after --peer-timeout.
bool EndsRuns(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::kKill:
    case FaultKind::kCorrupt:
    case FaultKind::kDiskFull:
      return true;
    case FaultKind::kStop:
    case FaultKind::kCut:
    case FaultKind::kPartition:
      return fault.duration == Fault::kForever;
    case FaultKind::kSlow:
    case FaultKind::kDrop:
      return false;
  }
  return false;
}

}  // namespace

namespace {

bool IsOver(const Fault& fault, Round completed, nanoseconds time) {
  if (fault.duration == Fault::kForever) return false;
  return fault.round ? *fault.round < completed
                     : fault.time < time && fault.duration <= time - fault.time;
}

}  // namespace

FaultSchedule LeftOf(FaultSchedule faults, Round completed, nanoseconds time) {
  std::erase_if(faults, [&](const Fault& fault) {
    return EndsRuns(fault) || IsOver(fault, completed, time);
  });
  return faults;
}

FaultSchedule LeftForNewcomer(FaultSchedule faults, Round completed, nanoseconds time) {
  std::erase_if(faults, [&](const Fault& fault) {
    const bool begun = fault.round ? *fault.round <= completed : fault.time <= time;
    return (EndsRuns(fault) && begun) || IsOver(fault, completed, time);
  });
  return faults;
}

}  // namespace grapevine
