#include "system/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "system/file_descriptor.h"

namespace grapevine {

absl::StatusOr<std::unique_ptr<MappedFile>> MappedFile::Open(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  struct stat info;
  if (fstat(descriptor, &info) != 0) {
    const int error = errno;
    close(descriptor);
    return absl::ErrnoToStatus(error, absl::StrCat("cannot stat ", path));
  }
  if (!S_ISREG(info.st_mode)) {
    close(descriptor);
    return absl::InvalidArgumentError(absl::StrCat(path, " is not a regular file"));
  }
  const size_t size = static_cast<size_t>(info.st_size);
  void* data = nullptr;
  if (size > 0) {
    data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  }
  const int error = errno;
  close(descriptor);
  if (data == MAP_FAILED) return absl::ErrnoToStatus(error, absl::StrCat("cannot map ", path));
  return std::unique_ptr<MappedFile>(new MappedFile(static_cast<const uint8_t*>(data), size));
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<uint8_t*>(data_), size_);
}

namespace {

absl::Status SystemError(int error, std::string_view what, const std::string& path) {
  return absl::ErrnoToStatus(error, absl::StrCat(std::string(what), " ", path));
}

// A rename is durable only once its folder is on the disk.
absl::Status SyncFolderOf(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  return SyncFolder(parent.empty() ? "." : parent.string());
}

// A rename would put a file in the place of a device, a pipe or a link to one.
absl::Status CheckReplaceable(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat(path, " exists and is not a regular file; choose another name"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<AtomicFile>> AtomicFile::Create(std::string path) {
  RETURN_IF_ERROR(CheckReplaceable(path));
  std::string temporary = absl::StrCat(path, ".tmp.", getpid());
  const int descriptor = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) return SystemError(errno, "cannot create", temporary);
  return std::unique_ptr<AtomicFile>(
      new AtomicFile(std::move(path), std::move(temporary), descriptor));
}

AtomicFile::AtomicFile(std::string path, std::string temporary, int descriptor)
    : path_(std::move(path)), temporary_(std::move(temporary)), descriptor_(descriptor) {}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  unlink(temporary_.c_str());
}

absl::Status AtomicFile::Append(std::string_view bytes) {
  const int error = WriteAll(descriptor_, bytes);
  return error == 0 ? absl::OkStatus() : SystemError(error, "cannot write", temporary_);
}

absl::Status AtomicFile::Commit() {
  if (fsync(descriptor_) != 0) return SystemError(errno, "cannot flush", temporary_);
  if (close(std::exchange(descriptor_, -1)) != 0) {
    const int error = errno;
    unlink(temporary_.c_str());
    return SystemError(error, "cannot close", temporary_);
  }
  if (rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    unlink(temporary_.c_str());
    return SystemError(error, "cannot rename to", path_);
  }
  return SyncFolderOf(path_);
}

absl::Status SyncFolder(const std::string& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return SystemError(errno, "cannot open folder", folder);
  // Some file systems refuse to fsync a folder; the files in it are safe then.
  (void)fsync(descriptor);
  close(descriptor);
  return absl::OkStatus();
}

absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes) {
  ASSIGN_OR_RETURN(std::unique_ptr<AtomicFile> file, AtomicFile::Create(path));
  RETURN_IF_ERROR(file->Append(bytes));
  return file->Commit();
}

}  // namespace grapevine
