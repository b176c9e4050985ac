// `grapevine topology --optimize`: its flags, and what it prints and writes.
#ifndef GRAPEVINE_CLI_COMMANDS_TOPOLOGY_OPTIMIZATION_H_
#define GRAPEVINE_CLI_COMMANDS_TOPOLOGY_OPTIMIZATION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/ids.h"
#include "cli/flags/command_line.h"
#include "cli/flags/config_flags.h"

namespace grapevine {

// Settings for which `topology` has flags even without --optimize.
struct OptimizedTopology {
  Rank nodes = 4;
  uint64_t seed = 1;
  bool json = false;
  std::string out;  // empty: no files
};

// The flags of --optimize. Must live as long as the command.
class TopologyOptimization {
 public:
  // Declares --optimize and the flags that need it; --optimize excludes `others`.
  TopologyOptimization(Command command, const std::vector<Flag>& others);

  bool given() const { return optimize_.given(); }
  absl::Status Run(const OptimizedTopology& options) const;

 private:
  Flag optimize_;
  int32_t degree_ = 0;
  int64_t budget_;
  Flag fixed_;
  ConfigFlags cluster_;
};

std::shared_ptr<const TopologyOptimization> DeclareOptimization(Command command,
                                                                const std::vector<Flag>& others);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_COMMANDS_TOPOLOGY_OPTIMIZATION_H_
