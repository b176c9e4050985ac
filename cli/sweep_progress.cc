#include "cli/sweep_progress.h"

#include <unistd.h>

#include "absl/strings/str_format.h"
#include "run/units.h"

namespace grapevine {
namespace {

// Without a terminal a line is printed for so many parts of the sweep.
constexpr size_t kParts = 10;

}  // namespace

SweepProgress::SweepProgress(size_t cells, std::ostream& out)
    : cells_(cells), out_(out), live_(isatty(STDOUT_FILENO) != 0) {}

void SweepProgress::OnDone(size_t done) {
  const bool due = done == cells_ || done * kParts / cells_ > shown_ * kParts / cells_;
  if (!live_ && !due) return;
  shown_ = done;
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  const double rest = seconds * static_cast<double>(cells_ - done) / static_cast<double>(done);
  out_ << (live_ ? "\r\033[K" : "")
       << absl::StrFormat("%d/%d cells  %s  ETA %s", done, cells_, HumanDuration(seconds),
                          HumanDuration(rest));
  if (!live_) out_ << "\n";
  out_.flush();
}

void SweepProgress::Finish() {
  if (live_) out_ << std::endl;
}

}  // namespace grapevine
