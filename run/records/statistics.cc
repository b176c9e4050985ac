#include "run/records/statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "base/units.h"
#include "run/records/json_record.h"

namespace grapevine {
namespace {

constexpr int kBits = 9;  // 2^9 buckets for each power of two
constexpr int64_t kPerOctave = int64_t{1} << kBits;

// Bucket e * 512 + m with m in [512, 1024) holds the durations whose leading ten
// bits are m: [m << e, (m + 1) << e). For e = 0 these are single durations, and so
// are those below 512.
size_t BucketOf(int64_t duration) {
  const int width = static_cast<int>(std::bit_width(static_cast<uint64_t>(duration)));
  const int shift = std::max(0, width - (kBits + 1));
  return static_cast<size_t>(shift * kPerOctave + (duration >> shift));
}

int64_t MiddleOf(size_t bucket) {
  const int64_t index = static_cast<int64_t>(bucket);
  const int64_t shift = std::max<int64_t>(0, index / kPerOctave - 1);
  const int64_t low = (index - shift * kPerOctave) << shift;
  return low + ((int64_t{1} << shift) - 1) / 2;
}

using Json = nlohmann::ordered_json;

constexpr auto kStatisticsMembers = [](auto& record, auto&& visit) {
  visit("rank", record.rank);
  visit("steps", record.steps);
  visit("gradient_s", record.gradient_s);
  visit("mix_s", record.mix_s);
  visit("wait_s", record.wait_s);
  visit("bytes_sent", record.bytes_sent);
  visit("bytes_received", record.bytes_received);
};

constexpr auto kLinkMembers = [](auto& record, auto&& visit) {
  visit("name", record.name);
  visit("bytes", record.bytes);
  visit("utilization", record.utilization);
};

constexpr auto kStepTimesMembers = [](auto& record, auto&& visit) {
  visit("count", record.count);
  visit("mean_s", record.mean_s);
  visit("min_s", record.min_s);
  visit("median_s", record.median_s);
  visit("p95_s", record.p95_s);
  visit("p99_s", record.p99_s);
  visit("max_s", record.max_s);
};

// The members of Statistics that describe the whole run.
constexpr auto kTotalsMembers = [](auto& record, auto&& visit) {
  visit("nodes", record.nodes);
  visit("time_s", record.time_s);
  visit("gradient_s", record.gradient_s);
  visit("mix_s", record.mix_s);
  visit("wait_s", record.wait_s);
};

StepTimes TimesOf(const DurationHistogram& steps) {
  return {.count = steps.count(),
          .mean_s = SecondsOfNanoseconds(steps.mean()),
          .min_s = SecondsOfNanoseconds(steps.min()),
          .median_s = SecondsOfNanoseconds(steps.Quantile(0.5)),
          .p95_s = SecondsOfNanoseconds(steps.Quantile(0.95)),
          .p99_s = SecondsOfNanoseconds(steps.Quantile(0.99)),
          .max_s = SecondsOfNanoseconds(steps.max())};
}

Json List(const std::vector<WaitedFor>& waits) {
  Json json = Json::array();
  for (const WaitedFor& wait : waits) json.push_back(ToJson(wait, kWaitedForMembers));
  return json;
}

Json Node(const NodeStatistics& node) {
  Json json = ToJson(node, kStatisticsMembers);
  json["waited_for"] = List(node.waited_for);
  return json;
}

// Returns "12.3 % (10.1 to 14.9 %)".
std::string Percents(const Spread& spread) {
  return absl::StrFormat("%.1f %% (%.1f to %.1f %%)", 100 * spread.mean, 100 * spread.min,
                         100 * spread.max);
}

std::string Waits(const Statistics& statistics) {
  constexpr size_t kShown = 4;
  const double all = statistics.wait_s * static_cast<double>(statistics.steps.count());
  if (!(all > 0)) return "";
  std::string text;
  const size_t shown = std::min(kShown, statistics.waited_for.size());
  for (size_t i = 0; i < shown; ++i) {
    const WaitedFor& wait = statistics.waited_for[i];
    absl::StrAppendFormat(&text, "%s rank %d (%.1f %%)", i == 0 ? "" : ",", wait.rank,
                          100 * wait.seconds / all);
  }
  return text.empty() ? "" : absl::StrCat("most of the waiting was for", text, "\n");
}

}  // namespace

void DurationHistogram::Add(int64_t nanoseconds) {
  const int64_t duration = std::max<int64_t>(0, nanoseconds);
  const size_t bucket = BucketOf(duration);
  if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
  ++buckets_[bucket];
  min_ = count_ > 0 ? std::min(min_, duration) : duration;
  max_ = std::max(max_, duration);
  sum_ += static_cast<double>(duration);
  ++count_;
}

void DurationHistogram::Merge(const DurationHistogram& other) {
  if (other.count_ == 0) return;
  if (other.buckets_.size() > buckets_.size()) buckets_.resize(other.buckets_.size());
  for (size_t i = 0; i < other.buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  min_ = count_ > 0 ? std::min(min_, other.min_) : other.min_;
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
  count_ += other.count_;
}

int64_t DurationHistogram::Quantile(double q) const {
  if (count_ == 0) return 0;
  const auto rank = static_cast<int64_t>(std::ceil(q * static_cast<double>(count_)));
  if (rank <= 1) return min_;
  if (rank >= count_) return max_;
  int64_t below = 0;
  size_t bucket = 0;
  while (true) {
    below += buckets_[bucket];
    if (below >= rank) return std::clamp(MiddleOf(bucket), min_, max_);
    ++bucket;
  }
}

std::string ToJsonText(const Statistics& statistics) {
  Json json;
  json["nodes"] = statistics.nodes;
  json["time_s"] = statistics.time_s;
  json["steps"] = ToJson(TimesOf(statistics.steps), kStepTimesMembers);
  json["gradient_s"] = statistics.gradient_s;
  json["mix_s"] = statistics.mix_s;
  json["wait_s"] = statistics.wait_s;
  json["waited_for"] = List(statistics.waited_for);
  json["bytes_sent"] = ToJson(statistics.bytes_sent, kSpreadMembers);
  json["bytes_received"] = ToJson(statistics.bytes_received, kSpreadMembers);
  if (statistics.egress_utilization) {
    json["egress_utilization"] = ToJson(*statistics.egress_utilization, kSpreadMembers);
  }
  if (statistics.ingress_utilization) {
    json["ingress_utilization"] = ToJson(*statistics.ingress_utilization, kSpreadMembers);
  }
  if (!statistics.busiest_links.empty()) {
    Json links = Json::array();
    for (const LinkStatistics& link : statistics.busiest_links) {
      links.push_back(ToJson(link, kLinkMembers));
    }
    json["busiest_links"] = std::move(links);
  }
  Json nodes = Json::array();
  for (const NodeStatistics& node : statistics.listed) nodes.push_back(Node(node));
  json["listed"] = std::move(nodes);
  return Dump(json, 2) + "\n";
}

namespace {

using Parsed = nlohmann::json;

// Returns the member `name`, or null if it is missing. No record is read from null.
const Parsed& MemberOf(const Parsed& json, const char* name) {
  static const Parsed* const none = new Parsed();
  const auto found = json.find(name);
  return found == json.end() ? *none : *found;
}

absl::Status NamingMember(const char* name, const absl::Status& status) {
  return absl::InvalidArgumentError(absl::StrCat("\"", name, "\" ", std::string(status.message())));
}

// Reads the member `name`, a record.
template <typename Record, typename Members>
absl::StatusOr<Record> RecordIn(const Parsed& json, const char* name, const Members& members) {
  absl::StatusOr<Record> record = FromJson<Record>(MemberOf(json, name), members);
  return record.ok() ? std::move(record) : NamingMember(name, record.status());
}

// Reads the member `name`, a spread, which may be absent.
absl::StatusOr<std::optional<Spread>> SpreadIn(const Parsed& json, const char* name) {
  if (!json.contains(name)) return std::nullopt;
  ASSIGN_OR_RETURN(const Spread spread, RecordIn<Spread>(json, name, kSpreadMembers));
  return spread;
}

// Reads the member `name`, a list, each entry with `read`. Returns an empty list if it is absent.
template <typename Record, typename Read>
absl::StatusOr<std::vector<Record>> ListIn(const Parsed& json, const char* name, const Read& read) {
  std::vector<Record> records;
  if (!json.contains(name)) return records;
  const Parsed& list = json[name];
  if (!list.is_array()) return NamingMember(name, absl::InvalidArgumentError("is not a list"));
  for (const Parsed& entry : list) {
    absl::StatusOr<Record> record = read(entry);
    if (!record.ok()) return NamingMember(name, record.status());
    records.push_back(*std::move(record));
  }
  return records;
}

absl::StatusOr<WaitedFor> WaitIn(const Parsed& json) {
  return FromJson<WaitedFor>(json, kWaitedForMembers);
}

absl::StatusOr<LinkStatistics> LinkIn(const Parsed& json) {
  return FromJson<LinkStatistics>(json, kLinkMembers);
}

absl::StatusOr<NodeStatistics> NodeIn(const Parsed& json) {
  ASSIGN_OR_RETURN(NodeStatistics node, FromJson<NodeStatistics>(json, kStatisticsMembers));
  ASSIGN_OR_RETURN(node.waited_for, ListIn<WaitedFor>(json, "waited_for", WaitIn));
  return node;
}

}  // namespace

absl::StatusOr<RecordedStatistics> StatisticsFromJson(std::string_view text) {
  const Parsed json = Parsed::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return absl::InvalidArgumentError("is not valid JSON");
  RecordedStatistics recorded;
  Statistics& statistics = recorded.statistics;
  ASSIGN_OR_RETURN(statistics, FromJson<Statistics>(json, kTotalsMembers));
  ASSIGN_OR_RETURN(recorded.step_times, RecordIn<StepTimes>(json, "steps", kStepTimesMembers));
  ASSIGN_OR_RETURN(statistics.waited_for, ListIn<WaitedFor>(json, "waited_for", WaitIn));
  ASSIGN_OR_RETURN(statistics.bytes_sent, RecordIn<Spread>(json, "bytes_sent", kSpreadMembers));
  ASSIGN_OR_RETURN(statistics.bytes_received,
                   RecordIn<Spread>(json, "bytes_received", kSpreadMembers));
  ASSIGN_OR_RETURN(statistics.egress_utilization, SpreadIn(json, "egress_utilization"));
  ASSIGN_OR_RETURN(statistics.ingress_utilization, SpreadIn(json, "ingress_utilization"));
  ASSIGN_OR_RETURN(statistics.busiest_links, ListIn<LinkStatistics>(json, "busiest_links", LinkIn));
  ASSIGN_OR_RETURN(statistics.listed, ListIn<NodeStatistics>(json, "listed", NodeIn));
  return recorded;
}

std::string StepSharesText(double step_s, double gradient_s, double mix_s, double wait_s) {
  if (!(step_s > 0)) return "";
  return absl::StrFormat("of it: gradient %.1f %%, mixing %.1f %%, waiting %.1f %%\n",
                         100 * gradient_s / step_s, 100 * mix_s / step_s, 100 * wait_s / step_s);
}

std::string ToReadableText(const Statistics& statistics) {
  const DurationHistogram& steps = statistics.steps;
  const double mean = SecondsOfNanoseconds(steps.mean());
  std::string text =
      absl::StrFormat("a step takes %s (median %s, 95 %% within %s, longest %s)\n",
                      HumanDuration(mean), HumanDuration(SecondsOfNanoseconds(steps.Quantile(0.5))),
                      HumanDuration(SecondsOfNanoseconds(steps.Quantile(0.95))),
                      HumanDuration(SecondsOfNanoseconds(steps.max())));
  absl::StrAppend(&text,
                  StepSharesText(mean, statistics.gradient_s, statistics.mix_s, statistics.wait_s),
                  Waits(statistics));
  absl::StrAppendFormat(&text, "a node sends %s (%s to %s)\n",
                        HumanSize(statistics.bytes_sent.mean), HumanSize(statistics.bytes_sent.min),
                        HumanSize(statistics.bytes_sent.max));
  if (statistics.egress_utilization && statistics.ingress_utilization) {
    absl::StrAppendFormat(&text, "interfaces are busy: sending %s, receiving %s\n",
                          Percents(*statistics.egress_utilization),
                          Percents(*statistics.ingress_utilization));
  }
  if (!statistics.busiest_links.empty()) {
    const LinkStatistics& link = statistics.busiest_links.front();
    absl::StrAppendFormat(&text, "the busiest link is %s: %.1f %%\n", link.name,
                          100 * link.utilization);
  }
  return text;
}

}  // namespace grapevine
