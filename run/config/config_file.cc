#include "run/config/config_file.h"

#include <google/protobuf/text_format.h>

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status.h"
#include "run/config/config_field.h"
#include "run/text_proto.h"

namespace grapevine {
namespace {

using google::protobuf::TextFormat;

// Reads the value again as a flag would be read, to check it and make it canonical.
absl::Status Reread(const ConfigField& field, Config* config) {
  const std::string text = FieldText(field, *config);
  // A terminal would obey a control character wherever the value is shown, even that of somebody
  // else's run.
  if (const std::string shown = Printable(text, text.npos); shown != text) {
    return UsageError(absl::StrCat("has a control character: ", shown));
  }
  return SetField(field, text, config);
}

// Reads all values again, and notes their lines.
absl::StatusOr<ConfigFile> Checked(const std::string& path, ConfigFile result,
                                   const TextFormat::ParseInfoTree& positions) {
  for (const ConfigField* field : ConfigFields()) {
    if (!HasField(*field, result.config)) continue;
    const int index = field->is_repeated() ? 0 : -1;
    const int line = positions.GetLocation(field, index).line + 1;
    result.line[field->name()] = line;
    if (absl::Status status = Reread(*field, &result.config); !status.ok()) {
      return ErrorAtLine(path, line,
                         absl::StrCat(field->name(), ": ", std::string(status.message())),
                         Failure::kUsage);
    }
  }
  return result;
}

}  // namespace

absl::StatusOr<ConfigFile> ReadConfigFile(const std::string& path) {
  ConfigFile file;
  TextFormat::ParseInfoTree positions;
  RETURN_IF_ERROR(ReadTextProto(path, Failure::kUsage, &file.config, &positions));
  return Checked(path, std::move(file), positions);
}

absl::StatusOr<ConfigFile> ParseConfigText(const std::string& name, std::string_view text) {
  ConfigFile file;
  TextFormat::ParseInfoTree positions;
  RETURN_IF_ERROR(ParseTextProto(name, text, Failure::kUsage, &file.config, &positions));
  return Checked(name, std::move(file), positions);
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

std::string ExperimentText(const Config& config) {
  std::string text;
  for (const ConfigField* field : ConfigFields()) {
    if (InfoOf(*field).section() != EXPERIMENT) continue;
    // A run of R rounds has no epochs, whatever the default of epochs is.
    const bool void_epochs = field->name() == "epochs" && config.has_rounds();
    absl::StrAppend(&text, field->name(), "=",
                    void_epochs ? "" : absl::CEscape(FieldText(*field, config)), "\n");
  }
  return text;
}

}  // namespace grapevine
