#include "topology/files/xml_depth.h"

#include <algorithm>

namespace grapevine {
namespace {

// Behind the next `mark`, or at the end.
size_t After(std::string_view text, size_t from, std::string_view mark) {
  const size_t found = text.find(mark, from);
  return found == std::string_view::npos ? text.size() : found + mark.size();
}

// The '>' of the opening tag at `from`, or the end of the text. A quote begins
// a value only behind a '=', and neither counts in the name of the element.
size_t EndOfTag(std::string_view text, size_t from) {
  size_t at = text.find_first_of(" \t\r\n/>?", from);
  char before = 0;
  for (; at < text.size() && text[at] != '>'; ++at) {
    const char here = text[at];
    if ((here == '"' || here == '\'') && before == '=') {
      at = After(text, at + 1, text.substr(at, 1)) - 1;
    }
    if (std::string_view(" \t\r\n").find(here) == std::string_view::npos) before = here;
  }
  return std::min(at, text.size());
}

}  // namespace

bool XmlIsShallow(std::string_view text, int64_t limit) {
  int64_t depth = 0;
  for (size_t at = text.find('<'); at < text.size(); at = text.find('<', at)) {
    const std::string_view here = text.substr(at);
    if (here.starts_with("<!--")) {
      at = After(text, at + 4, "-->");
    } else if (here.starts_with("<![CDATA[")) {
      at = After(text, at, "]]>");
    } else if (here.starts_with("<?")) {
      at = After(text, at, "?>");
    } else if (here.starts_with("<!")) {
      const size_t end = After(text, at, ">");
      if (text.substr(at, end - at).find('[') != std::string_view::npos) return false;
      at = end;
    } else if (here.starts_with("</")) {
      depth = std::max<int64_t>(0, depth - 1);
      at = After(text, at, ">");
    } else {
      if (++depth > limit) return false;
      at = EndOfTag(text, at + 1);
      if (at < text.size() && text[at - 1] == '/') --depth;
    }
  }
  return true;
}

}  // namespace grapevine
