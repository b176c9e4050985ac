#include "cli/terminal/logging.h"

#include <glog/logging.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/printable.h"
#include "system/mutex.h"

namespace grapevine {
namespace {

std::string AsJson(google::LogSeverity severity, const char* file, int line,
                   const google::LogMessageTime& time, std::string_view message) {
  nlohmann::ordered_json json;
  json["time"] =
      absl::FormatTime(absl::RFC3339_sec, absl::FromTimeT(time.timestamp()), absl::UTCTimeZone());
  json["level"] = absl::AsciiStrToLower(google::GetLogSeverityName(severity));
  json["file"] = file;
  json["line"] = line;
  json["message"] = std::string(message);
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string AsText(google::LogSeverity severity, const char* file, int line,
                   const google::LogMessageTime& time, std::string_view message) {
  const std::string shown = PrintableLines(message);
  return google::LogSink::ToString(severity, file, line, time, shown.data(), shown.size());
}

// Writes every log line in one call, so that lines of several processes do not mix.
class LineSink : public google::LogSink {
 public:
  void send(google::LogSeverity severity, const char*, const char* file, int line,
            const google::LogMessageTime& time, const char* message, size_t length) override {
    const std::string text = (json_ ? AsJson(severity, file, line, time, {message, length})
                                    : AsText(severity, file, line, time, {message, length})) +
                             "\n";
    MutexLock lock(mutex_);
    // A fatal line ends the process, and cannot wait.
    if (writer_ != nullptr && severity != google::GLOG_FATAL) {
      writer_->Write(text);
    } else {
      (void)!write(STDERR_FILENO, text.data(), text.size());
    }
  }

  // Must be called before threads log.
  void UseJson() { json_ = true; }
  // Makes `writer` write the lines; if it is null, the sink writes them itself.
  void WriteTo(BackgroundWriter* writer) {
    MutexLock lock(mutex_);
    writer_ = writer;
  }

 private:
  bool json_ = false;
  Mutex mutex_;
  BackgroundWriter* writer_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

// Returns the sink of the process, which has one only, like glog's settings.
LineSink& Sink() {
  static LineSink sink;
  return sink;
}

int Severity(const std::string& level) {
  if (level == "error") return google::GLOG_ERROR;
  if (level == "warning") return google::GLOG_WARNING;
  return google::GLOG_INFO;
}

}  // namespace

void InitializeLogging(const char* program) {
  // gRPC reports errors in its statuses.
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
  FLAGS_logtostderr = true;
  FLAGS_minloglevel = google::GLOG_WARNING;
  google::InitGoogleLogging(program);
}

void ConfigureLogging(const Config& config) {
  FLAGS_minloglevel = Severity(config.log_level());
  FLAGS_v = config.log_level() == "debug" ? 1 : 0;
  FLAGS_logtostderr = false;
  FLAGS_stderrthreshold = google::GLOG_FATAL + 1;
  for (int severity = google::GLOG_INFO; severity <= google::GLOG_FATAL; ++severity) {
    google::SetLogDestination(severity, "");
  }
  google::AddLogSink(&Sink());
  if (config.log_format() != "json") return;
  Sink().UseJson();
  UseJsonLines(std::cerr, "error");
}

BackgroundLog::BackgroundLog(BackgroundWriter::Note note)
    : writer_(STDERR_FILENO, "the standard error", std::move(note)) {
  Sink().WriteTo(&writer_);
}

BackgroundLog::~BackgroundLog() { Sink().WriteTo(nullptr); }

namespace {

using Json = nlohmann::ordered_json;

// Returns the text of `json`, in which bytes that are no UTF-8 become U+FFFD.
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
