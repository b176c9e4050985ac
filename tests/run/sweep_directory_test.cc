#include "run/records/sweep_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "run/config/config_file.h"
#include "run/records/run_directory.h"
#include "tests/model/scratch_folder.h"
#include "tests/testing/file_text.h"

namespace grapevine {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class SweepDirectoryTest : public ::testing::Test {
 protected:
  std::vector<SweepCell> Cells(std::map<std::string, std::string> flags) {
    flags.emplace("out", out_);
    flags.emplace("topology", "ring,torus");
    auto cells = ResolveSweep({.flags = std::move(flags)});
    EXPECT_TRUE(cells.ok()) << cells.status();
    return *std::move(cells);
  }

  // As RunSweep does.
  void Finish(const std::string& label) {
    Config config;
    config.set_out(out_ + "/" + label);
    ASSERT_TRUE(CreateRunDirectory(config, now_).ok());
    ASSERT_TRUE(WriteSummary(config.out(), Summary()).ok());
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(out_)) names.push_back(entry.path().filename());
    return names;
  }

  std::string ErrorOf(const std::vector<SweepCell>& cells) {
    const absl::Status checked = CheckSweepDirectory(cells);
    const absl::Status created = CreateSweepDirectory(cells, now_).status();
    EXPECT_EQ(FailureOf(created), Failure::kOutput);
    EXPECT_EQ(checked.message(), created.message());
    return std::string(created.message());
  }

  const ScratchFolder folder_;
  const std::string out_ = folder_.File("sweep");
  const absl::Time now_ = absl::FromUnixSeconds(1763642003);
};

TEST_F(SweepDirectoryTest, SaysWhatTheSweepIs) {
  const auto sweep = CreateSweepDirectory(Cells({{"nodes", "8,4"}, {"seed", "7"}}), now_);
  ASSERT_TRUE(sweep.ok()) << sweep.status();
  EXPECT_EQ(sweep->path, out_);
  const std::string marker = testing::FileText(out_ + "/sweep.textproto");
  EXPECT_TRUE(marker.starts_with("# --nodes=8,4\n# --topology=ring,torus\n")) << marker;
  EXPECT_EQ(ReadConfigFile(out_ + "/sweep.textproto")->config.seed(), 7u);
}

TEST_F(SweepDirectoryTest, GoesOnWithTheSameSweepAlone) {
  ASSERT_TRUE(CreateSweepDirectory(Cells({}), now_).ok());
  Finish("topology=ring");
  EXPECT_TRUE(CheckSweepDirectory(Cells({})).ok());
  EXPECT_TRUE(CreateSweepDirectory(Cells({}), now_).ok());
  EXPECT_TRUE(fs::exists(out_ + "/topology=ring/summary.json"));

  EXPECT_EQ(ErrorOf(Cells({{"topology", "ring,torus,star"}})),
            out_ +
                " holds another sweep (`# --topology=ring,torus,star` is not in it); choose "
                "another --out, or replace it with --overwrite");
  EXPECT_THAT(ErrorOf(Cells({{"batch", "3"}})), HasSubstr("`batch: 3` is not in it"));
  // The same values in another order are the same cells, but another table.
  EXPECT_THAT(ErrorOf(Cells({{"topology", "torus,ring"}})), HasSubstr("torus,ring` is not in it"));
  EXPECT_TRUE(fs::exists(out_ + "/topology=ring/summary.json"));
}

TEST_F(SweepDirectoryTest, IsWrittenByOneAtATime) {
  const auto sweep = CreateSweepDirectory(Cells({}), now_);
  ASSERT_TRUE(sweep.ok()) << sweep.status();
  EXPECT_THAT(ErrorOf(Cells({})), HasSubstr(out_ + " is being written by process "));
}

TEST_F(SweepDirectoryTest, ReplacesNoCellThatIsBeingWritten) {
  ASSERT_TRUE(CreateSweepDirectory(Cells({}), now_).ok());
  Finish("topology=ring");
  const std::string cell = out_ + "/topology=ring";
  const auto by_itself = LockFolder(cell, now_);
  ASSERT_TRUE(by_itself.ok()) << by_itself.status();
  const absl::Status replaced = CreateSweepDirectory(Cells({{"overwrite", "true"}}), now_).status();
  EXPECT_THAT(replaced.message(), HasSubstr(cell + " is being written by process "));
  EXPECT_TRUE(fs::exists(cell + "/summary.json"));
}

TEST_F(SweepDirectoryTest, NamesWhatIsGivenNoMore) {
  ASSERT_TRUE(CreateSweepDirectory(Cells({{"compute", "5ms"}}), now_).ok());
  EXPECT_THAT(ErrorOf(Cells({})), HasSubstr("holds another sweep (it has `compute: \"5ms\"`)"));
}

TEST_F(SweepDirectoryTest, ReplacedLeavesNothingOfTheEarlierAndAllElse) {
  ASSERT_TRUE(CreateSweepDirectory(Cells({}), now_).ok());
  Finish("topology=ring");
  Finish("topology=torus");
  Finish("mine");  // somebody's run, named as no cell is
  folder_.Write("sweep/topology=torus/notes.txt", "x");
  folder_.Write("sweep/plot.png", "x");
  ASSERT_TRUE(WriteSweepTables(out_, "csv", "text").ok());
  ASSERT_TRUE(
      CreateSweepDirectory(Cells({{"topology", "star,path"}, {"overwrite", "true"}}), now_).ok());
  EXPECT_THAT(Names(),
              UnorderedElementsAre("sweep.textproto", "mine", "plot.png", "topology=torus"));
  EXPECT_TRUE(fs::exists(out_ + "/topology=torus/notes.txt"));
  EXPECT_FALSE(IsRunDirectory(out_ + "/topology=torus"));
  EXPECT_THAT(testing::FileText(out_ + "/sweep.textproto"), HasSubstr("# --topology=star,path\n"));
}

