#include "run/records/run_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/status.h"
#include "run/config/config_file.h"
#include "run/records/output_file.h"

namespace grapevine {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

void Write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string Read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class RunDirectoryTest : public ::testing::Test {
 protected:
  RunDirectoryTest() {
    root_ = ::testing::TempDir() + "/" +
            ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(root_);
    fs::create_directories(root_);
    config_.set_seed(7);
    config_.set_revision("abc");
    config_.set_out(root_ + "/run");
  }

  std::string ErrorOf(const absl::Status& status) {
    EXPECT_EQ(FailureOf(status), Failure::kOutput);
    return std::string(status.message());
  }

  std::string root_;
  Config config_;
  const absl::Time now_ = absl::FromUnixSeconds(1763642003);
};

TEST_F(RunDirectoryTest, HoldsTheConfiguration) {
  ASSERT_TRUE(CheckRunDirectory(config_).ok());
  const auto run = CreateRunDirectory(config_, now_);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->path, config_.out());
  const auto read = ReadConfigFile(ConfigPath(run->path));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->config.seed(), 7u);
  EXPECT_EQ(read->config.revision(), "abc");
}

TEST_F(RunDirectoryTest, MayBeAnEmptyFolder) {
  fs::create_directories(config_.out());
  EXPECT_TRUE(CreateRunDirectory(config_, now_).ok());
}

TEST_F(RunDirectoryTest, IsNotReplacedUnasked) {
  ASSERT_TRUE(CreateRunDirectory(config_, now_).ok());
  const std::string why = ErrorOf(CreateRunDirectory(config_, now_).status());
  EXPECT_EQ(why, config_.out() +
                     " holds an earlier run; choose another --out, or replace it with --overwrite");
  EXPECT_EQ(ErrorOf(CheckRunDirectory(config_)), why);
}

TEST_F(RunDirectoryTest, IsWrittenByOneAtATime) {
  config_.set_overwrite(true);
  absl::StatusOr<LockedFolder> first = CreateRunDirectory(config_, now_);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(WriteSummary(config_.out(), Summary()).ok());
  const std::string why = ErrorOf(CreateRunDirectory(config_, now_).status());
  EXPECT_THAT(why, HasSubstr(config_.out() + " is being written by process "));
  EXPECT_EQ(ErrorOf(CheckRunDirectory(config_)), why);
  EXPECT_TRUE(fs::exists(SummaryPath(config_.out()))) << "nothing of it was removed";
  first->lock.reset();
  EXPECT_TRUE(CheckRunDirectory(config_).ok());
  EXPECT_TRUE(CreateRunDirectory(config_, now_).ok());
}

// As by one that was killed before it had written anything else.
TEST_F(RunDirectoryTest, MayBeAFolderWithALockThatNobodyHolds) {
  fs::create_directories(config_.out());
  Write(config_.out() + "/run.lock", "process 1 on a host of old");
  EXPECT_TRUE(CheckRunDirectory(config_).ok());
  EXPECT_TRUE(CreateRunDirectory(config_, now_).ok());
}

TEST_F(RunDirectoryTest, LosesOnlyItsOwnFilesWhenReplaced) {
  ASSERT_TRUE(CreateRunDirectory(config_, now_).ok());
  ASSERT_TRUE(CreateNodeDirectory(config_.out(), 12).ok());
  ASSERT_TRUE(WriteSummary(config_.out(), Summary()).ok());
  for (const char* name :
       {"metrics.jsonl", "model.safetensors", "trace.json", "notes.txt", "node-local"}) {
    Write(config_.out() + "/" + name, "x");
  }
  config_.set_overwrite(true);
  config_.set_seed(8);
  ASSERT_TRUE(CreateRunDirectory(config_, now_).ok());
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(config_.out())) {
    names.push_back(entry.path().filename().string());
  }
  EXPECT_THAT(names,
              ::testing::UnorderedElementsAre("config.textproto", "notes.txt", "node-local"));
  EXPECT_EQ(ReadConfigFile(ConfigPath(config_.out()))->config.seed(), 8u);
}

TEST_F(RunDirectoryTest, MayHoldTheTraceBeforeItExists) {
  for (const std::string& out : {root_ + "/run", root_ + "/run/", root_ + "/./run"}) {
    config_.set_out(out);
    config_.set_trace(root_ + "/run/trace.json");
    EXPECT_TRUE(CheckRecordings(config_).ok()) << out;
    EXPECT_FALSE(fs::exists(root_ + "/run"));
    config_.set_trace(root_ + "/other/trace.json");
    EXPECT_THAT(ErrorOf(CheckRecordings(config_)), HasSubstr("other/trace.json")) << out;
  }
}

