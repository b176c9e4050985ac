#include "run/records/continued_lines.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/status_macros.h"
#include "run/records/output_file.h"

namespace grapevine {
namespace {

std::optional<int64_t> RoundOf(const std::string& line) {
  const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  const auto round = json.find("round");
  if (round == json.end() || !round->is_number_integer()) return std::nullopt;
  return round->get<int64_t>();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> KeepLinesUntil(const std::string& path, int64_t round) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::vector<std::string>();
  std::ostringstream all;
  all << std::ifstream(path, std::ios::binary).rdbuf();
  const std::string text = all.str();
  std::vector<std::string> kept;
  size_t begin = 0;
  for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    std::string line = text.substr(begin, end - begin);
    const std::optional<int64_t> of = RoundOf(line);
    if (!of) {
      return InputError(absl::StrCat(path, ":", kept.size() + 1, ": is no measurement of a round"));
    }
    if (*of > round) break;
    kept.push_back(std::move(line));
  }
  std::string whole;
  for (const std::string& line : kept) absl::StrAppend(&whole, line, "\n");
  if (whole != text) RETURN_IF_ERROR(WriteOutputFile(path, whole));
  return kept;
}

}  // namespace grapevine
