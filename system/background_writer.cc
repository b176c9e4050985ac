#include "system/background_writer.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string_view>
#include <utility>

namespace grapevine {
namespace {

// One write takes what waits, up to about so many bytes.
constexpr size_t kPiece = size_t{1} << 16;

// Should a wake-up get lost.
std::chrono::steady_clock::time_point Soon() {
  return std::chrono::steady_clock::now() + std::chrono::seconds(1);
}

absl::Status WriteAll(int descriptor, const std::string& name, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return absl::ErrnoToStatus(errno, "cannot write to " + name);
    text.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

}  // namespace

BackgroundWriter::BackgroundWriter(int descriptor, std::string name, Note note, size_t capacity)
    : descriptor_(descriptor), name_(std::move(name)), note_(std::move(note)), capacity_(capacity) {
  // The thread inherits that: signals are for others.
  sigset_t all, previous;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &previous);
  thread_ = std::thread([this] { Loop(); });
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
}

BackgroundWriter::~BackgroundWriter() {
  Drain().IgnoreError();  // whoever wants to know has asked
  {
    MutexLock lock(mutex_);
    closed_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

void BackgroundWriter::Write(std::string text) {
  MutexLock lock(mutex_);
  if (!status_.ok() || text.empty()) return;
  waiting_bytes_ += text.size();
  waiting_.push_back(std::move(text));
  while (waiting_bytes_ > capacity_ && waiting_.size() > 1) {
    waiting_bytes_ -= waiting_.front().size();
    waiting_.pop_front();
    ++dropped_;
  }
  changed_.NotifyAll();
}

absl::Status BackgroundWriter::Drain() {
  MutexLock lock(mutex_);
  while (status_.ok() && (writing_ || !waiting_.empty())) changed_.WaitUntil(mutex_, Soon());
  return status_;
}

void BackgroundWriter::Loop() {
  for (std::string text = Next(); !text.empty(); text = Next()) {
    OnWritten(WriteAll(descriptor_, name_, text));
  }
}

std::string BackgroundWriter::Next() {
  MutexLock lock(mutex_);
  while (waiting_.empty() && !closed_) changed_.WaitUntil(mutex_, Soon());
  if (waiting_.empty()) return "";
  writing_ = true;
  if (dropped_ > 0) return note_(std::exchange(dropped_, 0));
  std::string text;
  while (!waiting_.empty() && text.size() < kPiece) {
    text += waiting_.front();
    waiting_bytes_ -= waiting_.front().size();
    waiting_.pop_front();
  }
  return text;
}

void BackgroundWriter::OnWritten(absl::Status status) {
  MutexLock lock(mutex_);
  writing_ = false;
  status_.Update(std::move(status));
  if (!status_.ok()) {
    waiting_.clear();
    waiting_bytes_ = 0;
  }
  changed_.NotifyAll();
}

}  // namespace grapevine
