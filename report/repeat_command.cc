#include "report/repeat_command.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "report/curve.h"
#include "run/config/config_field.h"
#include "run/config/sweep_cells.h"

namespace grapevine {
namespace {

bool MeansTheSameToAShell(char c) {
  constexpr std::string_view kPlain = "@%+=:,./_-";
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || kPlain.find(c) != kPlain.npos;
}

std::string ShellQuoted(const std::string& text) {
  if (!text.empty() && std::ranges::all_of(text, MeansTheSameToAShell)) return text;
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

bool IsRepeated(const ConfigField& field) {
  const Section section = InfoOf(field).section();
  return section == EXPERIMENT || section == RUNTIME || section == SIMULATION;
}

}  // namespace

std::string RepeatCommand(const Config& config) {
  std::string command = IsSimulated(config) ? "grapevine sim" : "grapevine train";
  for (const ConfigField* field : ConfigFields()) {
    if (!IsRepeated(*field) || !HasField(*field, config)) continue;
    const std::string value = FieldText(*field, config);
    if (value == FieldText(*field, Config())) continue;
    const std::string flag = FlagName(*field);
    const std::string text = absl::StrCat(flag, "=", ListElement(value));
    absl::StrAppend(&command, " ", IsSwitch(*field) ? flag : ShellQuoted(text));
  }
  return command;
}

}  // namespace grapevine
