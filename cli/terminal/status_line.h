// One line on standard error that says how far something has come: on a terminal, live and never
// wider than it is at that moment; elsewhere, a line each time.
//
// Thread-compatible.
#ifndef GRAPEVINE_CLI_TERMINAL_STATUS_LINE_H_
#define GRAPEVINE_CLI_TERMINAL_STATUS_LINE_H_

#include <string>
#include <string_view>

namespace grapevine {

// Takes the cursor to the beginning of its line, and empties that.
inline constexpr char kEraseLine[] = "\r\033[K";

// How many columns the terminal behind `descriptor` has now, which its user may change at any time;
// 80 where it does not say.
int TerminalWidth(int descriptor);

// `text` and `end`, in ASCII, so short that they do not wrap on a terminal of `width` columns: of
// `text` the beginning and "..." where there is not room for all, then `end`, if there is for that.
std::string FitToWidth(std::string_view text, int width, std::string_view end = "");

class StatusLine {
 public:
  StatusLine();
  // Erases a live line.
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  bool live() const { return live_; }
  // Instead of what was said before, if live; `end` is what a narrow terminal shows rather.
  void Say(std::string_view text, std::string_view end = "");

 private:
  const bool live_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_TERMINAL_STATUS_LINE_H_
