#include "run/config_file.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <limits>
#include <memory>

#include "absl/strings/str_cat.h"
#include "run/config_field.h"
#include "run/failure.h"
#include "system/mapped_file.h"

namespace grapevine {
namespace {

using google::protobuf::TextFormat;

absl::Status At(const std::string& path, int line, std::string_view what) {
  return WithFailure(
      absl::InvalidArgumentError(absl::StrCat(path, ":", line, ": ", std::string(what))),
      Failure::kUsage);
}

// Keeps the first error; the parser counts lines from 0.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  explicit FirstError(const std::string& path) : path_(path) {}
  void AddError(int line, int, const std::string& message) override {
    if (status_.ok()) status_ = At(path_, line + 1, message);
  }
  const absl::Status& status() const { return status_; }

 private:
  const std::string& path_;
  absl::Status status_;
};

// Reads the value again as a flag would be read: checks and canonicalizes it.
absl::Status Reread(const ConfigField& field, Config* config) {
  return SetField(field, FieldText(field, *config), config);
}

}  // namespace

absl::StatusOr<ConfigFile> ReadConfigFile(const std::string& path) {
  const absl::StatusOr<std::unique_ptr<MappedFile>> file = MappedFile::Open(path);
  if (!file.ok()) return WithFailure(file.status(), Failure::kInput);
  const auto bytes = (*file)->bytes();
  if (bytes.size() > std::numeric_limits<int>::max()) {
    return WithFailure(absl::InvalidArgumentError(absl::StrCat(
                           path, ": is no configuration: it has ", bytes.size(), " bytes")),
                       Failure::kInput);
  }
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  FirstError errors(path);
  TextFormat::ParseInfoTree positions;
  TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.WriteLocationsTo(&positions);
  ConfigFile result;
  if (!parser.Parse(&stream, &result.config)) {
    return errors.status().ok() ? At(path, 1, "is no textproto of grapevine.Config")
                                : errors.status();
  }
  for (const ConfigField* field : ConfigFields()) {
    if (!HasField(*field, result.config)) continue;
    const int index = field->is_repeated() ? 0 : -1;
    const int line = positions.GetLocation(field, index).line + 1;
    result.line[field->name()] = line;
    if (absl::Status status = Reread(*field, &result.config); !status.ok()) {
      return At(path, line, absl::StrCat(field->name(), ": ", std::string(status.message())));
    }
  }
  return result;
}

std::string ConfigFileText(const Config& config) {
  Config kept = config;
  for (const ConfigField* field : ConfigFields()) {
    if (InfoOf(*field).section() == CLUSTER) ClearField(*field, &kept);
  }
  TextFormat::Printer printer;
  printer.SetUseUtf8StringEscaping(true);
  std::string text;
  printer.PrintToString(kept, &text);
  return text;
}

}  // namespace grapevine
