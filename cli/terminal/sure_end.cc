#include "cli/terminal/sure_end.h"

#include <unistd.h>

#include <iostream>
#include <utility>

#include "base/printable.h"
#include "base/status.h"
#include "system/file_descriptor.h"

namespace grapevine {

using Clock = std::chrono::steady_clock;

SureEnd::SureEnd(std::string program, absl::Status why, std::chrono::nanoseconds patience)
    : program_(std::move(program)), why_(std::move(why)) {
  const SignalsAreForOthers meanwhile;
  thread_ = std::thread(
      [this, deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(patience)] {
        Watch(deadline);
      });
}

SureEnd::~SureEnd() {
  {
    MutexLock lock(mutex_);
    over_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

void SureEnd::Watch(Clock::time_point deadline) {
  MutexLock lock(mutex_);
  while (!over_ && Clock::now() < deadline) changed_.WaitUntil(mutex_, deadline);
  if (over_) return;
  std::cerr << program_ << ": " << PrintableLines(std::string(why_.message())) << std::endl;
  _exit(ExitCode(why_));
}

}  // namespace grapevine
