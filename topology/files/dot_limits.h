// A guard before a DOT reader whose time grows with the square of some things.
//
// Thread-safety: pure function.
#ifndef GRAPEVINE_TOPOLOGY_FILES_DOT_LIMITS_H_
#define GRAPEVINE_TOPOLOGY_FILES_DOT_LIMITS_H_

#include <string>
#include <string_view>

namespace grapevine {

// What `text` has more of than any graph needs, in words: bytes of a string
// (Boost copies its rest at every escaped quote), attributes of an edge or a node,
// default attributes (each edge and node gets a copy of them), braces (they
// nest). Empty where Boost's reader takes time in proportion to the text. Works
// without recursion and on any bytes.
std::string DotExcess(std::string_view text);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_FILES_DOT_LIMITS_H_
