// The section that says how to repeat a run, and what its settings were.
#include <string>
#include <vector>

#include "report/comparison.h"
#include "report/curve.h"
#include "report/page/sections.h"
#include "run/config/config_field.h"

namespace grapevine {
namespace {

// A run directory keeps no settings of the section CLUSTER, and a real run has no simulated
// cluster.
bool IsKept(const ConfigField& field, const Config& config) {
  const Section section = InfoOf(field).section();
  return section != CLUSTER && (section != SIMULATION || IsSimulated(config));
}

// Returns the settings under the names of their flags.
Table SettingsOf(const Config& config, bool at_their_defaults) {
  Table table{{"setting", "value"}, {}};
  for (const ConfigField* field : ConfigFields()) {
    const std::string value = ReadableSetting(*field, config);
    const bool usual = value == FieldText(*field, Config());
    if (value.empty() || usual != at_their_defaults || !IsKept(*field, config)) continue;
    table.rows.push_back({FlagName(*field).substr(2), value});
  }
  return table;
}

}  // namespace

absl::StatusOr<PageBlocks> SettingsBlocks(const RecordedRun& run) {
  return PageBlocks{
      CommandBlock(RepeatCommand(run.config)),
      TableBlock("Settings other than the defaults", SettingsOf(run.config, false)),
      FoldedTableBlock("All other settings, at their defaults", SettingsOf(run.config, true))};
}

}  // namespace grapevine
