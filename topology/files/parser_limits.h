// Protects Boost's reader of DOT from input that it cannot bear: it recurses into braces, and takes
// quadratic time in some quantities.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_TOPOLOGY_FILES_PARSER_LIMITS_H_
#define GRAPEVINE_TOPOLOGY_FILES_PARSER_LIMITS_H_

#include <string>
#include <string_view>

namespace grapevine {

// Names what `text` has more of than any graph needs: bytes of a string (Boost copies the rest
// at every escaped quote), attributes of an edge or a node, default attributes (copied to each
// edge and node), braces (they nest). Empty if Boost's reader takes time proportional to the
// text. Works without recursion and on any bytes.
std::string DotExcess(std::string_view text);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_FILES_PARSER_LIMITS_H_
