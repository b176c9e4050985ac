// The files that a configuration names: a graph, weights, a network, a profile.
#ifndef GRAPEVINE_EXPERIMENT_SWEEP_INPUT_FILES_H_
#define GRAPEVINE_EXPERIMENT_SWEEP_INPUT_FILES_H_

#include <string>
#include <vector>

#include "run/config/config.pb.h"

namespace grapevine {

// Every file that exists and that a setting of the run names as its value (--init-from) or as a
// part of its spec ("file:PATH", "profile:PATH:device=cpu"), in the order of config.proto. Folders,
// as of data sets, are not among them. Safe from any thread; reads the file system.
std::vector<std::string> InputFiles(const Config& config);

// Which they are: a line each with path, size, place (inode) and time of the last write, so that
// one is told from another that replaced it, however old that is.
std::string InputFilesText(const Config& config);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_SWEEP_INPUT_FILES_H_
