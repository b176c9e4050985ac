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

// Of a file that is there.
std::string WholeText(const std::string& path) {
  std::ostringstream all;
  all << std::ifstream(path, std::ios::binary).rdbuf();
  return all.str();
}

bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ReadLinesUntil(const std::string& path, int64_t round) {
  if (!Exists(path)) return std::vector<std::string>();
  const std::string text = WholeText(path);
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
  return kept;
}

absl::StatusOr<std::vector<std::string>> KeepLinesUntil(const std::string& path, int64_t round) {
  ASSIGN_OR_RETURN(std::vector<std::string> kept, ReadLinesUntil(path, round));
  std::string whole;
  for (const std::string& line : kept) absl::StrAppend(&whole, line, "\n");
  if (Exists(path) && whole != WholeText(path)) RETURN_IF_ERROR(WriteOutputFile(path, whole));
  return kept;
}

}  // namespace grapevine
