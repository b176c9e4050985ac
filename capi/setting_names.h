// Messages of the program, rewritten for other programs: flags become settings.
#ifndef GRAPEVINE_CAPI_SETTING_NAMES_H_
#define GRAPEVINE_CAPI_SETTING_NAMES_H_

#include <string>
#include <string_view>

namespace grapevine {

// Returns the message with "--step-timeout=10s" as "step_timeout=10s", and "--bind" as "bind".
// Leaves other dashes: those inside words and paths, those that no name follows, and those in a
// command of the program, "grapevine train --record=FILE".
std::string WithSettingNames(std::string_view message);

}  // namespace grapevine

#endif  // GRAPEVINE_CAPI_SETTING_NAMES_H_
