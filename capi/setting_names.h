// Messages of the program, for other programs: what is a flag there is a setting here.
#ifndef GRAPEVINE_CAPI_SETTING_NAMES_H_
#define GRAPEVINE_CAPI_SETTING_NAMES_H_

#include <string>
#include <string_view>

namespace grapevine {

// The message with "--step-timeout=10s" as "step_timeout=10s", and "--bind" as "bind". Other dashes
// stay: those inside words and paths, those that no name follows, and a command of the program's,
// "grapevine train --record=FILE".
std::string WithSettingNames(std::string_view message);

}  // namespace grapevine

#endif  // GRAPEVINE_CAPI_SETTING_NAMES_H_
