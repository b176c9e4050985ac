// Makes untrusted text safe to show on a terminal, in a log or in a one-line message.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_BASE_PRINTABLE_H_
#define GRAPEVINE_BASE_PRINTABLE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace grapevine {

// Returns the length in bytes of the control character at the beginning of `text`: 1, or 2 for the
// control characters that take two bytes in UTF-8. Returns 0 if `text` does not begin with one.
size_t ControlLength(std::string_view text);

// Returns `text` with each control character replaced by \xNN, including the control characters
// that take two bytes in UTF-8, because terminals obey them too. A text longer than `most` bytes is
// cut and ends in "...".
std::string Printable(std::string_view text, size_t most);

// Returns `text`, of any length, with each control character except '\n' replaced by \xNN.
std::string PrintableLines(std::string_view text);

}  // namespace grapevine

#endif  // GRAPEVINE_BASE_PRINTABLE_H_
