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
    status_.Update(why);
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
    : path_(file->path()),
      patience_(patience),
      lines_(std::make_shared<Lines>(std::move(report))),
      writer_(
          std::move(file), [lines = lines_](const absl::Status& why) { lines->Fail(why); },
          [lines = lines_](const std::function<absl::Status()>& append) {
            absl::Status written = append();
            if (written.ok()) lines->OnWritten();
            return written;
          }) {}

NodeMetricsFile::~NodeMetricsFile() { lines_->Close(); }

void NodeMetricsFile::Add(std::string line, control::NodeMetrics report) {
  lines_->Add(std::move(report));
  writer_.Append(line);
}

absl::Status NodeMetricsFile::Check() const {
  RETURN_IF_ERROR(lines_->status());
  const std::optional<Clock::time_point> oldest = lines_->oldest();
  const Clock::time_point now = Clock::now();
  if (!oldest || now - *oldest <= patience_) return absl::OkStatus();
  return OutputError(absl::StrCat("cannot write to ", path_, ": its disk has taken nothing for ",
                                  HumanSeconds(now - *oldest),
                                  " (half of --step-timeout is how long that may last)"));
}

absl::Status NodeMetricsFile::Drain() { return writer_.Drain(In(patience_)); }

absl::Status NodeMetricsFile::Sync() { return writer_.Sync(In(patience_)); }

}  // namespace grapevine
