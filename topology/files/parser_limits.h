// What Boost's parsers of graph files must not be given: an XML parser that recurses into the
// elements, and a DOT reader whose time grows with the square of some things.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_TOPOLOGY_FILES_PARSER_LIMITS_H_
#define GRAPEVINE_TOPOLOGY_FILES_PARSER_LIMITS_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace grapevine {

// Whether a parser of `text` opens at most `limit` elements within each other.
// Works without recursion and on any bytes, and tells tags from what only looks
// like them in the way of RapidXML, which is below Boost's reader. False also
// where a document type carries declarations: no graph needs them.
bool XmlIsShallow(std::string_view text, int64_t limit);

// What `text` has more of than any graph needs, in words: bytes of a string
// (Boost copies its rest at every escaped quote), attributes of an edge or a node,
// default attributes (each edge and node gets a copy of them), braces (they
// nest). Empty where Boost's reader takes time in proportion to the text. Works
// without recursion and on any bytes.
std::string DotExcess(std::string_view text);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_FILES_PARSER_LIMITS_H_
