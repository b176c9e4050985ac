#include "cli/terminal/status_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <iostream>

namespace grapevine {
namespace {

constexpr int kUsualWidth = 80;
constexpr std::string_view kMore = "...";

}  // namespace

int TerminalWidth(int descriptor) {
  winsize size{};
  const bool known = ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kUsualWidth;
}

std::string FitToWidth(std::string_view text, int width) {
  // A full last column would wrap.
  const size_t room = static_cast<size_t>(std::max(width - 1, 0));
  if (text.size() <= room) return std::string(text);
  if (room <= kMore.size()) return std::string(text.substr(0, room));
  return std::string(text.substr(0, room - kMore.size())).append(kMore);
}

StatusLine::StatusLine() : live_(isatty(STDERR_FILENO) == 1) {}

StatusLine::~StatusLine() {
  if (live_) std::cerr << kEraseLine << std::flush;
}

void StatusLine::Say(std::string_view text) {
  if (live_) {
    std::cerr << kEraseLine << FitToWidth(text, TerminalWidth(STDERR_FILENO)) << std::flush;
  } else {
    std::cerr << text << std::endl;
  }
}

}  // namespace grapevine
