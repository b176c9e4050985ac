#include "cli/terminal/sweep_progress.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "base/units.h"

namespace grapevine {
namespace {

// Without a terminal a line is printed for so many parts of the sweep.
constexpr size_t kParts = 10;

}  // namespace

void SweepProgress::OnDone(size_t cells, double cost, double seconds) {
  done_ += cells;
  cost_ += cost;
  seconds_ += seconds;
  const size_t all = options_.cells;
  const bool due = done_ == all || done_ * kParts / all > shown_ * kParts / all;
  if (!options_.live && !due) return;
  shown_ = done_;
  const double elapsed = Seconds(std::chrono::steady_clock::now() - begin_);
  out_ << (options_.live ? "\r\033[K" : "")
       << absl::StrFormat("%d/%d cells  %s  ETA %s", done_, all, HumanDuration(elapsed),
                          HumanDuration(SecondsLeft()));
  if (!options_.live) out_ << "\n";
  out_.flush();
}

double SweepProgress::SecondsLeft() const {
  if (cost_ <= 0) return 0;
  const double left = std::max(0.0, options_.cost - cost_);
  return seconds_ / cost_ * left / options_.threads;
}

void SweepProgress::Finish() {
  if (options_.live) out_ << std::endl;
}

}  // namespace grapevine
