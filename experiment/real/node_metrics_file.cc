#include "experiment/real/node_metrics_file.h"

#include <deque>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "system/mutex.h"

namespace grapevine {
namespace {

using Clock = std::chrono::steady_clock;

// For what waits when the run has failed.
constexpr std::chrono::seconds kLastPatience{2};

Clock::time_point In(std::chrono::nanoseconds time) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(time);
}

}  // namespace

// What waits, in order. Thread-safe.
class NodeMetricsFile::Lines {
 public:
  explicit Lines(Report report) : report_(std::move(report)) {}

  void Add(control::NodeMetrics report) {
    MutexLock lock(mutex_);
    if (status_.ok()) waiting_.push_back({Clock::now(), std::move(report)});
  }

  void OnWritten() {
    MutexLock lock(mutex_);
    if (waiting_.empty()) return;
    if (report_) report_(std::move(waiting_.front().report));
    waiting_.pop_front();
  }

  void Fail(const absl::Status& why) {
    MutexLock lock(mutex_);
    status_.Update(AsOutputStatus(why));
    waiting_.clear();
  }

  void Close() {
    MutexLock lock(mutex_);
    report_ = nullptr;
  }

  absl::Status status() const {
    MutexLock lock(mutex_);
    return status_;
  }
  std::optional<Clock::time_point> oldest() const {
    MutexLock lock(mutex_);
    return waiting_.empty() ? std::nullopt : std::optional(waiting_.front().since);
  }

 private:
  struct Waiting {
    Clock::time_point since;
    control::NodeMetrics report;
  };

  mutable Mutex mutex_;
  Report report_ ABSL_GUARDED_BY(mutex_);
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

NodeMetricsFile::NodeMetricsFile(std::unique_ptr<LineFile> file, std::chrono::nanoseconds patience,
                                 Report report)
    : file_(std::move(file)),
      patience_(patience),
      lines_(std::make_shared<Lines>(std::move(report))),
      writer_(BackgroundWriter::Options{
          .write =
              [file = file_, lines = lines_](std::string_view line) {
                absl::Status written = file->AppendRecord(line);
                if (written.ok()) lines->OnWritten();
                return written;
              },
          .name = file_->path(),
          .capacity = BackgroundLines::kCapacity,
          .failed = [lines = lines_](const absl::Status& why) { lines->Fail(why); },
          .patience = kLastPatience}) {}

NodeMetricsFile::~NodeMetricsFile() { lines_->Close(); }

void NodeMetricsFile::Add(std::string line, control::NodeMetrics report) {
  lines_->Add(std::move(report));
  writer_.Write(std::move(line) + "\n");
}

absl::Status NodeMetricsFile::Check() const {
  RETURN_IF_ERROR(lines_->status());
  const std::optional<Clock::time_point> oldest = lines_->oldest();
  const Clock::time_point now = Clock::now();
  if (!oldest || now - *oldest <= patience_) return absl::OkStatus();
  return OutputError(absl::StrCat("cannot write to ", file_->path(),
                                  ": its disk has taken nothing for ", HumanSeconds(now - *oldest),
                                  " (half of --step-timeout is how long that may last)"));
}

absl::Status NodeMetricsFile::Drain() { return AsOutputStatus(writer_.Drain(In(patience_))); }

absl::Status NodeMetricsFile::Sync() {
  const Clock::time_point deadline = In(patience_);
  RETURN_IF_ERROR(AsOutputStatus(writer_.Drain(deadline)));
  const auto synced = std::make_shared<absl::Status>();
  if (syncs_.Run([synced, file = file_] { *synced = file->Sync(); }, deadline)) return *synced;
  return OutputError(absl::StrCat("cannot sync ", file_->path(), ": its disk has not done it in ",
                                  HumanSeconds(patience_),
                                  " (half of --step-timeout is how long that may last)"));
}

}  // namespace grapevine
