#include "run/trace/trace_waits.h"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/status.h"

namespace grapevine {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kWait = "wait for ";
constexpr double kSecondsOfMicrosecond = 1e-6;

// The depths of the members of an event in the text of a trace:
//
//   {"traceEvents": [{"name", "pid", "dur", "args": {"rank"}}]}
constexpr int kEventDepth = 3;
constexpr int kArgumentsDepth = 4;

// Adds up the waits while nlohmann's parser goes through the file.
class WaitReader : public nlohmann::json_sax<Json> {
 public:
  explicit WaitReader(Rank nodes) : nodes_(nodes) {}

  WaitedSeconds Take() { return std::move(waited_); }
  const std::string& error() const { return error_; }

  bool key(string_t& name) override {
    if (depth_ == kEventDepth || depth_ == kArgumentsDepth) key_ = name;
    return true;
  }
  bool string(string_t& text) override {
    if (depth_ == kEventDepth && key_ == "name") is_wait_ = text.starts_with(kWait);
    return true;
  }
  bool number_integer(number_integer_t value) override {
    return Number(static_cast<double>(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return Number(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t&) override { return Number(value); }

  bool start_object(size_t) override {
    if (++depth_ == kEventDepth) BeginEvent();
    return true;
  }
  bool end_object() override {
    if (depth_-- == kEventDepth) EndEvent();
    return true;
  }
  bool start_array(size_t) override { return ++depth_ > 0; }
  bool end_array() override { return --depth_ >= 0; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool parse_error(size_t position, const std::string&, const Json::exception&) override {
    error_ = "is not valid JSON at byte " + std::to_string(position);
    return false;
  }

 private:
  bool Number(double value) {
    if (depth_ == kEventDepth && key_ == "pid") by_ = RankOf(value);
    if (depth_ == kEventDepth && key_ == "dur") microseconds_ = value;
    if (depth_ == kArgumentsDepth && key_ == "rank") of_ = RankOf(value);
    return true;
  }

  std::optional<Rank> RankOf(double value) const {
    if (!(value >= 0 && value < nodes_)) return std::nullopt;
    return static_cast<Rank>(value);
  }

  void BeginEvent() {
    key_.clear();
    is_wait_ = false;
    by_ = of_ = std::nullopt;
    microseconds_ = 0;
  }

  void EndEvent() {
    if (!is_wait_ || !by_ || !of_) return;
    const double seconds = microseconds_ * kSecondsOfMicrosecond;  // tiny times become 0
    if (seconds > 0 && std::isfinite(seconds)) waited_[{*by_, *of_}] += seconds;
  }

  const Rank nodes_;
  WaitedSeconds waited_;
  std::string error_;
  int64_t depth_ = 0;
  // The members of the event that is being read.
  std::string key_;
  bool is_wait_ = false;
  std::optional<Rank> by_, of_;
  double microseconds_ = 0;
};

}  // namespace

absl::StatusOr<WaitedSeconds> ReadTraceWaits(const std::string& path, Rank nodes) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return InputError(path, "is not a file");
  std::ifstream file(path);
  if (!file) return InputError(path, "cannot be read");
  WaitReader reader(nodes);
  if (!Json::sax_parse(file, &reader)) return InputError(path, reader.error());
  return reader.Take();
}

}  // namespace grapevine
