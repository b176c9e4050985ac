// Synthetic run directories for tests.
#ifndef GRAPEVINE_TESTS_REPORT_RUN_FOLDER_H_
#define GRAPEVINE_TESTS_REPORT_RUN_FOLDER_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace grapevine {

inline void WriteText(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

// An empty folder for the running test.
inline std::string FreshFolder() {
  const std::string path =
      ::testing::TempDir() + "/" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

inline void WriteRun(const std::string& path, const std::string& config,
                     const std::string& metrics) {
  WriteText(path + "/config.textproto", config);
  WriteText(path + "/metrics.jsonl", metrics);
}

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_REPORT_RUN_FOLDER_H_
