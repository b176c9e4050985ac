#include "system/background.h"

#include <glog/logging.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/units.h"
#include "system/file_descriptor.h"
#include "system/mutex.h"

namespace grapevine {

namespace {

// Waits end with a notification; this deadline only bounds the effect of a lost one.
constexpr std::chrono::seconds kNextLook{1};

}  // namespace

WorkerThread::WorkerThread() {
  const SignalsAreForOthers meanwhile;
  thread_ = std::thread([this] { Loop(); });
}

WorkerThread::~WorkerThread() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

void WorkerThread::Do(std::function<void()> job) {
  MutexLock lock(mutex_);
  CHECK_LT(waiting_.size(), kMaxWaiting) << "a worker is given more than it does";
  waiting_.push_back(std::move(job));
  changed_.NotifyAll();
}

bool WorkerThread::Drain(std::chrono::steady_clock::time_point deadline) {
  MutexLock lock(mutex_);
  while (busy_ || !waiting_.empty()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    changed_.WaitUntil(mutex_, deadline);
  }
  return true;
}

std::function<void()> WorkerThread::Next() {
  MutexLock lock(mutex_);
  busy_ = false;
  changed_.NotifyAll();
  while (waiting_.empty() && !stopping_) {
    changed_.WaitUntil(mutex_, std::chrono::steady_clock::now() + kNextLook);
  }
  if (stopping_) return nullptr;
  std::function<void()> job = std::move(waiting_.front());
  waiting_.pop_front();
  busy_ = true;
  return job;
}

void WorkerThread::Loop() {
  while (const std::function<void()> job = Next()) job();
}

namespace {

using Clock = std::chrono::steady_clock;

// Approximate limit, in bytes, of the waiting texts that one write to a descriptor takes.
constexpr size_t kPiece = size_t{1} << 16;

// Returns a deadline that bounds the effect of a lost wake-up.
Clock::time_point Soon() { return Clock::now() + std::chrono::seconds(1); }

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

// The waiting texts and the loop that writes them. Thread-safe.
class BackgroundWriter::Queue {
 public:
  explicit Queue(Options options) : options_(std::move(options)) {}

  void Push(std::string text);
  absl::Status Drain(Clock::time_point deadline);
  // Announces that no more texts will come, and waits for the writes. Returns false if they are not
  // done by `deadline`; from then on `failed` is not called any more.
  bool Close(Clock::time_point deadline);
  void Loop();

 private:
  bool Busy() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return writing_ || !waiting_.empty(); }
  absl::Status MakeRoom() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::string Standing() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Records `status` if it is the first error. Returns whether `failed` must be told of it.
  bool Fail(absl::Status status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits for text to write. Returns "" if none will come.
  std::string Next();
  bool OnWritten(const absl::Status& status);

  const Options options_;
  Mutex mutex_;
  Condition changed_;
  std::deque<std::string> waiting_ ABSL_GUARDED_BY(mutex_);
  size_t waiting_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t dropped_ ABSL_GUARDED_BY(mutex_) = 0;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  Clock::time_point began_ ABSL_GUARDED_BY(mutex_);  // start of the last write
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool abandoned_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

void BackgroundWriter::Queue::Push(std::string text) {
  absl::Status status;
  {
    MutexLock lock(mutex_);
    if (!status_.ok() || text.empty()) return;
    waiting_bytes_ += text.size();
    waiting_.push_back(std::move(text));
    status = MakeRoom();
    changed_.NotifyAll();
    if (!Fail(status)) return;
  }
  options_.failed(status);
}

absl::Status BackgroundWriter::Queue::MakeRoom() {
  while (waiting_bytes_ > options_.capacity && waiting_.size() > 1) {
    if (!options_.note) return absl::ResourceExhaustedError(Standing());
    waiting_bytes_ -= waiting_.front().size();
    waiting_.pop_front();
    ++dropped_;
  }
  return absl::OkStatus();
}

std::string BackgroundWriter::Queue::Standing() const {
  const Clock::duration still = writing_ ? Clock::now() - began_ : Clock::duration::zero();
  return absl::StrFormat("cannot write to %s: it has stood still for %s, and %d bytes wait",
                         options_.name, HumanSeconds(still), waiting_bytes_);
}

bool BackgroundWriter::Queue::Fail(absl::Status status) {
  if (status.ok() || !status_.ok()) return false;
  status_ = std::move(status);
  waiting_.clear();
  waiting_bytes_ = 0;
  return !abandoned_ && options_.failed != nullptr;
}

absl::Status BackgroundWriter::Queue::Drain(Clock::time_point deadline) {
  MutexLock lock(mutex_);
  while (status_.ok() && Busy()) {
    if (Clock::now() >= deadline) return absl::DeadlineExceededError(Standing());
    changed_.WaitUntil(mutex_, std::min(deadline, Soon()));
  }
  return status_;
}

bool BackgroundWriter::Queue::Close(Clock::time_point deadline) {
  MutexLock lock(mutex_);
  while (Busy() && Clock::now() < deadline) changed_.WaitUntil(mutex_, std::min(deadline, Soon()));
  closed_ = true;
  changed_.NotifyAll();
  abandoned_ = Busy();
  return !abandoned_;
}

void BackgroundWriter::Queue::Loop() {
  for (std::string text = Next(); !text.empty(); text = Next()) {
    const absl::Status status = options_.write(text);
    if (OnWritten(status)) options_.failed(status);
  }
}

std::string BackgroundWriter::Queue::Next() {
  MutexLock lock(mutex_);
  while (waiting_.empty() && !closed_) changed_.WaitUntil(mutex_, Soon());
  if (waiting_.empty()) return "";
  writing_ = true;
  began_ = Clock::now();
  if (dropped_ > 0) return options_.note(std::exchange(dropped_, 0));
  std::string text;
  do {
    text += waiting_.front();
    waiting_bytes_ -= waiting_.front().size();
    waiting_.pop_front();
  } while (!waiting_.empty() && text.size() < options_.piece);
  return text;
}

bool BackgroundWriter::Queue::OnWritten(const absl::Status& status) {
  MutexLock lock(mutex_);
  writing_ = false;
  const bool heard = Fail(status);
  changed_.NotifyAll();
  return heard;
}

BackgroundWriter::BackgroundWriter(int descriptor, std::string name, Note note, size_t capacity)
    : BackgroundWriter(Options{
          .write = [descriptor,
                    name](std::string_view text) { return WriteAll(descriptor, name, text); },
          .name = name,
          .capacity = capacity,
          .piece = kPiece,
          .note = std::move(note)}) {}

BackgroundWriter::BackgroundWriter(Options options)
    : patience_(options.patience), queue_(std::make_shared<Queue>(std::move(options))) {
  const SignalsAreForOthers meanwhile;
  thread_ = std::thread([queue = queue_] { queue->Loop(); });
}

BackgroundWriter::~BackgroundWriter() {
  const auto deadline = patience_ ? Clock::now() + *patience_ : Clock::time_point::max();
  if (queue_->Close(deadline)) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

void BackgroundWriter::Write(std::string text) { queue_->Push(std::move(text)); }

absl::Status BackgroundWriter::Drain() { return queue_->Drain(Clock::time_point::max()); }

absl::Status BackgroundWriter::Drain(Clock::time_point deadline) { return queue_->Drain(deadline); }

}  // namespace grapevine