// Put beside the cells, so that one picture shows both.
TEST_F(SweepDirectoryTest, ReplacedLeavesRunsThatAreNotItsCells) {
  ASSERT_TRUE(CreateSweepDirectory(Cells({{"lr", "0.1,0.2"}}), now_).ok());
  for (const char* name : {"topology=star", "lr=0.1", "topology=ring_lr=0.3"}) Finish(name);
  Finish("topology=ring_lr=0.1");
  ASSERT_TRUE(CreateSweepDirectory(Cells({{"overwrite", "true"}}), now_).ok());
  EXPECT_THAT(Names(), UnorderedElementsAre("sweep.textproto", "topology=star", "lr=0.1",
                                            "topology=ring_lr=0.3"));
  EXPECT_TRUE(fs::exists(out_ + "/lr=0.1/summary.json"));
}

TEST_F(SweepDirectoryTest, ReplacedNeverFollowsALink) {
  ASSERT_TRUE(CreateSweepDirectory(Cells({}), now_).ok());
  Config best;
  best.set_out(folder_.File("best"));
  ASSERT_TRUE(CreateRunDirectory(best, now_).ok());
  ASSERT_TRUE(WriteSummary(best.out(), Summary()).ok());
  const std::string link = out_ + "/topology=ring";
  fs::create_directory_symlink(best.out(), link);
  Finish("topology=torus");

  // Nor would a cell of the next one be written where a link leads.
  EXPECT_EQ(ErrorOf(Cells({{"overwrite", "true"}})),
            link +
                " is a link; a cell of the sweep would replace what it leads to: remove it, or "
                "choose another --out");
  EXPECT_TRUE(IsRunDirectory(out_ + "/topology=torus"));
  ASSERT_TRUE(
      CreateSweepDirectory(Cells({{"topology", "star,path"}, {"overwrite", "true"}}), now_).ok());
  EXPECT_THAT(Names(), UnorderedElementsAre("sweep.textproto", "topology=ring"));
  EXPECT_TRUE(fs::exists(best.out() + "/summary.json"));
  EXPECT_TRUE(IsRunDirectory(best.out()));
}

TEST_F(SweepDirectoryTest, RemovesNothingIfItCannotTellTheCells) {
  ASSERT_TRUE(CreateSweepDirectory(Cells({}), now_).ok());
  Finish("topology=ring");
  folder_.Write("sweep/sweep.textproto", "# --topology=ring,torus\nno_such_setting: 1\n");
  EXPECT_THAT(ErrorOf(Cells({{"overwrite", "true"}})),
              AllOf(HasSubstr(out_ + "/sweep.textproto"), HasSubstr("no_such_setting"),
                    HasSubstr("; choose another --out, or remove the folder yourself")));
  EXPECT_TRUE(fs::exists(out_ + "/topology=ring/summary.json"));
}

TEST_F(SweepDirectoryTest, NeverReplacesAFolderThatIsNotItsOwn) {
  fs::create_directories(out_);
  folder_.Write("sweep/thesis.tex", "x");
  EXPECT_EQ(ErrorOf(Cells({{"overwrite", "true"}})),
            out_ + " is neither empty nor an earlier sweep's folder; choose another --out");
  EXPECT_THAT(Names(), UnorderedElementsAre("thesis.tex"));
}

TEST_F(SweepDirectoryTest, HasADefaultThatTellsSweepsApart) {
  std::vector<SweepCell> cells = Cells({});
  for (SweepCell& cell : cells) cell.resolved.config.clear_out();
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  const auto first = CreateSweepDirectory(cells, now_);
  const auto second = CreateSweepDirectory(cells, now_);
  fs::current_path(before);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->path, "runs/20251120-123323-sweep");
  EXPECT_EQ(second->path, first->path + "-2");
}

TEST_F(SweepDirectoryTest, IsOfAnyLists) {
  const auto cells = [this](const std::string& data) {
    return Cells({{"data", data}, {"lr", "0.1,0.2"}});
  };
  ASSERT_TRUE(CreateSweepDirectory(cells("mnist:/a\\,b,synthetic"), now_).ok());
  EXPECT_THAT(testing::FileText(out_ + "/sweep.textproto"),
              HasSubstr("# --data=mnist:/a\\,b,synthetic\n# --lr=0.1,0.2\n"));
  Finish("topology=ring_data=synthetic_lr=0.1");
  Finish("topology=torus_data=mnist--a-b_lr=0.2");
  EXPECT_THAT(ErrorOf(cells("mnist:/a,b")), HasSubstr("another sweep (`# --data=mnist:/a,b` is"));
  ASSERT_TRUE(CreateSweepDirectory(Cells({{"overwrite", "true"}}), now_).ok());
  EXPECT_THAT(Names(), UnorderedElementsAre("sweep.textproto")) << "whatever the cells are of";
}

}  // namespace
}  // namespace grapevine
