#include "cli/node_recording.h"

#include <glog/logging.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_join.h"
#include "run/node_trace.h"
#include "run/run_directory.h"
#include "run/trace_merge.h"

namespace grapevine {

NodeRecording::NodeRecording(Rank rank, Rank nodes, std::string run_directory)
    : rank_(rank), nodes_(nodes), run_directory_(std::move(run_directory)) {}

absl::StatusOr<std::unique_ptr<NodeRecording>> NodeRecording::Make(const Config& config, Rank rank,
                                                                   std::string run_directory) {
  std::unique_ptr<NodeRecording> recording(
      new NodeRecording(rank, config.nodes(), std::move(run_directory)));
  if (!config.has_trace()) return recording;
  recording->recorder_ = std::make_unique<TraceRecorder>();
  if (rank != 0) return recording;
  absl::StatusOr<std::unique_ptr<ChromeTrace>> trace = ChromeTrace::Create(config.trace());
  if (!trace.ok()) return trace.status();
  recording->trace_ = *std::move(trace);
  return recording;
}

absl::Status NodeRecording::WritePart() {
  if (!recorder_) return absl::OkStatus();
  const NodeTrace part = recorder_->Take(rank_);
  if (part.dropped > 0) {
    LOG(WARNING) << "rank " << rank_ << ": the trace has the last " << part.records.size()
                 << " records; " << part.dropped << " earlier ones were dropped";
  }
  return WriteNodeTrace(NodeTracePath(NodeDirectory(run_directory_, rank_)), part);
}

absl::Status NodeRecording::Join() { return trace_ ? JoinTraces() : absl::OkStatus(); }

absl::Status NodeRecording::JoinTraces() {
  std::vector<std::string> parts;
  for (Rank rank = 0; rank < nodes_; ++rank) {
    parts.push_back(NodeTracePath(NodeDirectory(run_directory_, rank)));
  }
  const absl::StatusOr<std::vector<Rank>> missing = MergeTraces(parts, trace_.get());
  if (!missing.ok()) return missing.status();
  if (!missing->empty()) {
    LOG(WARNING) << "the trace lacks ranks " << absl::StrJoin(*missing, ", ")
                 << ": their folders of the run directory are not on this machine";
  }
  if (absl::Status status = trace_->Finish(); !status.ok()) return status;
  for (const std::string& part : parts) {
    std::error_code ignored;
    std::filesystem::remove(part, ignored);
  }
  return absl::OkStatus();
}

}  // namespace grapevine
