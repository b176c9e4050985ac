// A guard before an XML parser that recurses into the elements.
//
// Thread-safety: pure function.
#ifndef GRAPEVINE_TOPOLOGY_FILES_XML_DEPTH_H_
#define GRAPEVINE_TOPOLOGY_FILES_XML_DEPTH_H_

#include <cstdint>
#include <string_view>

namespace grapevine {

// Whether a parser of `text` opens at most `limit` elements within each other.
// Works without recursion and on any bytes, and tells tags from what only looks
// like them in the way of RapidXML, which is below Boost's reader. False also
// where a document type carries declarations: no graph needs them.
bool XmlIsShallow(std::string_view text, int64_t limit);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_FILES_XML_DEPTH_H_
