// Protects Boost's parsers of graph files from input that they cannot bear: the XML parser
// recurses into elements, and the DOT reader takes quadratic time in some quantities.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_TOPOLOGY_FILES_PARSER_LIMITS_H_
#define GRAPEVINE_TOPOLOGY_FILES_PARSER_LIMITS_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace grapevine {

// Whether a parser of `text` opens at most `limit` elements within each other. Works without
// recursion and on any bytes, and recognizes tags as RapidXML does, on which Boost's reader is
// built. False also where a document type has declarations: no graph needs them.
bool XmlIsShallow(std::string_view text, int64_t limit);

// Names what `text` has more of than any graph needs: bytes of a string (Boost copies the rest
// at every escaped quote), attributes of an edge or a node, default attributes (copied to each
// edge and node), braces (they nest). Empty if Boost's reader takes time proportional to the
// text. Works without recursion and on any bytes.
std::string DotExcess(std::string_view text);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_FILES_PARSER_LIMITS_H_
