// A key that one process at a time holds, by a lease that it keeps alive: a role in a run, and who
// has it. Whoever reads the key sees the holder's words and the revision that fences what it does.
//
// A holder that dies, or cannot reach the store for as long as its time to live, no longer holds
// it: the key goes, and somebody else may take it, with a larger fence.
//
// Thread-safe.
#ifndef GRAPEVINE_NODE_STORE_HELD_KEY_H_
#define GRAPEVINE_NODE_STORE_HELD_KEY_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "node/store/store.h"
#include "system/mutex.h"

namespace grapevine {

struct HeldKeyOptions {
  std::string key;
  std::string words;  // of the holder, about itself; no two processes have the same
  std::chrono::milliseconds time_to_live{10000};
  // It is no longer held, for this reason. From a thread of its own, at most once.
  std::function<void(const absl::Status& why)> on_lost = [](const absl::Status&) {};
};

class HeldKey {
 public:
  // An error to give up waiting with.
  using Interrupted = std::function<absl::Status()>;
  // One of the two.
  struct Taken {
    std::unique_ptr<HeldKey> held;
    std::optional<StoredValue> holder;  // somebody else, and what that has written
  };

  // Takes the key if nobody holds it. Where somebody does, waits for as long as a holder that has
  // died would keep it: a time to live and a little more, but not past `deadline`. A store that is
  // away is asked again until then.
  static absl::StatusOr<Taken> Take(std::shared_ptr<Store> store, HeldKeyOptions options,
                                    StoreDeadline deadline, const Interrupted& interrupted);
  // Lets go, within a moment even if the store is away; its lease sees to it then.
  ~HeldKey();
  HeldKey(const HeldKey&) = delete;
  HeldKey& operator=(const HeldKey&) = delete;

  // The revision that created the key: larger than those of all holders before.
  StoreRevision fence() const { return fence_; }

 private:
  HeldKey(std::shared_ptr<Store> store, HeldKeyOptions options, LeaseId lease, StoreRevision fence,
          StoreDeadline granted);

  // No value if somebody else was faster.
  static absl::StatusOr<std::unique_ptr<HeldKey>> TryTake(const std::shared_ptr<Store>& store,
                                                          const HeldKeyOptions& options,
                                                          StoreDeadline deadline);
  void Keep(StoreDeadline granted);
  // False when it is to end.
  bool Pause(std::chrono::milliseconds time);

  const std::shared_ptr<Store> store_;
  const HeldKeyOptions options_;
  const LeaseId lease_;
  const StoreRevision fence_;

  Mutex mutex_;
  Condition changed_;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread keeper_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_STORE_HELD_KEY_H_
