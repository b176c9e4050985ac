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

std::string FitToWidth(std::string_view text, int width, std::string_view end) {
  // A full last column would wrap.
  size_t room = static_cast<size_t>(std::max(width - 1, 0));
  if (text.size() + end.size() <= room) return std::string(text).append(end);
  if (end.size() + kMore.size() >= room) end = "";
  room -= end.size();
  if (room <= kMore.size()) return std::string(text.substr(0, room));
  return std::string(text.substr(0, room - kMore.size())).append(kMore).append(end);
}

StatusLine::StatusLine() : live_(isatty(STDERR_FILENO) == 1) {}

StatusLine::~StatusLine() {
  if (live_) std::cerr << kEraseLine << std::flush;
}

void StatusLine::Say(std::string_view text, std::string_view end) {
  if (live_) {
    std::cerr << kEraseLine << FitToWidth(text, TerminalWidth(STDERR_FILENO), end) << std::flush;
  } else {
    std::cerr << text << end << std::endl;
  }
}

}  // namespace grapevine
