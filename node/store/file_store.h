// FileStore is a store in a folder that all nodes share: on one machine's disk, or on a file server
// (NFS 4 and others with locks and atomic renames).
//
// Every call takes the folder's lock (system/file.h) and sees all changes before it. Each file is
// written aside, fsynced and renamed, so that a process that dies leaves a whole store and no lock.
// The rules for leases:
//
// - A lease is a file, and its last KeepAlive is the time stamp of that file, which the file server
//   sets. The lease has expired once the time stamp that the server gives to a file touched now is
//   later than that by more than the time to live. No machine's own clock enters.
// - A key that was written under a lease exists while the file of the lease exists and has not
//   expired. A later call, of any process, removes what has expired.
// - KeepAlive also looks at the keys that this process has written under the lease. If another
//   process has taken one of them, for whatever reason, the lease is no longer worth anything.
//
// A client of a file server remembers which names do not exist. A process that has the lock
// therefore opens the folders, which makes such a client ask anew, and makes a new key by a call
// that the server itself refuses if the key exists.
//
// AwaitChange polls, at last every half second.
#ifndef GRAPEVINE_NODE_STORE_FILE_STORE_H_
#define GRAPEVINE_NODE_STORE_FILE_STORE_H_

#include <functional>
#include <memory>
#include <string>

#include "node/store/store.h"
#include "system/deadline.h"

namespace grapevine {

class FileStore final : public Store {
 public:
  // `folder` is made when it is first needed; its parent must exist.
  explicit FileStore(std::string folder);
  ~FileStore() override;

  const std::string& name() const override { return name_; }
  absl::StatusOr<std::optional<StoredValue>> Get(std::string_view key,
                                                 StoreDeadline deadline) override;
  absl::StatusOr<StoreRevision> Put(std::string_view key, std::string_view value, LeaseId lease,
                                    StoreDeadline deadline) override;
  absl::StatusOr<std::optional<StoreRevision>> CompareAndSwap(std::string_view key,
                                                              StoreRevision expected,
                                                              std::string_view value, LeaseId lease,
                                                              StoreDeadline deadline) override;
  absl::StatusOr<bool> Delete(std::string_view key, StoreDeadline deadline) override;
  absl::StatusOr<LeaseId> Grant(std::chrono::milliseconds time_to_live,
                                StoreDeadline deadline) override;
  absl::Status KeepAlive(LeaseId lease, StoreDeadline deadline) override;
  absl::Status Revoke(LeaseId lease, StoreDeadline deadline) override;
  absl::StatusOr<std::optional<StoredValue>> AwaitChange(std::string_view key, StoreRevision known,
                                                         StoreDeadline deadline) override;

 private:
  class Folder;

  // Calls `work` with the folder locked, on a thread that a file server may hold for ever.
  template <typename Result>
  absl::StatusOr<Result> Locked(StoreDeadline deadline,
                                std::function<absl::StatusOr<Result>(Folder&)> work);

  const std::string name_;
  const std::shared_ptr<Folder> folder_;  // shared with a call that may never return
  BoundedCall calls_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_STORE_FILE_STORE_H_
