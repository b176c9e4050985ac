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

// All fields, in the order of config.proto.
std::vector<const ConfigField*> ConfigFields();
// The field called `name` ("peer_timeout"), which must exist.
const ConfigField& ConfigFieldNamed(std::string_view name);
// The field that `name` means, which is none's: an alias ("learning_rate") or a typing error; null
// where none is near.
const ConfigField* ConfigFieldMeantBy(std::string_view name);

const FieldInfo& InfoOf(const ConfigField& field);
std::string FlagName(const ConfigField& field);      // "--peer-timeout"
std::string VariableName(const ConfigField& field);  // "GRAPEVINE_PEER_TIMEOUT"
// "--learning-rate".
std::vector<std::string> FlagAliases(const ConfigField& field);
bool IsSwitch(const ConfigField& field);  // a bool
// Whether it says what a run is: the experiment, what computes it, or the cluster that is
// simulated; not where it is, what it writes and how long it waits for others. Runs that differ in
// such a field are different ones.
bool DescribesRun(const ConfigField& field);

// Whether a value is set; a default does not count.
bool HasField(const ConfigField& field, const Config& config);
void ClearField(const ConfigField& field, Config* config);
// Parses a value and stores it in canonical form, replacing an earlier one. The elements of a
// repeated field are separated by commas. Errors say what is wrong with the text, without naming
// the field.
absl::Status SetField(const ConfigField& field, std::string_view text, Config* config);
// The inverse: the value, or else the default; "" if there is neither.
std::string FieldText(const ConfigField& field, const Config& config);

// The value of a duration in a resolved configuration.
std::chrono::nanoseconds ResolvedDuration(std::string_view text);
// The same for a time-out, in whole milliseconds.
std::chrono::milliseconds ResolvedTimeout(std::string_view text);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CONFIG_CONFIG_FIELD_H_
