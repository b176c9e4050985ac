#include "experiment/real/node_metrics_file.h"

#include <deque>
#include <utility>

#include "base/status.h"
#include "system/mutex.h"

namespace grapevine {
namespace {

using Clock = std::chrono::steady_clock;

Clock::time_point In(std::chrono::nanoseconds time) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(time);
}

}  // namespace

// The reports of lines that are not in the file yet, in order. Thread-safe.
class NodeMetricsFile::Lines {
 public:
  explicit Lines(Report report) : report_(std::move(report)) {}

  void Add(control::NodeMetrics report) {
    MutexLock lock(mutex_);
    if (status_.ok()) waiting_.push_back(std::move(report));
  }

  void OnWritten() {
    MutexLock lock(mutex_);
    if (waiting_.empty()) return;
    if (report_) report_(std::move(waiting_.front()));
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

 private:
  mutable Mutex mutex_;
  Report report_ ABSL_GUARDED_BY(mutex_);
  std::deque<control::NodeMetrics> waiting_ ABSL_GUARDED_BY(mutex_);
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

NodeMetricsFile::NodeMetricsFile(std::unique_ptr<LineFile> file, std::chrono::nanoseconds patience,
                                 Report report)
    : patience_(patience),
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

absl::Status NodeMetricsFile::Check() const { return lines_->status(); }

absl::Status NodeMetricsFile::Drain() { return writer_.Drain(In(patience_)); }

absl::Status NodeMetricsFile::Sync() { return writer_.Sync(In(patience_)); }

}  // namespace grapevine
