#include "tests/testing/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/testing/file_text.h"

namespace grapevine::testing {

nlohmann::json JsonOf(const std::string& text) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  EXPECT_FALSE(json.is_discarded()) << "no JSON: " << text;
  return json;
}

std::vector<nlohmann::json> JsonLinesOf(const std::string& text) {
  std::vector<nlohmann::json> objects;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    objects.push_back(JsonOf(line));
    EXPECT_TRUE(objects.back().is_object()) << line;
  }
  return objects;
}

std::vector<nlohmann::json> JsonLines(const std::string& path) {
  return JsonLinesOf(FileText(path));
}

nlohmann::json SummaryOf(const std::string& path) {
  return JsonOf(FileText(path + "/summary.json"));
}

}  // namespace grapevine::testing
