// The end of a program that has too little memory for its task: it says so and ends with exit code
// 1, instead of aborting.
//
// One setting per process, made before other threads exist.
#ifndef GRAPEVINE_CLI_TERMINAL_OUT_OF_MEMORY_H_
#define GRAPEVINE_CLI_TERMINAL_OUT_OF_MEMORY_H_

#include <string>

#include "run/config/config.pb.h"

namespace grapevine {

// Returns "out of memory for --model=lenet5 --batch=16; …": what was asked for, the limit of
// `ulimit -v` if one is set, and what helps.
std::string OutOfMemoryText(const Config& config);

// Makes an allocation that fails from now on, on any thread, write `line` to standard error and end
// the process.
void EndWhenOutOfMemory(std::string line);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_TERMINAL_OUT_OF_MEMORY_H_
