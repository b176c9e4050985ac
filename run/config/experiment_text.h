// What a run is, as text that two nodes, or two run directories, can compare.
#ifndef GRAPEVINE_RUN_CONFIG_EXPERIMENT_TEXT_H_
#define GRAPEVINE_RUN_CONFIG_EXPERIMENT_TEXT_H_

#include <string>

#include "run/config/config.pb.h"

namespace grapevine {

// The fields of section EXPERIMENT as "name=value" lines, defaults included:
// equal texts mean the same experiment.
std::string ExperimentText(const Config& config);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CONFIG_EXPERIMENT_TEXT_H_
