#include "cli/terminal/logging.h"

#include <glog/logging.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/time/time.h"
#include "cli/terminal/json_lines.h"
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

// Writes every log line in one call, so that lines of several processes do not mix.
class LineSink : public google::LogSink {
 public:
  void send(google::LogSeverity severity, const char*, const char* file, int line,
            const google::LogMessageTime& time, const char* message, size_t length) override {
    const std::string text = (json_ ? AsJson(severity, file, line, time, {message, length})
                                    : ToString(severity, file, line, time, message, length)) +
                             "\n";
    MutexLock lock(mutex_);
    // A fatal line ends the process.
    if (writer_ != nullptr && severity != google::GLOG_FATAL) {
      writer_->Write(text);
    } else {
      (void)!write(STDERR_FILENO, text.data(), text.size());
    }
  }

  // To be called before threads log.
  void UseJson() { json_ = true; }
  // Null: the sink writes by itself.
  void WriteTo(BackgroundWriter* writer) {
    MutexLock lock(mutex_);
    writer_ = writer;
  }

 private:
  bool json_ = false;
  Mutex mutex_;
  BackgroundWriter* writer_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

// One per process, like glog's settings.
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

}  // namespace grapevine
