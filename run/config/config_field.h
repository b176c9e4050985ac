// The fields of Config as users see them: flags, environment variables and text.
//
// Everything here is derived from run/config/config.proto by reflection. Thread-safe: descriptors
// are immutable and live forever.
#ifndef GRAPEVINE_RUN_CONFIG_CONFIG_FIELD_H_
#define GRAPEVINE_RUN_CONFIG_CONFIG_FIELD_H_

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "run/config/config.pb.h"

namespace grapevine {

using ConfigField = google::protobuf::FieldDescriptor;

// Returns all fields, in the order of config.proto.
std::vector<const ConfigField*> ConfigFields();
// Returns the field called `name` ("peer_timeout"), which must exist.
const ConfigField& ConfigFieldNamed(std::string_view name);
// Returns the field that is meant by `name`, which is not the name of a field: an alias
// ("learning_rate") or a typing error. Null if no field's name is near.
const ConfigField* ConfigFieldMeantBy(std::string_view name);

const FieldInfo& InfoOf(const ConfigField& field);
std::string FlagName(const ConfigField& field);      // "--peer-timeout"
std::string VariableName(const ConfigField& field);  // "GRAPEVINE_PEER_TIMEOUT"
// Returns the flags for a field's aliases: "--learning-rate".
std::vector<std::string> FlagAliases(const ConfigField& field);
bool IsSwitch(const ConfigField& field);  // a bool
// Whether the field says what a run is: the experiment, what computes it, or the cluster that is
// simulated. Fields that say where a run is, what it writes, and how long it waits for others do
// not. Runs that differ in a field that describes them are different runs.
bool DescribesRun(const ConfigField& field);

// Whether a value is set. A default does not count.
bool HasField(const ConfigField& field, const Config& config);
void ClearField(const ConfigField& field, Config* config);
// Parses a value and stores it in canonical form, replacing an earlier one. The elements of a
// repeated field are separated by commas. Errors say what is wrong with the text, without naming
// the field.
absl::Status SetField(const ConfigField& field, std::string_view text, Config* config);
// Returns the text of the value, or else of the default; "" if there is neither.
std::string FieldText(const ConfigField& field, const Config& config);

// Returns the value of a duration in a resolved configuration.
std::chrono::nanoseconds ResolvedDuration(std::string_view text);
// Returns the value of a time-out in a resolved configuration, in whole milliseconds.
std::chrono::milliseconds ResolvedTimeout(std::string_view text);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CONFIG_CONFIG_FIELD_H_
