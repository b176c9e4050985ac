#include "experiment/real/write_right.h"

#include <glog/logging.h>

#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "base/status.h"
#include "node/discovery/role_lease.h"
#include "run/records/run_directory.h"
#include "system/mutex.h"

namespace grapevine {
namespace {

class Right {
 public:
  explicit Right(WriteRightOptions options) : options_(std::move(options)) {}

  absl::Status Carry(const std::function<absl::Status()>& change) {
    TakeLock();
    RETURN_IF_ERROR(AwaitLease());
    return change();
  }

 private:
  absl::Status AwaitLease() const {
    RoleLease* const lease = options_.place == nullptr ? nullptr : options_.place->lease();
    if (lease == nullptr) return absl::OkStatus();
    return lease->Await(options_.patience);
  }

  void TakeLock() {
    MutexLock lock(mutex_);
    if (!options_.locks || lock_ != nullptr) return;
    absl::StatusOr<std::unique_ptr<const RunLock>> taken =
        RunLock::Take(options_.run_directory, absl::Now());
    if (taken.ok()) {
      lock_ = *std::move(taken);
    } else {
      VLOG(1) << taken.status();
    }
  }

  const WriteRightOptions options_;
  Mutex mutex_;
  std::unique_ptr<const RunLock> lock_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

WriteGuard WriteRight(WriteRightOptions options) {
  return [right = std::make_shared<Right>(std::move(options))](
             const std::function<absl::Status()>& change) { return right->Carry(change); };
}

}  // namespace grapevine
