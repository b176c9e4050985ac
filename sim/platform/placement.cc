#include "sim/platform/placement.h"

#include <limits>
#include <numeric>
#include <optional>
#include <span>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/spec.h"
#include "base/status.h"
#include "random/keyed_random.h"
#include "topology/files/field_reader.h"

namespace grapevine {
namespace {

constexpr std::string_view kFile = "file:";

// Reads the lines of a placement file, one after the other.
class FilePlacement {
 public:
  FilePlacement(const std::string& path, Rank n, const Platform& platform)
      : path_(path), platform_(platform), hosts_(n, kUnplaced) {}

  absl::StatusOr<std::vector<HostId>> Read() {
    ASSIGN_OR_RETURN(FieldReader lines, FieldReader::Open(path_));
    while (lines.Next()) {
      RETURN_IF_ERROR(AddLine(lines));
    }
    for (size_t rank = 0; rank < hosts_.size(); ++rank) {
      if (hosts_[rank] != kUnplaced) continue;
      return InputError(path_, absl::StrCat("no host for rank ", rank, " of ", hosts_.size(),
                                            "; add a line for every rank"));
    }
    return std::move(hosts_);
  }

 private:
  static constexpr HostId kUnplaced = -1;

  absl::Status AddLine(const FieldReader& line) {
    const auto& fields = line.fields();
    if (fields.size() > 2) return line.Error("more than two fields; write HOST or RANK HOST");
    if (numbered_.value_or(fields.size() == 2) != (fields.size() == 2)) {
      return line.Error("some lines begin with a rank and some do not; write all alike");
    }
    numbered_ = fields.size() == 2;
    int64_t rank = next_++;
    if (*numbered_ && !absl::SimpleAtoi(std::string(fields[0]), &rank)) {
      return line.Error(absl::StrCat(Quoted(fields[0]), " is not a rank; write RANK HOST"));
    }
    const auto n = static_cast<int64_t>(hosts_.size());
    if (rank < 0 || rank >= n) {
      return line.Error(absl::StrCat("rank ", rank, " of ", n, " nodes, which are counted from 0"));
    }
    if (hosts_[rank] != kUnplaced) return line.Error(absl::StrCat("rank ", rank, " a second time"));
    const std::optional<HostId> host = platform_.FindHost(fields.back());
    if (!host) {
      return line.Error(absl::StrCat("no host of ", platform_.name(), " is named ",
                                     Quoted(fields.back()), "; its first is named '",
                                     platform_.HostName(0), "'"));
    }
    hosts_[rank] = *host;
    return absl::OkStatus();
  }

  const std::string& path_;
  const Platform& platform_;
  std::vector<HostId> hosts_;
  std::optional<bool> numbered_;  // whether lines begin with ranks
  int64_t next_ = 0;
};

}  // namespace

absl::StatusOr<Placement> ParsePlacement(std::string_view text) {
  Placement placement{.text = std::string(text)};
  if (text.starts_with(kFile)) {
    placement.path = text.substr(kFile.size());
    if (placement.path.empty()) return SpecError(text, "a path is missing; write file:PATH");
    return placement;
  }
  ASSIGN_OR_RETURN(const Spec spec, ParseSpec(text));
  if (spec.name != "order" && spec.name != "shuffled") {
    return SpecError(text, "no such placement; there are order, shuffled and file:PATH");
  }
  SpecReader reader(spec);
  placement.shuffled = spec.name == "shuffled";
  placement.per_host =
      static_cast<Rank>(reader.Integer("per-host", 1, 1, std::numeric_limits<Rank>::max()));
  RETURN_IF_ERROR(reader.Finish());
  return placement;
}

Rank HostsFor(const Placement& placement, Rank n) {
  return static_cast<Rank>((int64_t{n} + placement.per_host - 1) / placement.per_host);
}

absl::StatusOr<std::vector<HostId>> PlaceRanks(const Placement& placement, Rank n,
                                               const Platform& platform, uint64_t seed) {
  if (!placement.path.empty()) return FilePlacement(placement.path, n, platform).Read();
  const Rank needed = HostsFor(placement, n);
  if (needed > platform.hosts()) {
    return SpecError(placement.text,
                     absl::StrCat(n, " ranks need ", needed, " hosts, but ", platform.name(),
                                  " has ", platform.hosts(),
                                  "; run fewer nodes, or more on each "
                                  "host: ",
                                  placement.shuffled ? "shuffled" : "order",
                                  ":per-host=", (n + platform.hosts() - 1) / platform.hosts()));
  }
  std::vector<HostId> order(platform.hosts());
  std::iota(order.begin(), order.end(), 0);
  if (placement.shuffled) KeyedRandom(seed, Purpose::kPlacement).Shuffle(std::span(order));
  std::vector<HostId> hosts(n);
  for (Rank rank = 0; rank < n; ++rank) hosts[rank] = order[rank / placement.per_host];
  return hosts;
}

}  // namespace grapevine
