// A peer's text, made fit for a terminal, a log and a message of one line.
//
// Pure function, safe from any thread.
#ifndef GRAPEVINE_BASE_PRINTABLE_H_
#define GRAPEVINE_BASE_PRINTABLE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace grapevine {

// Control characters as \xNN, those included that UTF-8 has two bytes for: a terminal obeys
// them. Text beyond `most` bytes is cut, which "..." says.
std::string Printable(std::string_view text, size_t most);

}  // namespace grapevine

#endif  // GRAPEVINE_BASE_PRINTABLE_H_
