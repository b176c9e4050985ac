#include "node/store/file_store.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "node/store/mvcc.pb.h"
#include "system/file.h"
#include "system/file_descriptor.h"

namespace grapevine {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr char kRemedy[] =
    "is it on a disk that all nodes share, mounted, with room, and may this user write there?";

// Returns the error of a store that fails as a whole: Unavailable, whatever the errno, because
// NotFound stands for a lease that has ended.
absl::Status SystemError(int error, std::string_view what, const std::string& path) {
  const absl::Status status =
      absl::ErrnoToStatus(error, absl::StrCat(std::string(what), " ", path));
  return absl::UnavailableError(status.message());
}

absl::Status Broken(const std::string& path) {
  return absl::DataLossError(absl::StrCat(path, " is not of a store; remove it"));
}

// Returns the error of a file server's client that does not see a file which the server has.
absl::Status OutOfDate(const std::string& path) {
  return absl::UnavailableError(
      absl::StrCat(path, " is there, and this machine does not see it yet"));
}

absl::Status MakeFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0777) == 0 || errno == EEXIST) return absl::OkStatus();
  return SystemError(errno, "cannot make the folder", path);
}

// Returns the contents of the file; no value if the file does not exist.
absl::StatusOr<std::optional<std::string>> Read(const std::string& path) {
  absl::StatusOr<std::unique_ptr<MappedFile>> file = MappedFile::Open(path);
  if (absl::IsNotFound(file.status())) return std::nullopt;
  RETURN_IF_ERROR(file.status());
  return std::string((*file)->bytes().begin(), (*file)->bytes().end());
}

absl::StatusOr<std::optional<int64_t>> ReadNumber(const std::string& path) {
  ASSIGN_OR_RETURN(const std::optional<std::string> text, Read(path));
  if (!text) return std::nullopt;
  int64_t number = 0;
  if (!absl::SimpleAtoi(*text, &number) || number < 0) return Broken(path);
  return number;
}

// Gives the file the current time of its server.
absl::Status Touch(const std::string& path) {
  if (utimensat(AT_FDCWD, path.c_str(), nullptr, 0) == 0) return absl::OkStatus();
  return SystemError(errno, "cannot touch", path);
}

// Returns the time stamp of the file. Opens the file rather than looking it up: a client of a file
// server then asks the server anew.
absl::StatusOr<nanoseconds> TouchedAt(const std::string& path) {
  const UniqueDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info = {};
  if (!file.open() || fstat(file.get(), &info) != 0) {
    return SystemError(errno, "cannot read the time of", path);
  }
  return std::chrono::seconds(info.st_mtim.tv_sec) + nanoseconds(info.st_mtim.tv_nsec);
}

// Opens the folder, so that a client of a file server asks anew which names exist in it.
absl::Status OpenFolder(const std::string& path) {
  const UniqueDescriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat info = {};
  if (folder.open() && fstat(folder.get(), &info) == 0) return absl::OkStatus();
  return SystemError(errno, "cannot open the folder", path);
}

absl::Status Remove(const std::string& path) {
  std::error_code error;
  fs::remove(path, error);
  return error ? SystemError(error.value(), "cannot remove", path) : absl::OkStatus();
}

}  // namespace

// The files of the store. All methods but Lock must be called with the lock held. The files are:
//
//   revision      the last revision that was used
//   clock         touched, to learn the server's time
//   keys/HEX      mvccpb.KeyValue
//   leases/ID     the time to live in nanoseconds; touched by KeepAlive
class FileStore::Folder {
 public:
  explicit Folder(std::string path) : path_(std::move(path)) {}

  absl::StatusOr<FileLock> Lock(StoreDeadline deadline) {
    constexpr const char* kFolders[] = {"", "/keys", "/leases"};
    for (const char* folder : kFolders) {
      RETURN_IF_ERROR(MakeFolder(absl::StrCat(path_, folder)));
    }
    absl::StatusOr<FileLock> lock = FileLock::Take(absl::StrCat(path_, "/lock"), deadline);
    if (!lock.ok()) return absl::UnavailableError(lock.status().message());
    for (const char* folder : kFolders) {
      RETURN_IF_ERROR(OpenFolder(absl::StrCat(path_, folder)));
    }
    return lock;
  }

  absl::StatusOr<std::optional<StoredValue>> Get(const std::string& key) {
    ASSIGN_OR_RETURN(const Entry entry, Look(key));
    return entry.value;
  }

