// The command line that repeats a run.
#ifndef GRAPEVINE_REPORT_REPEAT_COMMAND_H_
#define GRAPEVINE_REPORT_REPEAT_COMMAND_H_

#include <string>

#include "run/config/config.pb.h"

namespace grapevine {

// `grapevine sim` for a simulated run, else `grapevine train`, with a flag for every setting of the
// run that is not its default; quoted for a shell. Where the run was and what it wrote is left out,
// so that it becomes a new run on this machine. Pure.
std::string RepeatCommand(const Config& config);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_REPEAT_COMMAND_H_
