// Untrusted text, made safe for a terminal, a log and a one-line message.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_BASE_PRINTABLE_H_
#define GRAPEVINE_BASE_PRINTABLE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace grapevine {

// Bytes of the control character with which `text` begins, two for some in UTF-8; 0 if it begins
// with none.
size_t ControlLength(std::string_view text);

// Control characters become \xNN, including those that take two bytes in UTF-8: terminals obey
// them. Text beyond `most` bytes is cut and ends in "...".
std::string Printable(std::string_view text, size_t most);

// The same for text of any length and of several lines, whose ends it keeps.
std::string PrintableLines(std::string_view text);

}  // namespace grapevine

#endif  // GRAPEVINE_BASE_PRINTABLE_H_