  absl::StatusOr<StoreRevision> Put(const std::string& key, const std::string& value,
                                    LeaseId lease) {
    ASSIGN_OR_RETURN(const Entry before, Look(key));
    return Write(key, before, value, lease);
  }

  absl::StatusOr<std::optional<StoreRevision>> CompareAndSwap(const std::string& key,
                                                              StoreRevision expected,
                                                              const std::string& value,
                                                              LeaseId lease) {
    ASSIGN_OR_RETURN(const Entry before, Look(key));
    if (RevisionOf(before.value) != expected) return std::nullopt;
    ASSIGN_OR_RETURN(const StoreRevision revision, Write(key, before, value, lease));
    return revision;
  }

  absl::StatusOr<bool> Delete(const std::string& key) {
    ASSIGN_OR_RETURN(const std::optional<StoredValue> before, Get(key));
    RETURN_IF_ERROR(Remove(KeyFile(key)));
    Forget(key);
    return before.has_value();
  }

  absl::StatusOr<LeaseId> Grant(nanoseconds time_to_live) {
    RETURN_IF_ERROR(Sweep());
    ASSIGN_OR_RETURN(const LeaseId lease, NextRevision());
    RETURN_IF_ERROR(WriteFileAtomically(LeaseFile(lease), absl::StrCat(time_to_live.count())));
    RETURN_IF_ERROR(Touch(LeaseFile(lease)));
    return lease;
  }

  absl::StatusOr<bool> KeepAlive(LeaseId lease) {
    RETURN_IF_ERROR(RequireAlive(lease));
    for (const std::string& key : written_[lease]) {
      ASSIGN_OR_RETURN(const std::optional<StoredValue> found, Get(key));
      if (!found || found->lease != lease) {
        return absl::NotFoundError(absl::StrCat("the key ", key, " in the folder ", path_,
                                                " is no longer this lease's: it was ",
                                                found ? "written by another" : "removed"));
      }
    }
    RETURN_IF_ERROR(Touch(LeaseFile(lease)));
    return true;
  }

  absl::StatusOr<bool> Revoke(LeaseId lease) {
    written_.erase(lease);
    RETURN_IF_ERROR(Remove(LeaseFile(lease)));
    RETURN_IF_ERROR(Sweep());
    return true;
  }

 private:
  // The state of a key.
  struct Entry {
    std::optional<StoredValue> value;
    bool expired = false;  // whether the key has a file although it has no value
  };

  absl::StatusOr<Entry> Look(const std::string& key) {
    const std::string path = KeyFile(key);
    ASSIGN_OR_RETURN(const std::optional<std::string> text, Read(path));
    if (!text) return Entry{};
    mvccpb::KeyValue found;
    if (!found.ParseFromString(*text) || found.key() != key || found.mod_revision() <= 0) {
      return Broken(path);
    }
    if (found.lease() != 0) {
      ASSIGN_OR_RETURN(const bool alive, Alive(found.lease()));
      if (!alive) return Entry{.expired = true};
    }
    return Entry{.value = StoredValue{.value = found.value(),
                                      .created = found.create_revision(),
                                      .modified = found.mod_revision(),
                                      .lease = found.lease()}};
  }

  absl::StatusOr<StoreRevision> Write(const std::string& key, const Entry& before,
                                      const std::string& value, LeaseId lease) {
    RETURN_IF_ERROR(RequireAlive(lease));
    ASSIGN_OR_RETURN(const StoreRevision revision, NextRevision());
    mvccpb::KeyValue written;
    written.set_key(key);
    written.set_value(value);
    written.set_create_revision(before.value ? before.value->created : revision);
    written.set_mod_revision(revision);
    written.set_lease(lease);
    const std::string path = KeyFile(key);
    if (before.expired) RETURN_IF_ERROR(Remove(path));
    ASSIGN_OR_RETURN(const std::unique_ptr<AtomicFile> file, AtomicFile::Create(path));
    RETURN_IF_ERROR(file->Append(written.SerializeAsString()));
    if (before.value) {
      RETURN_IF_ERROR(file->Commit());
    } else {
      ASSIGN_OR_RETURN(const bool created, file->CommitAsNew());
      if (!created) return OutOfDate(path);
    }
    Forget(key);
    if (lease != 0) written_[lease].insert(key);
    return revision;
  }

  void Forget(const std::string& key) {
    for (auto& [lease, keys] : written_) keys.erase(key);
  }

