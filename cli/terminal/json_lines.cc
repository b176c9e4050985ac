#include "cli/terminal/json_lines.h"

#include <nlohmann/json.hpp>
#include <streambuf>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace grapevine {
namespace {

using Json = nlohmann::ordered_json;

// Bytes that are no UTF-8 become U+FFFD.
std::string Text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json Begun(std::string_view level) {
  return {{"time", absl::FormatTime(absl::RFC3339_sec, absl::Now(), absl::UTCTimeZone())},
          {"level", std::string(level)}};
}

Json Parsed(std::string_view line) {
  return Json::parse(line.begin(), line.end(), nullptr, /*allow_exceptions=*/false);
}

Json ObjectOf(std::string_view level, std::string_view text) {
  Json json = Parsed(text);
  if (json.is_object()) return json;
  json = Begun(level);
  json["message"] = std::string(text);
  return json;
}

// Collects lines and passes them on as JSON objects.
class JsonLineBuffer final : public std::streambuf {
 public:
  JsonLineBuffer(std::streambuf* target, const char* level) : target_(target), level_(level) {}

 private:
  int_type overflow(int_type character) override {
    if (character == traits_type::eof()) return traits_type::not_eof(character);
    if (character != '\n') {
      line_.push_back(traits_type::to_char_type(character));
      return character;
    }
    const std::string text = line_.empty() ? "" : JsonLine(level_, line_) + "\n";
    line_.clear();
    const auto size = static_cast<std::streamsize>(text.size());
    return target_->sputn(text.data(), size) == size ? character : traits_type::eof();
  }
  int sync() override { return target_->pubsync(); }

  std::streambuf* const target_;
  const char* const level_;
  std::string line_;
};

}  // namespace

std::string JsonLine(std::string_view level, std::string_view text) {
  return Text(ObjectOf(level, text));
}

std::string JsonLine(std::string_view level, std::string_view text, int rank) {
  Json json = ObjectOf(level, text);
  json["rank"] = rank;
  return Text(json);
}

std::string JsonLine(const RunMetrics& metrics) {
  Json json = Begun("info");
  json["metrics"] = Parsed(ToJsonLine(metrics));
  return Text(json);
}

std::string MessageOf(std::string_view line) {
  const Json json = Parsed(line);
  const bool told = json.is_object() && json.contains("message") && json["message"].is_string();
  return told ? json["message"].get<std::string>() : std::string(line);
}

void UseJsonLines(std::ostream& stream, const char* level) {
  // Never destroyed: streams are written to until the process ends.
  stream.rdbuf(new JsonLineBuffer(stream.rdbuf(), level));
}

}  // namespace grapevine
