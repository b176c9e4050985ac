// One line on standard error that says how far a task has come. On a terminal the line is live and
// never wider than the terminal is at that moment; elsewhere every message has a line of its own.
//
// Thread-compatible.
#ifndef GRAPEVINE_CLI_TERMINAL_STATUS_LINE_H_
#define GRAPEVINE_CLI_TERMINAL_STATUS_LINE_H_

#include <string>
#include <string_view>

namespace grapevine {

// Takes the cursor to the beginning of its line, and empties the line.
inline constexpr char kEraseLine[] = "\r\033[K";

// Returns the number of columns of the terminal behind `descriptor`, which its user may change at
// any time; 80 if the terminal does not say.
int TerminalWidth(int descriptor);

// Returns `text` and `end`, in ASCII, so short that they do not wrap on a terminal of `width`
// columns: only the beginning of `text` and "..." if not all of it fits, then `end`, if that fits.
std::string FitToWidth(std::string_view text, int width, std::string_view end = "");

class StatusLine {
 public:
  StatusLine();
  // Erases a live line.
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  bool live() const { return live_; }
  // Shows `text` and `end`, in place of the previous message if live. A narrow terminal shows `end`
  // rather than all of `text`.
  void Say(std::string_view text, std::string_view end = "");

 private:
  const bool live_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_TERMINAL_STATUS_LINE_H_