  // Returns the file of a key. The name is in hexadecimal: a key may hold any byte, a file name
  // only some.
  std::string KeyFile(const std::string& key) const {
    return absl::StrCat(path_, "/keys/", absl::BytesToHexString(key));
  }
  // Returns the key whose file this is; nullopt if it is not a file of a key.
  std::optional<std::string> KeyOf(const fs::path& path) const {
    const std::string name = path.filename().string();
    if (name.size() % 2 != 0 || !std::ranges::all_of(name, absl::ascii_isxdigit)) {
      return std::nullopt;
    }
    std::string key = absl::HexStringToBytes(name);
    if (KeyFile(key) != path) return std::nullopt;
    return key;
  }
  std::string LeaseFile(LeaseId lease) const { return absl::StrCat(path_, "/leases/", lease); }

  // Returns a new revision. It counts as used before its change is written: after a crash a
  // revision may be missing, but none is used twice.
  absl::StatusOr<StoreRevision> NextRevision() {
    const std::string path = absl::StrCat(path_, "/revision");
    ASSIGN_OR_RETURN(const std::optional<int64_t> last, ReadNumber(path));
    const StoreRevision next = last.value_or(0) + 1;
    RETURN_IF_ERROR(WriteFileAtomically(path, absl::StrCat(next)));
    return next;
  }

  absl::StatusOr<nanoseconds> Now() {
    const std::string path = absl::StrCat(path_, "/clock");
    const UniqueDescriptor clock(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    if (!clock.open()) return SystemError(errno, "cannot open", path);
    RETURN_IF_ERROR(Touch(path));
    return TouchedAt(path);
  }

  absl::StatusOr<bool> Alive(LeaseId lease) {
    const std::string path = LeaseFile(lease);
    ASSIGN_OR_RETURN(const std::optional<int64_t> time_to_live, ReadNumber(path));
    if (!time_to_live) return false;
    ASSIGN_OR_RETURN(const nanoseconds touched, TouchedAt(path));
    ASSIGN_OR_RETURN(const nanoseconds now, Now());
    return now - touched <= nanoseconds(*time_to_live);
  }

  absl::Status RequireAlive(LeaseId lease) {
    if (lease == 0) return absl::OkStatus();
    ASSIGN_OR_RETURN(const bool alive, Alive(lease));
    if (alive) return absl::OkStatus();
    return absl::NotFoundError(absl::StrCat("the lease in the folder ", path_, " has gone"));
  }

  // Removes what has expired, keys first: a lease that has gone would leave them for ever.
  absl::Status Sweep() {
    ASSIGN_OR_RETURN(const std::vector<fs::path> keys, Files("keys"));
    for (const fs::path& path : keys) {
      const std::optional<std::string> key = KeyOf(path);
      if (!key) continue;
      ASSIGN_OR_RETURN(const std::optional<StoredValue> value, Get(*key));
      if (!value) RETURN_IF_ERROR(Remove(path));
    }
    ASSIGN_OR_RETURN(const std::vector<fs::path> leases, Files("leases"));
    for (const fs::path& path : leases) {
      LeaseId lease = 0;
      if (!absl::SimpleAtoi(path.filename().string(), &lease)) continue;
      ASSIGN_OR_RETURN(const bool alive, Alive(lease));
      if (!alive) RETURN_IF_ERROR(Remove(path));
    }
    RemoveHalfWritten("");
    RemoveHalfWritten("keys");
    RemoveHalfWritten("leases");
    return absl::OkStatus();
  }

  // Removes the files that processes were writing aside when they died.
  void RemoveHalfWritten(const char* inner) const {
    std::error_code error;
    for (const fs::directory_entry& entry :
         fs::directory_iterator(fs::path(path_) / inner, error)) {
      const fs::path& path = entry.path();
      if (absl::StrContains(path.filename().string(), ".tmp.")) {
        AtomicFile::RemoveIfAbandoned(path.string());
      }
    }
  }

  // Returns the files of an inner folder, without those written aside by processes that live or
  // have died.
  absl::StatusOr<std::vector<fs::path>> Files(const char* inner) const {
    std::error_code error;
    std::vector<fs::path> files;
    const fs::path folder = fs::path(path_) / inner;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
      if (!entry.path().has_extension()) files.push_back(entry.path());
    }
    if (error) return SystemError(error.value(), "cannot list", folder);
    return files;
  }

  const std::string path_;
  // The keys that this process has written under each lease and not rewritten or deleted since; for
  // KeepAlive.
  std::map<LeaseId, std::set<std::string>> written_;
};

