#include "run/records/run_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "base/status.h"
#include "run/config/config_file.h"
#include "run/records/output_file.h"
#include "run/records/run_files.h"
#include "system/file.h"

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

// The paths of all files below a folder, without its own.
std::set<std::string> FilesBelow(const std::string& folder) {
  std::set<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.insert(entry.path().string().substr(folder.size() + 1));
  }
  return files;
}

TEST_F(RunDirectoryTest, LosesOnlyItsOwnFilesWhenReplaced) {
  ASSERT_TRUE(CreateRunDirectory(config_, now_).ok());
  for (const char* folder : {"node-12", "node-3", "checkpoints/round-20", "checkpoints/round-40",
                             "checkpoints/mine", "node-local"}) {
    fs::create_directories(config_.out() + "/" + folder);
  }
  const std::set<std::string> own = {"metrics.jsonl",
                                     "summary.json",
                                     "statistics.json",
                                     "trace.json",
                                     "cell-inputs.txt",
                                     "chaos.jsonl",
                                     "events.out.tfevents.0123456789.host.1",
                                     "model.safetensors",
                                     "model.safetensors.tmp.0123456789abcdef",
                                     "summary.json.tmp.4711",
                                     "node-3/metrics.jsonl",
                                     "node-12/metrics.jsonl",
                                     "node-12/model.safetensors",
                                     "node-12/profile.textproto",
                                     "node-12/trace.bin",
                                     "node-12/events.rec",
                                     "node-12/program-20.npz",
                                     "node-12/model.safetensors.tmp.4711",
                                     "checkpoints/round-20/manifest.textproto",
                                     "checkpoints/round-20/model.safetensors",
                                     "checkpoints/round-20/node-12.safetensors",
                                     "checkpoints/round-40/node-0.safetensors.tmp.4711"};
  const std::set<std::string> others = {"notes.txt",
                                        "best.safetensors",
                                        "model.safetensors.old",
                                        "notes.tmp.4711",
                                        "node-local/metrics.jsonl",
                                        "node-12/probe.safetensors",
                                        "checkpoints/best.safetensors",
                                        "checkpoints/round-20/merged.safetensors",
                                        "checkpoints/mine/model.safetensors"};
  for (const std::string& name : own) Write(config_.out() + "/" + name, "x");
  for (const std::string& name : others) Write(config_.out() + "/" + name, "x");
  config_.set_overwrite(true);
  config_.set_seed(8);
  ASSERT_TRUE(CreateRunDirectory(config_, now_).ok());
  std::set<std::string> left = others;
  left.insert("config.textproto");
  EXPECT_EQ(FilesBelow(config_.out()), left);
  EXPECT_FALSE(fs::exists(config_.out() + "/node-3")) << "an empty folder of the run";
  EXPECT_FALSE(fs::exists(config_.out() + "/checkpoints/round-40"));
  EXPECT_EQ(ReadConfigFile(ConfigPath(config_.out()))->config.seed(), 8u);
}

