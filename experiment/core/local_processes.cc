#include "experiment/core/local_processes.h"

#include <cstdlib>
#include <string_view>

#include "absl/strings/numbers.h"

namespace grapevine {

int LocalProcesses() {
  for (const char* variable : {"LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"}) {
    const char* const text = std::getenv(variable);
    int processes = 0;
    if (text != nullptr && absl::SimpleAtoi(text, &processes) && processes > 0) return processes;
  }
  return 1;
}

}  // namespace grapevine
