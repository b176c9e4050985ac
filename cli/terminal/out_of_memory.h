// What the program does when there is no memory for what it was asked to do: it says so and ends
// with exit code 1, instead of aborting.
//
// One setting per process, made before other threads exist.
#ifndef GRAPEVINE_CLI_TERMINAL_OUT_OF_MEMORY_H_
#define GRAPEVINE_CLI_TERMINAL_OUT_OF_MEMORY_H_

#include <string>

#include "run/config/config.pb.h"

namespace grapevine {

// "out of memory for --model=lenet5 --batch=16; …": what was asked for, the limit of `ulimit -v` if
// there is one, and what helps.
std::string OutOfMemoryText(const Config& config);

// From now on an allocation that fails, on any thread, writes `line` to standard error and ends the
// process.
void EndWhenOutOfMemory(std::string line);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_TERMINAL_OUT_OF_MEMORY_H_
