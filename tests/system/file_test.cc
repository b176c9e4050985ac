// Files written aside and files mapped.
#include "system/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace grapevine {
namespace {

using ::testing::HasSubstr;

// What the disk says of folders in this test; 0 is that all is well.
int folder_error = 0;
// What the file system says of links.
int link_error = 0;

}  // namespace

extern "C" int link(const char* from, const char* to) {
  if (link_error == 0) return static_cast<int>(syscall(SYS_link, from, to));
  errno = link_error;
  return -1;
}

extern "C" int fsync(int descriptor) {
  struct stat info = {};
  if (folder_error != 0 && fstat(descriptor, &info) == 0 && S_ISDIR(info.st_mode)) {
    errno = folder_error;
    return -1;
  }
  return static_cast<int>(syscall(SYS_fsync, descriptor));
}

namespace {

std::string Read(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

class FileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "/" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  size_t Files() const { return std::distance(std::filesystem::directory_iterator(folder_), {}); }
  std::string folder_;
};

TEST_F(FileTest, NothingIsVisibleBeforeCommitAndNothingIsLeftWithoutIt) {
  const std::string path = folder_ + "/model";
  {
    auto file = *AtomicFile::Create(path);
    ASSERT_TRUE(file->Append("half").ok());
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  EXPECT_EQ(Files(), 0u);
}

TEST_F(FileTest, CommitReplacesTheOldFileWhole) {
  const std::string path = folder_ + "/model";
  ASSERT_TRUE(WriteFileAtomically(path, "old").ok());
  ASSERT_TRUE(WriteFileAtomically(path, "new").ok());
  EXPECT_EQ(Read(path), "new");
  EXPECT_EQ(Files(), 1u);
}

TEST_F(FileTest, ErrorsNameThePathAndTheReason) {
  const auto file = AtomicFile::Create(folder_ + "/missing/model");
  EXPECT_THAT(std::string(file.status().message()), HasSubstr(folder_ + "/missing/model"));
  EXPECT_THAT(std::string(file.status().message()), HasSubstr("No such file"));
  const absl::Status full = WriteFileAtomically("/dev/full/x", "y");
  EXPECT_THAT(std::string(full.message()), HasSubstr("Not a directory"));
}

TEST_F(FileTest, TwoWritersOfOneNameKeepApartAndTheLastToCommitWins) {
  const std::string path = folder_ + "/model";
  auto first = *AtomicFile::Create(path);
  auto second = *AtomicFile::Create(path);  // as by another container's process of the same number
  EXPECT_EQ(Files(), 2u);
  ASSERT_TRUE(first->Append("first").ok());
  ASSERT_TRUE(second->Append("second").ok());
  ASSERT_TRUE(second->Commit().ok());
  ASSERT_TRUE(first->Commit().ok());
  EXPECT_EQ(Read(path), "first");
  EXPECT_EQ(Files(), 1u);
}

TEST_F(FileTest, WhatADeadWriterLeftIsRemovedAndNotWhatIsBeingWritten) {
  const std::string dead = folder_ + "/model.tmp.1";
  std::ofstream(dead) << "half";
  auto file = *AtomicFile::Create(folder_ + "/model");
  size_t removed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    removed += AtomicFile::RemoveIfAbandoned(entry.path());
  }
  EXPECT_EQ(removed, 1u);
  EXPECT_FALSE(std::filesystem::exists(dead));
  ASSERT_TRUE(file->Append("whole").ok());
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(Read(folder_ + "/model"), "whole");
  EXPECT_FALSE(AtomicFile::RemoveIfAbandoned(folder_ + "/none"));
}

TEST_F(FileTest, ANewFileTakesNoOthersPlace) {
  const std::string path = folder_ + "/model";
  const auto create = [&](const char* text) {
    const auto file = *AtomicFile::Create(path);
    EXPECT_TRUE(file->Append(text).ok());
    return *file->CommitAsNew();
  };
  EXPECT_TRUE(create("first"));
  EXPECT_FALSE(create("second"));
  EXPECT_EQ(Read(path), "first");
  EXPECT_EQ(Files(), 1u);
}

TEST_F(FileTest, ANewFileTakesNoOthersPlaceOnAFileSystemWithoutLinksEither) {
  link_error = EPERM;
  const std::string path = folder_ + "/model";
  const auto create = [&](const char* text) {
    const auto file = *AtomicFile::Create(path);
    EXPECT_TRUE(file->Append(text).ok());
    return *file->CommitAsNew();
  };
  EXPECT_TRUE(create("first"));
  EXPECT_FALSE(create("second"));
  link_error = 0;
  EXPECT_EQ(Read(path), "first");
  EXPECT_EQ(Files(), 1u);
}

TEST_F(FileTest, ADiskThatFailsToKeepTheFolderIsAnError) {
  folder_error = EIO;
  const absl::Status failed = WriteFileAtomically(folder_ + "/model", "x");
  EXPECT_THAT(std::string(failed.message()), HasSubstr("cannot flush folder " + folder_));
  folder_error = EINVAL;  // a file system that has no such call
  EXPECT_TRUE(WriteFileAtomically(folder_ + "/model", "x").ok());
  folder_error = 0;
}

TEST_F(FileTest, MapsWholeFilesAndRefusesOthers) {
  const std::string path = folder_ + "/data";
  std::ofstream(path) << "12345";
  const auto file = *MappedFile::Open(path);
  EXPECT_EQ(std::string(file->bytes().begin(), file->bytes().end()), "12345");
  std::ofstream(folder_ + "/empty").close();
  EXPECT_TRUE((*MappedFile::Open(folder_ + "/empty"))->bytes().empty());
  EXPECT_THAT(std::string(MappedFile::Open(folder_).status().message()),
              HasSubstr("is not a regular file"));
  EXPECT_THAT(std::string(MappedFile::Open(folder_ + "/none").status().message()),
              HasSubstr("cannot open " + folder_ + "/none"));
}

TEST_F(FileTest, APipeIsNotWaitedFor) {
  const std::string pipe = folder_ + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const absl::Status& refused : {MappedFile::Open(pipe).status(), ReadFile(pipe).status()}) {
    EXPECT_EQ(std::string(refused.message()), pipe + " is not a regular file");
  }
  EXPECT_FALSE(FileLock::IsHeld(pipe));
}

TEST_F(FileTest, ReadsWholeFiles) {
  const std::string bytes(200000, 'x');
  std::ofstream(folder_ + "/data") << bytes;
  EXPECT_EQ(*ReadFile(folder_ + "/data"), bytes);
  std::ofstream(folder_ + "/empty").close();
  EXPECT_EQ(*ReadFile(folder_ + "/empty"), "");
  EXPECT_THAT(std::string(ReadFile(folder_ + "/none").status().message()),
              HasSubstr("cannot open " + folder_ + "/none"));
}

}  // namespace
}  // namespace grapevine
