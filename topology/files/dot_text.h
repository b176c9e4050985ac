// Prepares the text of a DOT file for Boost's reader, which recurses into braces, takes quadratic
// time in some quantities, and knows only a part of the Graphviz language.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_TOPOLOGY_FILES_DOT_TEXT_H_
#define GRAPEVINE_TOPOLOGY_FILES_DOT_TEXT_H_

#include <string>
#include <string_view>

namespace grapevine {

// Names what `text` has more of than any graph needs: bytes of a string (Boost copies the rest at
// every escaped quote), attributes of an edge or a node, default attributes (copied to each edge
// and node), or braces (they nest). Returns an empty string if Boost's reader takes time
// proportional to the text. Works without recursion and on any bytes.
std::string DotExcess(std::string_view text);

// Returns `text` in the words that Boost knows, as the same graph: "subgraph" before braces that
// lack it, quotes around HTML texts and around names beyond ASCII, no byte-order mark. Works on any
// bytes; a text that is not DOT stays one that is not.
std::string InBoostsDot(std::string_view text);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_FILES_DOT_TEXT_H_
