#include "experiment/real/node_recording.h"

#include <glog/logging.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "run/recording/recorder.h"
#include "run/records/output_file.h"
#include "run/records/revision.h"
#include "run/records/run_directory.h"
#include "run/timing/compute_profile.h"
#include "run/trace/run_trace.h"

namespace grapevine {

using std::chrono::nanoseconds;

void ProfileRecorder::OnRound(nanoseconds gradient, nanoseconds mix, int64_t mix_bytes) {
  if (++rounds_ == 2) {  // the first one warmed up
    times_.clear();
    gradients_ = mix_bytes_ = 0;
    mix_ = {};
  }
  mix_bytes_ += mix_bytes;
  mix_ += mix;
  if (gradient > nanoseconds::zero()) AddGradient(gradient);
}

void ProfileRecorder::AddGradient(nanoseconds time) {
  if (gradients_++ % stride_ != 0) return;
  if (times_.size() == kMaxTimes) {
    for (size_t i = 0; 2 * i < times_.size(); ++i) times_[i] = times_[2 * i];
    times_.resize(kMaxTimes / 2);
    stride_ *= 2;
  }
  times_.push_back(time.count());
}

ComputeProfile ProfileRecorder::Profile() const {
  ComputeProfile profile;
  DeviceProfile& device = *profile.add_devices();
  device.set_device(device_);
  device.set_gradients(gradients_);
  device.mutable_gradient_ns()->Assign(times_.begin(), times_.end());
  std::ranges::sort(*device.mutable_gradient_ns());
  device.set_mix_bytes(mix_bytes_);
  device.set_mix_ns(mix_.count());
  return profile;
}

namespace {

std::string NodeProfilePath(const std::string& folder) {
  return absl::StrCat(folder, "/profile.textproto");
}

void Remove(const std::vector<std::string>& files) {
  std::error_code ignored;
  for (const std::string& file : files) std::filesystem::remove(file, ignored);
}

}  // namespace

NodeRecording::NodeRecording(const Config& config, Rank rank, std::string run_directory)
    : config_(config), rank_(rank), run_directory_(std::move(run_directory)) {}

absl::StatusOr<std::unique_ptr<NodeRecording>> NodeRecording::Make(const Config& config, Rank rank,
                                                                   std::string run_directory) {
  std::unique_ptr<NodeRecording> recording(
      new NodeRecording(config, rank, std::move(run_directory)));
  if (config.has_trace()) recording->recorder_ = std::make_unique<TraceRecorder>();
  if (config.has_profile()) {
    recording->profiler_ = std::make_unique<ProfileRecorder>(config.device());
  }
  if (rank == 0) {
    RETURN_IF_ERROR(recording->BeginFiles());
  }
  return recording;
}

absl::Status NodeRecording::BeginFiles() {
  if (config_.has_trace()) {
    ASSIGN_OR_RETURN(trace_, ChromeTrace::Create(config_.trace()));
  }
  if (config_.has_profile()) {
    absl::StatusOr<std::unique_ptr<AtomicFile>> profile = AtomicFile::Create(config_.profile());
    if (!profile.ok()) return AsOutputStatus(profile.status());
    profile_ = *std::move(profile);
  }
  if (config_.has_record()) {
    absl::StatusOr<std::unique_ptr<AtomicFile>> recording = AtomicFile::Create(config_.record());
    if (!recording.ok()) return AsOutputStatus(recording.status());
    recording_ = *std::move(recording);
  }
  return absl::OkStatus();
}

std::unique_ptr<Algorithm> NodeRecording::Recorded(std::unique_ptr<Algorithm> algorithm,
                                                   RecordingHeader header) {
  if (!config_.has_record()) return algorithm;
  header_ = std::move(header);
  return std::make_unique<RecordingAlgorithm>(
      std::move(algorithm), [this](const Event& event) { return events_->Add(event); });
}

absl::Status NodeRecording::BeginEvents() {
  if (!config_.has_record()) return absl::OkStatus();
  ASSIGN_OR_RETURN(events_, RecordingWriter::Create(
                                NodeRecordingPath(NodeDirectory(run_directory_, rank_)), header_));
  return absl::OkStatus();
}

void NodeRecording::OnRound(const RoundReport& report) {
  if (profiler_) {
    profiler_->OnRound(report.gradient, report.mix, report.mix_bytes);
  }
}

absl::Status NodeRecording::WritePart(const SharedVector& model) {
  absl::Status status = WriteTracePart();
  if (events_) status.Update(events_->Finish(model.span()));
  if (profiler_) {
    status.Update(WriteOutputFile(NodeProfilePath(NodeDirectory(run_directory_, rank_)),
                                  ToText(profiler_->Profile())));
  }
  return status;
}

absl::Status NodeRecording::WriteTracePart() {
  if (!recorder_) return absl::OkStatus();
  const NodeTrace part = recorder_->Take(rank_);
  if (part.dropped > 0) {
    LOG(WARNING) << "rank " << rank_ << ": the trace has the last " << part.records.size()
                 << " records; " << part.dropped << " earlier ones were dropped";
  }
  return WriteNodeTrace(NodeTracePath(NodeDirectory(run_directory_, rank_)), part);
}

absl::Status NodeRecording::Join() {
  absl::Status status;
  if (trace_) status.Update(JoinTraces());
  if (profile_) status.Update(JoinProfiles());
  if (recording_) status.Update(JoinEvents());
  return status;
}

std::vector<std::string> NodeRecording::Parts(
    std::string (*path)(const std::string& folder)) const {
  std::vector<std::string> parts;
  for (Rank rank = 0; rank < config_.nodes(); ++rank) {
    parts.push_back(path(NodeDirectory(run_directory_, rank)));
  }
  return parts;
}

void NodeRecording::WarnOfMissing(std::string_view what, const std::vector<Rank>& missing) const {
  if (missing.empty()) return;
  LOG(WARNING) << "the " << what << " lacks ranks " << absl::StrJoin(missing, ", ")
               << ": their folders of the run directory are not on this machine";
}

absl::Status NodeRecording::JoinTraces() {
  const std::vector<std::string> parts = Parts(NodeTracePath);
  ASSIGN_OR_RETURN(const std::vector<Rank> missing, MergeTraces(parts, trace_.get()));
  WarnOfMissing("trace", missing);
  RETURN_IF_ERROR(trace_->Finish());
  Remove(parts);
  return absl::OkStatus();
}

// Concatenates the parts. The parts on other machines replay beside the result.
absl::Status NodeRecording::JoinEvents() {
  const std::vector<std::string> parts = Parts(NodeRecordingPath);
  std::vector<Rank> missing;
  for (Rank rank = 0; rank < config_.nodes(); ++rank) {
    std::error_code error;
    if (!std::filesystem::exists(parts[rank], error)) {
      missing.push_back(rank);
      continue;
    }
    const absl::StatusOr<std::unique_ptr<MappedFile>> part = MappedFile::Open(parts[rank]);
    if (!part.ok()) return AsOutputStatus(part.status());
    const auto bytes = (*part)->bytes();
    absl::Status status =
        recording_->Append({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (!status.ok()) return AsOutputStatus(std::move(status));
  }
  WarnOfMissing("recording", missing);
  if (absl::Status status = recording_->Commit(); !status.ok()) {
    return AsOutputStatus(std::move(status));
  }
  Remove(parts);
  return absl::OkStatus();
}

absl::Status NodeRecording::JoinProfiles() {
  const std::vector<std::string> files = Parts(NodeProfilePath);
  std::vector<ComputeProfile> parts;
  std::vector<Rank> missing;
  for (Rank rank = 0; rank < config_.nodes(); ++rank) {
    std::error_code error;
    if (!std::filesystem::exists(files[rank], error)) {
      missing.push_back(rank);
      continue;
    }
    ASSIGN_OR_RETURN(ComputeProfile part, ReadComputeProfile(files[rank]));
    parts.push_back(std::move(part));
  }
  WarnOfMissing("profile", missing);
  ComputeProfile profile = grapevine::JoinProfiles(parts);
  profile.set_model(config_.model());
  profile.set_batch(config_.batch());
  profile.set_nodes(config_.nodes());
  profile.set_revision(Revision());
  absl::Status status = profile_->Append(ToText(profile));
  if (status.ok()) status = profile_->Commit();
  if (!status.ok()) return AsOutputStatus(std::move(status));
  Remove(files);
  return absl::OkStatus();
}

}  // namespace grapevine
