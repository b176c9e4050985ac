// A store that all nodes of a run can reach: small values under keys, which change by comparison
// alone where several would write, and vanish with whoever kept them alive.
//
// It is for what must outlive any one node: where rank 0 is, and who has its role (HeldKey). Each
// change of the store has a revision, larger than all before. A key that is written under a lease
// goes when the lease does: when its holder revokes it, or fails to keep it alive for its time to
// live. The revision that created a key fences what its holder does: a later holder's is larger.
//
// Every call has a deadline and ends soon after it. Unavailable says which store does not answer,
// for how long it was asked, and the remedy; the change that was asked for may have happened all
// the same. InvalidArgument refuses a key or a value out of bounds.
//
// Thread-safety: all methods from any thread.
#ifndef GRAPEVINE_NODE_STORE_STORE_H_
#define GRAPEVINE_NODE_STORE_STORE_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "system/boot_clock.h"
#include "system/mutex.h"

namespace grapevine {

using StoreRevision = int64_t;  // from 1; 0: of a key that does not exist
using LeaseId = int64_t;        // 0: no lease
using StoreDeadline = std::chrono::steady_clock::time_point;

struct StoredValue {
  std::string value;           // any bytes
  StoreRevision created = 0;   // by which change the key came to exist
  StoreRevision modified = 0;  // by which it got this value
  LeaseId lease = 0;

  friend bool operator==(const StoredValue&, const StoredValue&) = default;
};

class Store {
 public:
  static constexpr size_t kMaxKey = 100;  // bytes, of any kind; at least one
  static constexpr size_t kMaxValue = size_t{64} << 10;
  static constexpr std::chrono::seconds kMinTimeToLive{1};
  static constexpr std::chrono::hours kMaxTimeToLive{24};

  virtual ~Store() = default;

  // For messages: "etcd at 10.0.0.1:2379".
  virtual const std::string& name() const = 0;

  // No value if the key does not exist.
  virtual absl::StatusOr<std::optional<StoredValue>> Get(std::string_view key,
                                                         StoreDeadline deadline) = 0;
  // Writes whatever was there. NotFound if the lease has gone.
  virtual absl::StatusOr<StoreRevision> Put(std::string_view key, std::string_view value,
                                            LeaseId lease, StoreDeadline deadline) = 0;
  // Writes if the key was last modified by `expected` (0: does not exist). No value if it was not:
  // somebody else was first. Of several that expect the same, one writes. NotFound as Put.
  virtual absl::StatusOr<std::optional<StoreRevision>> CompareAndSwap(std::string_view key,
                                                                      StoreRevision expected,
                                                                      std::string_view value,
                                                                      LeaseId lease,
                                                                      StoreDeadline deadline) = 0;
  // Whether it existed.
  virtual absl::StatusOr<bool> Delete(std::string_view key, StoreDeadline deadline) = 0;

  // A lease that lives for `time_to_live` from now on and from each KeepAlive; a store may give a
  // little more time, never less.
  virtual absl::StatusOr<LeaseId> Grant(std::chrono::milliseconds time_to_live,
                                        StoreDeadline deadline) = 0;
  // NotFound if the lease has gone, and with it its keys.
  virtual absl::Status KeepAlive(LeaseId lease, StoreDeadline deadline) = 0;
  // Ends it at once, with its keys; OK if it has gone already.
  virtual absl::Status Revoke(LeaseId lease, StoreDeadline deadline) = 0;

  // Waits until the key's last change is not `known` (0: it did not exist), and returns what is
  // there then; at the deadline, what has not changed. Changes in between may be missed, never
  // the last one.
  virtual absl::StatusOr<std::optional<StoredValue>> AwaitChange(std::string_view key,
                                                                 StoreRevision known,
                                                                 StoreDeadline deadline) = 0;
};

// The change that made it what it is.
inline StoreRevision RevisionOf(const std::optional<StoredValue>& value) {
  return value ? value->modified : 0;
}

// For implementations. InvalidArgument names what is out of bounds.
absl::Status CheckStoreKey(std::string_view key);
absl::Status CheckStoreValue(std::string_view value);
absl::Status CheckTimeToLive(std::chrono::milliseconds time_to_live);

// Unavailable: "NAME did not answer within 2.0 s: WHY; REMEDY".
absl::Status StoreAway(const std::string& name, std::chrono::nanoseconds asked,
                       std::string_view why, std::string_view remedy);

struct HeldKeyOptions {
  std::string key;
  std::string words;  // of the holder, about itself; no two processes have the same
  std::chrono::milliseconds time_to_live{10000};
  bool waits = true;  // until a holder that may have died is forgotten; else it is told at once
  // It is no longer held, for this reason. From a thread of its own, at most once.
  std::function<void(const absl::Status& why)> on_lost = [](const absl::Status&) {};
};

// A key that one process at a time holds, by a lease that it keeps alive: a role in a run, and who
// has it. Whoever reads the key sees the holder's words and the revision that fences what it does.
//
// A holder that dies, or cannot reach the store for as long as its time to live, no longer holds
// it: the key goes, and somebody else may take it, with a larger fence.
class HeldKey {
 public:
  // An error to give up waiting with.
  using Interrupted = std::function<absl::Status()>;
  // One of the two.
  struct Taken {
    std::unique_ptr<HeldKey> held;
    std::optional<StoredValue> holder;  // somebody else, and what that has written
  };

  // Takes the key if nobody holds it. Where somebody does, waits (`waits`) for as long as a holder
  // that has died would keep it: a time to live and a little more, but not past `deadline`. A store
  // that is away is asked again until then.
  static absl::StatusOr<Taken> Take(std::shared_ptr<Store> store, HeldKeyOptions options,
                                    StoreDeadline deadline, const Interrupted& interrupted);
  // Lets go, within a moment even if the store is away; its lease sees to it then.
  ~HeldKey();
  HeldKey(const HeldKey&) = delete;
  HeldKey& operator=(const HeldKey&) = delete;

  // The revision that created the key: larger than those of all holders before.
  StoreRevision fence() const { return fence_; }
  // Whether it is held at this moment for certain: the store cannot have given the key to anybody
  // else yet, however long this process, or its machine, has stood still. Never waits.
  bool IsHeld() const { return BootClock::now() < held_until_.load(); }

 private:
  // What was granted counts from when it was asked for.
  struct Asked {
    StoreDeadline at = std::chrono::steady_clock::now();
    BootClock::time_point by_all_clocks = BootClock::now();
  };

  HeldKey(std::shared_ptr<Store> store, HeldKeyOptions options, LeaseId lease, StoreRevision fence,
          Asked asked);

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
  std::atomic<BootClock::time_point> held_until_;

  Mutex mutex_;
  Condition changed_;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread keeper_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_STORE_STORE_H_
