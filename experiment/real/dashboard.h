// Serves the page of --dashboard: the page of `grapevine report` about a run, while the run goes
// on. The page comes from rank 0's process, whether that is a node's own or another program's.
//
// The page is put together from the run's files when somebody asks for it, on a thread of its own;
// training knows nothing of it.
#ifndef GRAPEVINE_EXPERIMENT_REAL_DASHBOARD_H_
#define GRAPEVINE_EXPERIMENT_REAL_DASHBOARD_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "node/telemetry/http_server.h"
#include "run/config/config.pb.h"

namespace grapevine {

// Returns a server that serves the page of the run in `run_directory` until it is destroyed; null
// without --dashboard, and on other ranks than 0. kUsage if the flag is no [ADDR:]PORT, kRendezvous
// if the port is taken.
absl::StatusOr<std::unique_ptr<HttpServer>> OpenDashboard(const Config& config, Rank rank,
                                                          const std::string& run_directory);

// Returns a line that says where the page will be; empty without --dashboard. Errors are those of
// OpenDashboard, if rank 0 will run on this machine.
absl::StatusOr<std::string> DashboardText(const Config& config);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_DASHBOARD_H_
