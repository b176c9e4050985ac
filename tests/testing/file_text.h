// The content of a file, for tests.
#ifndef GRAPEVINE_TESTS_TESTING_FILE_TEXT_H_
#define GRAPEVINE_TESTS_TESTING_FILE_TEXT_H_

#include <fstream>
#include <sstream>
#include <string>

namespace grapevine::testing {

// All bytes; none if it cannot be read.
inline std::string FileText(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_TESTING_FILE_TEXT_H_
