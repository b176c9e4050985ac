// Store holds small values under keys, for all nodes of a run. Where several nodes may write, a
// value changes only by compare-and-swap, and a key can vanish with the process that keeps it
// alive.
//
// A store is for what must outlive any one node: the address of rank 0, and the holder of its role
// (HeldKey). Each change of the store has a revision, larger than all before. A key that is written
// under a lease is removed when the lease ends: when its holder revokes it, or fails to keep it
// alive for its time to live. The revision that created a key fences what the key's holder does:
// the revision of a later holder is larger.
//
// Every call has a deadline and ends soon after it. Unavailable says which store does not answer,
// for how long it was asked, and the remedy; the change that was asked for may have happened all
// the same. InvalidArgument refuses a key or a value out of bounds.
//
// Thread-safety: all methods may be called from any thread.
#ifndef GRAPEVINE_NODE_STORE_STORE_H_
#define GRAPEVINE_NODE_STORE_STORE_H_

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
#include "node/life/role/lease_term.h"
#include "system/mutex.h"

namespace grapevine {

using StoreRevision = int64_t;  // from 1; 0 for a key that does not exist
using LeaseId = int64_t;        // 0: no lease
using StoreDeadline = std::chrono::steady_clock::time_point;

struct StoredValue {
  std::string value;           // any bytes
  StoreRevision created = 0;   // revision of the change that created the key
  StoreRevision modified = 0;  // revision of the change that gave the key this value
  LeaseId lease = 0;

  friend bool operator==(const StoredValue&, const StoredValue&) = default;
};

class Store {
 public:
  static constexpr size_t kMaxKey = 100;  // bytes, of any value; a key has at least one
  static constexpr size_t kMaxValue = size_t{64} << 10;
  static constexpr std::chrono::seconds kMinTimeToLive{1};
  static constexpr std::chrono::hours kMaxTimeToLive{24};

  virtual ~Store() = default;

  // Returns the store's name for messages: "etcd at 10.0.0.1:2379".
  virtual const std::string& name() const = 0;

  // Returns the value of `key`; no value if the key does not exist.
  virtual absl::StatusOr<std::optional<StoredValue>> Get(std::string_view key,
                                                         StoreDeadline deadline) = 0;
  // Writes `value`, whether or not the key exists, and returns the revision of the change. Returns
  // NotFound if the lease has ended.
  virtual absl::StatusOr<StoreRevision> Put(std::string_view key, std::string_view value,
                                            LeaseId lease, StoreDeadline deadline) = 0;
  // Writes `value` if the key was last modified by revision `expected` (0: the key does not exist),
  // and returns the revision of the change. Returns no value if it was not: another writer was
  // first. Of several callers that expect the same revision, one writes. Returns NotFound if the
  // lease has ended.
  virtual absl::StatusOr<std::optional<StoreRevision>> CompareAndSwap(std::string_view key,
                                                                      StoreRevision expected,
                                                                      std::string_view value,
                                                                      LeaseId lease,
                                                                      StoreDeadline deadline) = 0;
  // Deletes `key`; returns whether it existed.
  virtual absl::StatusOr<bool> Delete(std::string_view key, StoreDeadline deadline) = 0;

  // Makes a lease that lives for `time_to_live` from now on and from each KeepAlive. A store may
  // give a little more time, never less.
  virtual absl::StatusOr<LeaseId> Grant(std::chrono::milliseconds time_to_live,
                                        StoreDeadline deadline) = 0;
  // Renews a lease. Returns NotFound if the lease has ended, and with it its keys.
  virtual absl::Status KeepAlive(LeaseId lease, StoreDeadline deadline) = 0;
  // Ends a lease at once, with its keys; OK if it has ended already.
  virtual absl::Status Revoke(LeaseId lease, StoreDeadline deadline) = 0;

