#include "cli/logging.h"

#include <glog/logging.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/time/time.h"
#include "cli/json_line.h"

namespace grapevine {
namespace {

class JsonSink : public google::LogSink {
 public:
  void send(google::LogSeverity severity, const char*, const char* file, int line,
            const google::LogMessageTime& time, const char* message, size_t length) override {
    nlohmann::ordered_json json;
    json["time"] =
        absl::FormatTime(absl::RFC3339_sec, absl::FromTimeT(time.timestamp()), absl::UTCTimeZone());
    json["level"] = absl::AsciiStrToLower(google::GetLogSeverityName(severity));
    json["file"] = file;
    json["line"] = line;
    json["message"] = std::string(message, length);
    const std::string text =
        json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    // One write a line, so that lines of several processes do not mix.
    (void)!write(STDERR_FILENO, text.data(), text.size());
  }
};

int Severity(const std::string& level) {
  if (level == "error") return google::GLOG_ERROR;
  if (level == "warning") return google::GLOG_WARNING;
  return google::GLOG_INFO;
}

}  // namespace

void InitializeLogging(const char* program) {
  // What gRPC has to say comes back in its statuses.
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
  FLAGS_logtostderr = true;
  FLAGS_minloglevel = google::GLOG_WARNING;
  google::InitGoogleLogging(program);
}

void ConfigureLogging(const Config& config) {
  FLAGS_minloglevel = Severity(config.log_level());
  FLAGS_v = config.log_level() == "debug" ? 1 : 0;
  if (config.log_format() != "json") return;
  static JsonSink sink;
  FLAGS_logtostderr = false;
  FLAGS_stderrthreshold = google::GLOG_FATAL + 1;
  for (int severity = google::GLOG_INFO; severity <= google::GLOG_FATAL; ++severity) {
    google::SetLogDestination(severity, "");
  }
  google::AddLogSink(&sink);
  UseJsonLines(std::cerr, "error");
}

}  // namespace grapevine
