// Files written aside and files mapped.
#include "system/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace grapevine {
namespace {

using ::testing::HasSubstr;

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

}  // namespace
}  // namespace grapevine