// A process that is killed while it writes a file.
void DieWriting(const std::string& path) {
  const pid_t writer = fork();
  ASSERT_GE(writer, 0);
  if (writer == 0) {
    const auto file = AtomicFile::Create(path);
    _exit(file.ok() && (*file)->Append("half").ok() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(writer, &status, 0), writer);
  ASSERT_EQ(status, 0) << path;
}

// By whoever opens the folder next, however; what others are writing there stays.
TEST_F(RunDirectoryTest, IsRidOfWhatKilledProcessesWereWriting) {
  ASSERT_TRUE(CreateRunDirectory(config_, now_).ok());
  const std::string run = config_.out(), node = *CreateNodeDirectory(run, 3);
  const auto living = AtomicFile::Create(ModelPath(run));
  const auto living_of_node = AtomicFile::Create(ModelPath(node));
  ASSERT_TRUE(living.ok() && living_of_node.ok());
  Write(run + "/notes.tmp.4711", "somebody's");
  const std::set<std::string> before = FilesBelow(run);
  const std::vector<std::function<void()>> openers = {
      [&] { EXPECT_TRUE(LockFolder(run, now_).ok()); },
      [&] { EXPECT_TRUE(RemoveRunFiles(run).ok()); },
  };
  for (const auto& open : openers) {
    DieWriting(ModelPath(run));
    DieWriting(run + "/my-trace.json");
    Write(run + "/summary.json.tmp.4711", "of an earlier version");
    EXPECT_EQ(FilesBelow(run).size(), before.size() + 3);
    open();
    EXPECT_EQ(FilesBelow(run), before);
  }
  DieWriting(ModelPath(node));
  Write(ModelPath(node) + ".tmp.1", "of an earlier version");
  EXPECT_EQ(*CreateNodeDirectory(run, 3), node);
  EXPECT_EQ(FilesBelow(run), before);
  EXPECT_TRUE((*living)->Commit().ok());
  EXPECT_TRUE((*living_of_node)->Commit().ok());
}

// Killed before there was anything else.
TEST_F(RunDirectoryTest, MayBeAFolderWithAnUnfinishedConfiguration) {
  fs::create_directories(config_.out());
  DieWriting(ConfigPath(config_.out()));
  EXPECT_TRUE(CheckRunDirectory(config_).ok());
  ASSERT_TRUE(CreateRunDirectory(config_, now_).ok());
  EXPECT_EQ(FilesBelow(config_.out()), std::set<std::string>{"config.textproto"});
}

// A link in the run's folder leads to what is not the run's.
TEST_F(RunDirectoryTest, RemovesLinksAndNotWhatTheyLeadTo) {
  ASSERT_TRUE(CreateRunDirectory(config_, now_).ok());
  fs::create_directories(root_ + "/elsewhere/round-20");
  Write(root_ + "/elsewhere/metrics.jsonl", "x");
  Write(root_ + "/elsewhere/round-20/manifest.textproto", "x");
  for (const char* name : {"/node-0", "/checkpoints"}) {
    fs::create_directory_symlink(root_ + "/elsewhere", config_.out() + name);
  }
  config_.set_overwrite(true);
  ASSERT_TRUE(CreateRunDirectory(config_, now_).ok());
  EXPECT_EQ(FilesBelow(config_.out()), std::set<std::string>{"config.textproto"});
  EXPECT_EQ(FilesBelow(root_ + "/elsewhere").size(), 2u);
}

TEST_F(RunDirectoryTest, IsAsItWasUntilTheRunBegins) {
  ASSERT_TRUE(CreateRunDirectory(config_, now_).ok());
  ASSERT_TRUE(WriteSummary(config_.out(), Summary()).ok());
  config_.set_overwrite(true);
  config_.set_seed(8);
  {
    absl::StatusOr<RunReservation> run = RunReservation::Make(config_, now_);
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_THAT(ErrorOf(CheckRunDirectory(config_)), HasSubstr("is being written by process "));
    EXPECT_TRUE(run->Undo().ok());
    EXPECT_TRUE(fs::exists(SummaryPath(config_.out())));
    EXPECT_EQ(ReadConfigFile(ConfigPath(config_.out()))->config.seed(), 7u);
  }
  absl::StatusOr<RunReservation> run = RunReservation::Make(config_, now_);
  ASSERT_TRUE(run.ok()) << run.status();
  ASSERT_TRUE(run->Begin().ok());
  EXPECT_FALSE(fs::exists(SummaryPath(config_.out())));
  EXPECT_EQ(ReadConfigFile(ConfigPath(config_.out()))->config.seed(), 8u);
}

TEST_F(RunDirectoryTest, IsFreeForTheNextAttemptWhenARunHasComeToNothing) {
  {
    absl::StatusOr<RunReservation> run = RunReservation::Make(config_, now_);
    ASSERT_TRUE(run.ok() && run->Begin().ok());
    Write(MetricsPath(config_.out()), "");
    EXPECT_TRUE(run->Undo().ok());
  }
  EXPECT_TRUE(fs::is_empty(config_.out()));
  // One in which somebody has files of his own may be replaced again.
  ASSERT_TRUE(CreateRunDirectory(config_, now_).ok());
  Write(config_.out() + "/notes.txt", "x");
  config_.set_overwrite(true);
  {
    absl::StatusOr<RunReservation> run = RunReservation::Make(config_, now_);
    ASSERT_TRUE(run.ok() && run->Begin().ok());
    EXPECT_TRUE(run->Undo().ok());
  }
  EXPECT_TRUE(CheckRunDirectory(config_).ok());
  EXPECT_TRUE(CreateRunDirectory(config_, now_).ok());
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
