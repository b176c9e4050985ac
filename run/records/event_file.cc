#include "run/records/event_file.h"

#include <unistd.h>

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "kernels/passes/crc32c.h"
#include "run/records/event.pb.h"
#include "run/records/run_directory.h"
#include "system/machine_names.h"

namespace grapevine {
namespace {

using tensorboard::Event;
using tensorboard::SessionLog;

// Returns the `count` low bytes of a number, little-endian.
std::string Bytes(uint64_t number, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xff);
  return bytes;
}

// TFRecords rotate their CRCs: a CRC says little of data that contain CRCs.
std::string MaskedCrc(std::string_view bytes) {
  const uint32_t crc = Crc32c(0, bytes.data(), bytes.size());
  return Bytes((crc >> 15 | crc << 17) + 0xa282ead8u, 4);
}

std::string Record(const Event& event) {
  const std::string data = event.SerializeAsString();
  const std::string length = Bytes(data.size(), 8);
  return absl::StrCat(length, MaskedCrc(length), data, MaskedCrc(data));
}

Event At(absl::Time time) {
  Event event;
  event.set_wall_time(absl::ToDoubleSeconds(time - absl::UnixEpoch()));
  return event;
}

// Returns the first records of a file.
std::string FirstRecords(absl::Time first, int64_t from) {
  Event version = At(first);
  version.set_file_version("brain.Event:2");
  std::string records = Record(version);
  if (from == 0) return records;
  Event start = At(first);
  start.set_step(from + 1);
  start.mutable_session_log()->set_status(SessionLog::START);
  return records + Record(start);
}

std::string PathOf(const std::string& run, absl::Time now) {
  return absl::StrCat(run, "/", kEventFilePrefix,
                      absl::StrFormat("%010d", absl::ToUnixSeconds(now)), ".", HostNames().front(),
                      ".", getpid());
}

// The scalars of a line by tag. TensorBoard shows tags with the same beginning together.
constexpr auto kScalars = [](const RunMetrics& metrics, auto&& visit) {
  visit("train/loss", metrics.train_loss);
  visit("train/learning_rate", metrics.learning_rate);
  visit("train/samples_per_s", metrics.samples_per_s);
  visit("train/epoch", std::optional(metrics.epoch));
  visit("train/gradient_variance", metrics.gradient_variance);
  visit("train/gradient_square", metrics.gradient_square);
  visit("train/noise_scale", metrics.noise_scale);
  visit("test/loss", metrics.test_loss);
  visit("test/accuracy", metrics.test_accuracy);
  visit("test/loss_recalibrated", metrics.test_loss_recalibrated);
  visit("test/accuracy_recalibrated", metrics.test_accuracy_recalibrated);
  visit("test/samples", metrics.test_samples);
  visit("consensus/distance", metrics.consensus_distance);
  visit("consensus/buffer_distance", metrics.buffer_distance);
  visit("bytes/sent", metrics.bytes_sent_total);
  visit("bytes/sent_for_evaluations", metrics.evaluation_bytes_sent_total);
  visit("time/seconds", std::optional(metrics.time_s));
  visit("nodes/living", metrics.living);
};

}  // namespace

absl::Time SimulatedRunsBegin() { return absl::FromUnixSeconds(946684800); }

absl::StatusOr<std::unique_ptr<LineFile>> CreateEventFile(const std::string& run, absl::Time now,
                                                          absl::Time first, int64_t from) {
  ASSIGN_OR_RETURN(std::unique_ptr<LineFile> file, LineFile::Open(PathOf(run, now)));
  RETURN_IF_ERROR(file->AppendRecord(FirstRecords(first, from)));
  return file;
}

std::string EventRecord(const RunMetrics& metrics, absl::Time at) {
  Event event = At(at);
  event.set_step(metrics.round);
  kScalars(metrics, [&event](const char* tag, const auto& value) {
    if (!value) return;
    tensorboard::Scalar* const scalar = event.mutable_scalars()->add_value();
    scalar->set_tag(tag);
    scalar->set_value(static_cast<float>(*value));
  });
  return Record(event);
}

}  // namespace grapevine
