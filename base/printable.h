// Untrusted text, made safe for a terminal, a log and a one-line message.
//
// Pure function, safe from any thread.
#ifndef GRAPEVINE_BASE_PRINTABLE_H_
#define GRAPEVINE_BASE_PRINTABLE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace grapevine {

// Control characters become \xNN, including those that take two bytes in UTF-8: terminals obey
// them. Text beyond `most` bytes is cut and ends in "...".
std::string Printable(std::string_view text, size_t most);

}  // namespace grapevine

#endif  // GRAPEVINE_BASE_PRINTABLE_H_
