// Whether two nodes were started for the same experiment.
#ifndef GRAPEVINE_RUN_CONFIG_HASH_H_
#define GRAPEVINE_RUN_CONFIG_HASH_H_

#include <cstdint>
#include <string>

#include "run/config.pb.h"

namespace grapevine {

// The fields of section EXPERIMENT as "name=value" lines, defaults included:
// equal texts mean the same experiment. Short enough to travel in a handshake.
std::string ExperimentText(const Config& config);

// A 64-bit FNV-1a hash of ExperimentText; the same on every machine.
uint64_t ConfigHash(const Config& config);

// The fields in which two ExperimentTexts differ, for an error message:
// "topology is ring here, torus there; lr is 0.05 here, 0.1 there". Empty when
// they agree. Either text may be hostile.
std::string ExperimentDifference(const std::string& here, const std::string& there);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CONFIG_HASH_H_
