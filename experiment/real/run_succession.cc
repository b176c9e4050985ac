#include "experiment/real/run_succession.h"

#include <filesystem>
#include <limits>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "run/config/config_file.h"
#include "run/records/output_file.h"
#include "run/records/run_directory.h"

namespace grapevine {
namespace {

constexpr int64_t kAllRounds = std::numeric_limits<int64_t>::max();

}  // namespace

absl::StatusOr<InheritedRun> InheritRun(const std::string& run_directory, const Config& config) {
  InheritedRun run;
  RETURN_IF_ERROR(CreateFolders(run_directory));
  RemoveAbandonedFiles(run_directory);
  std::error_code error;
  if (!std::filesystem::exists(ConfigPath(run_directory), error)) {
    RETURN_IF_ERROR(WriteOutputFile(ConfigPath(run_directory), ConfigFileText(config)));
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> lines,
                   KeepLinesUntil(MetricsPath(run_directory), kAllRounds));
  for (const std::string& line : lines) {
    ASSIGN_OR_RETURN(run.measured.emplace_back(), RunMetricsFromJson(line));
  }
  for (Rank rank = 0; rank < config.nodes(); ++rank) {
    run.bytes_sent[rank] = TrafficOf(run_directory, rank).bytes_sent;
  }
  return run;
}

absl::Status CheckResultsAreHere(const std::string& run_directory, Round measured, Round last) {
  std::error_code error;
  if (measured >= last || std::filesystem::exists(ModelPath(run_directory), error)) {
    return absl::OkStatus();
  }
  return WithFailure(
      absl::AbortedError(absl::StrCat(
          "the run has come to its end (round ", last, "), but its results are not in ",
          run_directory,
          ": whoever had rank 0's role when the last model was evaluated has that and the "
          "measurements in its run directory (--out), on a disk of its own, and was lost before it "
          "said that all is written. Each node's own model is in its node-RANK. With --out on a "
          "disk that all nodes share, whoever takes the role over has the results")),
      Failure::kPeerLost);
}

EarlierTraffic::Node TrafficOf(const std::string& run_directory, Rank rank) {
  const absl::StatusOr<std::vector<std::string>> lines =
      ReadLinesUntil(MetricsPath(NodeDirectory(run_directory, rank)), kAllRounds);
  if (!lines.ok() || lines->empty()) return {};
  const absl::StatusOr<NodeMetrics> last = NodeMetricsFromJson(lines->back());
  if (!last.ok()) return {};
  return {last->bytes_sent_total.value_or(0), last->bytes_received_total.value_or(0)};
}

}  // namespace grapevine