// Where nodes share no file system, nobody has looked at a node's folder before.
TEST_F(RunDirectoryTest, ANodesFolderHoldsOneRun) {
  const std::string node = NodeDirectory(config_.out(), 3);
  EXPECT_EQ(*PrepareNodeDirectory(config_.out(), 3, false), node);
  // Empty so far: nothing to lose.
  EXPECT_EQ(*PrepareNodeDirectory(config_.out(), 3, false), node);
  for (const char* file : {"metrics.jsonl", "model.safetensors"}) {
    Write(node + "/" + file, "an earlier run's");
    Write(node + "/notes.txt", "somebody's");
    const std::string error = ErrorOf(PrepareNodeDirectory(config_.out(), 3, false).status());
    EXPECT_THAT(error, HasSubstr(node + " holds an earlier run"));
    EXPECT_THAT(error, HasSubstr("--overwrite"));
    EXPECT_EQ(*PrepareNodeDirectory(config_.out(), 3, true), node);
    EXPECT_FALSE(fs::exists(node + "/" + file));
    EXPECT_TRUE(fs::exists(node + "/notes.txt"));
  }
}

TEST_F(RunDirectoryTest, NeverReplacesAFolderThatIsNotItsOwn) {
  fs::create_directories(config_.out());
  Write(config_.out() + "/thesis.tex", "x");
  config_.set_overwrite(true);
  EXPECT_THAT(ErrorOf(CreateRunDirectory(config_, now_).status()),
              HasSubstr("is not a run directory (it has no config.textproto)"));
  EXPECT_EQ(Read(config_.out() + "/thesis.tex"), "x");
}

TEST_F(RunDirectoryTest, IsNotAFile) {
  Write(config_.out(), "x");
  EXPECT_THAT(ErrorOf(CreateRunDirectory(config_, now_).status()), HasSubstr("is not a folder"));
  config_.set_out(config_.out() + "/below");
  EXPECT_THAT(ErrorOf(CheckRunDirectory(config_)), HasSubstr(config_.out()));
}

TEST_F(RunDirectoryTest, HasADefaultThatTellsRunsApart) {
  config_.clear_out();
  config_.set_topology("random:d=3");
  EXPECT_EQ(DefaultRunPath(config_, now_), "runs/20251120-123323-random-d-3-dpsgd-n4");
  const fs::path before = fs::current_path();
  fs::current_path(root_);
  const auto first = CreateRunDirectory(config_, now_);
  const auto second = CreateRunDirectory(config_, now_);
  fs::current_path(before);
  EXPECT_EQ(first->path, DefaultRunPath(config_, now_));
  EXPECT_EQ(second->path, first->path + "-2");
}

TEST_F(RunDirectoryTest, KeepsAHostileSpecInsideItsFolder) {
  config_.set_topology("file:/../../etc/" + std::string(300, 'x'));
  const std::string name = DefaultRunPath(config_, now_).substr(5);
  EXPECT_EQ(name.find('/'), std::string::npos);
  EXPECT_LT(name.size(), 120u);
}

TEST_F(RunDirectoryTest, NamesAFullDisk) {
  // /dev/full refuses every write as a full disk does.
  auto file = LineFile::Open("/dev/full");
  ASSERT_TRUE(file.ok()) << file.status();
  const std::string why = ErrorOf((*file)->Append("{}"));
  EXPECT_THAT(why, HasSubstr("/dev/full"));
  EXPECT_THAT(why, HasSubstr("No space left on device"));
}

TEST_F(RunDirectoryTest, TakesBackHalfALine) {
  const std::string path = root_ + "/metrics.jsonl";
  auto file = *LineFile::Open(path);
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit ten_bytes = {10, before.rlim_max};
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &ten_bytes);
  const absl::Status fits = file->Append("12345");
  const absl::Status too_long = file->Append("abcdefgh");
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  EXPECT_TRUE(fits.ok()) << fits;
  EXPECT_THAT(ErrorOf(too_long), HasSubstr(path));
  EXPECT_EQ(Read(path), "12345\n");
}

TEST_F(RunDirectoryTest, AppendsWholeLines) {
  const std::string path = root_ + "/metrics.jsonl";
  {
    auto file = *LineFile::Open(path);
    ASSERT_TRUE(file->Append("one").ok());
    EXPECT_EQ(Read(path), "one\n");
  }
  ASSERT_TRUE((*LineFile::Open(path))->Append("two").ok());
  EXPECT_EQ(Read(path), "one\ntwo\n");
}

TEST_F(RunDirectoryTest, NamesAFileThatCannotBeOpened) {
  EXPECT_THAT(ErrorOf(LineFile::Open(root_ + "/none/metrics.jsonl").status()),
              HasSubstr(root_ + "/none/metrics.jsonl"));
}

}  // namespace
}  // namespace grapevine