  // Waits until the revision of the key's last change is not `known` (0: the key does not exist),
  // and returns the value then. At the deadline, returns the value that has not changed. Changes in
  // between may be missed, but never the last one.
  virtual absl::StatusOr<std::optional<StoredValue>> AwaitChange(std::string_view key,
                                                                 StoreRevision known,
                                                                 StoreDeadline deadline) = 0;
};

// Returns the revision of the change that gave `value`; 0 for no value.
inline StoreRevision RevisionOf(const std::optional<StoredValue>& value) {
  return value ? value->modified : 0;
}

// Checks for implementations of Store; InvalidArgument names what is out of bounds.
absl::Status CheckStoreKey(std::string_view key);
absl::Status CheckStoreValue(std::string_view value);
absl::Status CheckTimeToLive(std::chrono::milliseconds time_to_live);

// Returns Unavailable: "NAME did not answer within 2.0 s: WHY; REMEDY".
absl::Status StoreAway(const std::string& name, std::chrono::nanoseconds asked,
                       std::string_view why, std::string_view remedy);

struct HeldKeyOptions {
  std::string key;
  std::string words;  // what the holder says about itself; no two processes may use the same words
  std::chrono::milliseconds time_to_live{10000};
  // Whether Take waits until a holder that may have died is forgotten; if not, Take reports the
  // holder at once.
  bool waits = true;
  // Called with the reason when the key is no longer held; at most once, on a thread of its own.
  std::function<void(const absl::Status& why)> on_lost = [](const absl::Status&) {};
};

// A key that one process at a time holds, by a lease that the process keeps alive: a role in a run.
// A reader of the key sees the holder's words and the revision that fences what the holder does.
//
// A holder that dies, or cannot reach the store for as long as its time to live, no longer holds
// the key: the key goes, and another process may take it, with a larger fence.
class HeldKey {
 public:
  // Returns the error with which to give up waiting; OK to go on.
  using Interrupted = std::function<absl::Status()>;
  // The outcome of Take: one of the two is set.
  struct Taken {
    std::unique_ptr<HeldKey> held;
    std::optional<StoredValue> holder;  // another process, and the value that it has written
  };

  // Takes the key if no process holds it. If one does and `options.waits`, waits for as long as a
  // holder that has died would keep the key, a time to live and a little more, but not past
  // `deadline`. Asks a store that does not answer again until `deadline`.
  static absl::StatusOr<Taken> Take(std::shared_ptr<Store> store, HeldKeyOptions options,
                                    StoreDeadline deadline, const Interrupted& interrupted);
  // Lets the key go, within a moment even if the store does not answer: the lease then ends by
  // itself.
  ~HeldKey();
  HeldKey(const HeldKey&) = delete;
  HeldKey& operator=(const HeldKey&) = delete;

  // Returns the revision that created the key, which is larger than those of all holders before.
  StoreRevision fence() const { return fence_; }
  // Whether the key is certainly held at this moment: the store cannot have given it to another
  // process yet, however long this process, or its machine, has stood still. Never waits.
  bool IsHeld();

 private:
  HeldKey(std::shared_ptr<Store> store, HeldKeyOptions options, LeaseId lease, StoreRevision fence,
          LeaseTerm::Time asked);

  // Returns null if another process was faster.
  static absl::StatusOr<std::unique_ptr<HeldKey>> TryTake(const std::shared_ptr<Store>& store,
                                                          const HeldKeyOptions& options,
                                                          StoreDeadline deadline);
  void Keep();
  // Asks the store to renew the lease. Returns the reason if the lease is lost.
  absl::Status Renew();
  // Waits until the lease is to be renewed; returns false once the keeper is to end.
  bool Pause();

  const std::shared_ptr<Store> store_;
  const HeldKeyOptions options_;
  const LeaseId lease_;
  const StoreRevision fence_;

  Mutex mutex_;
  Condition changed_;
  LeaseTerm term_ ABSL_GUARDED_BY(mutex_);
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread keeper_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_STORE_STORE_H_
