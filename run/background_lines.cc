#include "run/background_lines.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/failure.h"

namespace grapevine {
namespace {

using std::chrono::steady_clock;

// Should a wake-up get lost.
steady_clock::time_point Soon() { return steady_clock::now() + std::chrono::seconds(1); }

}  // namespace

BackgroundLines::BackgroundLines(std::unique_ptr<LineFile> file,
                                 std::function<void(const absl::Status&)> failed)
    : file_(std::move(file)), failed_(std::move(failed)), thread_([this] { Loop(); }) {}

BackgroundLines::~BackgroundLines() {
  {
    MutexLock lock(mutex_);
    closed_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

absl::Status BackgroundLines::Append(std::string line) {
  MutexLock lock(mutex_);
  if (status_.ok() && waiting_.size() >= kMaxWaiting) {
    status_ = Stalled();
    waiting_.resize(1);
  }
  if (!status_.ok()) return status_;
  waiting_.push_back(std::move(line));
  changed_.NotifyAll();
  return absl::OkStatus();
}

absl::Status BackgroundLines::Drain(steady_clock::time_point deadline) {
  MutexLock lock(mutex_);
  while (status_.ok() && !waiting_.empty()) {
    if (steady_clock::now() >= deadline) return Stalled();
    changed_.WaitUntil(mutex_, std::min(deadline, Soon()));
  }
  return status_;
}

void BackgroundLines::Loop() {
  for (std::string line; Next(&line);) OnWritten(file_->Append(line));
}

bool BackgroundLines::Next(std::string* line) {
  MutexLock lock(mutex_);
  while (status_.ok() && waiting_.empty() && !closed_) changed_.WaitUntil(mutex_, Soon());
  if (!status_.ok() || waiting_.empty()) return false;
  *line = waiting_.front();
  return true;
}

void BackgroundLines::OnWritten(const absl::Status& status) {
  {
    MutexLock lock(mutex_);
    waiting_.pop_front();
    status_.Update(status);
    changed_.NotifyAll();
  }
  if (!status.ok()) failed_(status);
}

absl::Status BackgroundLines::Stalled() const {
  return WithFailure(
      absl::DeadlineExceededError(absl::StrCat(waiting_.size(), " lines wait to be written to ",
                                               file_->path(), "; its disk or file server stalls")),
      Failure::kOutput);
}

}  // namespace grapevine
