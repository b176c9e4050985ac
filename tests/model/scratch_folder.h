// A test's own folder, and files in it.
#ifndef GRAPEVINE_TESTS_MODEL_SCRATCH_FOLDER_H_
#define GRAPEVINE_TESTS_MODEL_SCRATCH_FOLDER_H_

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace grapevine {

// Initially empty, removed at the end. Thread-compatible.
class ScratchFolder {
 public:
  ScratchFolder() : path_(Name()) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string path() const { return path_.string(); }
  std::string File(const std::string& name) const { return (path_ / name).string(); }

  // Writes a file and returns its path.
  std::string Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(File(name), std::ios::binary) << bytes;
    return File(name);
  }

 private:
  static std::filesystem::path Name() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    return std::filesystem::path(::testing::TempDir()) /
           (std::string(test->test_suite_name()) + "." + test->name());
  }

  std::filesystem::path path_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_MODEL_SCRATCH_FOLDER_H_