FileStore::FileStore(std::string folder)
    : name_(absl::StrCat("the folder ", folder)),
      folder_(std::make_shared<Folder>(std::move(folder))) {}

FileStore::~FileStore() = default;

template <typename Result>
absl::StatusOr<Result> FileStore::Locked(StoreDeadline deadline,
                                         std::function<absl::StatusOr<Result>(Folder&)> work) {
  const steady_clock::time_point begin = steady_clock::now();
  auto result = std::make_shared<absl::StatusOr<Result>>(absl::UnknownError("no result"));
  const auto call = [result, folder = folder_, deadline, work = std::move(work)] {
    const absl::StatusOr<FileLock> lock = folder->Lock(deadline);
    *result = lock.ok() ? work(*folder) : lock.status();
  };
  // The margin lets a wait for the lock fail first, because its error says more than that the
  // deadline is over.
  constexpr milliseconds kMoment{250};
  if (!calls_.Run(call, deadline + kMoment)) {
    return StoreAway(name_, steady_clock::now() - begin, "its disk does not answer", kRemedy);
  }
  if (result->ok() || absl::IsNotFound(result->status()) || absl::IsDataLoss(result->status())) {
    return std::move(*result);
  }
  return StoreAway(name_, steady_clock::now() - begin, std::string(result->status().message()),
                   kRemedy);
}

absl::StatusOr<std::optional<StoredValue>> FileStore::Get(std::string_view key,
                                                          StoreDeadline deadline) {
  RETURN_IF_ERROR(CheckStoreKey(key));
  return Locked<std::optional<StoredValue>>(
      deadline, [key = std::string(key)](Folder& folder) { return folder.Get(key); });
}

absl::StatusOr<StoreRevision> FileStore::Put(std::string_view key, std::string_view value,
                                             LeaseId lease, StoreDeadline deadline) {
  RETURN_IF_ERROR(CheckStoreKey(key));
  RETURN_IF_ERROR(CheckStoreValue(value));
  return Locked<StoreRevision>(
      deadline, [key = std::string(key), value = std::string(value), lease](Folder& folder) {
        return folder.Put(key, value, lease);
      });
}

absl::StatusOr<std::optional<StoreRevision>> FileStore::CompareAndSwap(std::string_view key,
                                                                       StoreRevision expected,
                                                                       std::string_view value,
                                                                       LeaseId lease,
                                                                       StoreDeadline deadline) {
  RETURN_IF_ERROR(CheckStoreKey(key));
  RETURN_IF_ERROR(CheckStoreValue(value));
  return Locked<std::optional<StoreRevision>>(
      deadline, [key = std::string(key), expected, value = std::string(value), lease](
                    Folder& folder) { return folder.CompareAndSwap(key, expected, value, lease); });
}

absl::StatusOr<bool> FileStore::Delete(std::string_view key, StoreDeadline deadline) {
  RETURN_IF_ERROR(CheckStoreKey(key));
  return Locked<bool>(deadline,
                      [key = std::string(key)](Folder& folder) { return folder.Delete(key); });
}

absl::StatusOr<LeaseId> FileStore::Grant(milliseconds time_to_live, StoreDeadline deadline) {
  RETURN_IF_ERROR(CheckTimeToLive(time_to_live));
  return Locked<LeaseId>(deadline,
                         [time_to_live](Folder& folder) { return folder.Grant(time_to_live); });
}

absl::Status FileStore::KeepAlive(LeaseId lease, StoreDeadline deadline) {
  return Locked<bool>(deadline, [lease](Folder& folder) { return folder.KeepAlive(lease); })
      .status();
}

absl::Status FileStore::Revoke(LeaseId lease, StoreDeadline deadline) {
  return Locked<bool>(deadline, [lease](Folder& folder) { return folder.Revoke(lease); }).status();
}

absl::StatusOr<std::optional<StoredValue>> FileStore::AwaitChange(std::string_view key,
                                                                  StoreRevision known,
                                                                  StoreDeadline deadline) {
  constexpr milliseconds kFirstLook{20}, kLastLook{500};
  for (milliseconds wait = kFirstLook;; wait = std::min(2 * wait, kLastLook)) {
    ASSIGN_OR_RETURN(std::optional<StoredValue> value, Get(key, deadline));
    const steady_clock::time_point now = steady_clock::now();
    if (RevisionOf(value) != known || now >= deadline) return value;
    std::this_thread::sleep_until(std::min(now + wait, deadline));
  }
}

}  // namespace grapevine
