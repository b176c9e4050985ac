// An experiment whose nodes are threads joined by the in-memory transport: runs over gRPC and in
// the simulator are compared with it, bit for bit.
#ifndef GRAPEVINE_TESTS_PROCESS_MEMORY_RUN_H_
#define GRAPEVINE_TESTS_PROCESS_MEMORY_RUN_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "experiment/core/experiment.h"

namespace grapevine::testing {

// Trains to the end, and writes below `run` the models that a real run writes: every worker's and
// the averaged one. Returns the payload in bytes that went through the transport.
absl::StatusOr<int64_t> TrainInMemory(const Experiment& experiment, const std::string& run);

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_PROCESS_MEMORY_RUN_H_
