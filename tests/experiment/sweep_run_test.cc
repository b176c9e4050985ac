// Cells on several threads leave what they leave on one.
#include "experiment/sweep/sweep_run.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/failure.h"
#include "run/config/config_resolve.h"
#include "run/records/run_directory.h"
#include "tests/model/scratch_folder.h"
#include "tests/testing/file_text.h"

namespace grapevine {
namespace {

// Twelve cells that learn from one data set, of which four are simulated for others too.
std::vector<SweepCell> Cells() {
  const auto cells = ResolveSweep({.flags = {{"topology", "ring,star,complete"},
                                             {"algorithm", "dpsgd,allreduce"},
                                             {"seed", "1,2"},
                                             {"nodes", "4"},
                                             {"model", "softmax"},
                                             {"data", "synthetic:train=64:test=32"},
                                             {"compute", "1ms"},
                                             {"batch", "4"},
                                             {"rounds", "4"}}});
  EXPECT_TRUE(cells.ok()) << cells.status();
  return *cells;
}

TEST(SweepRun, ThreadsChangeNothing) {
  const ScratchFolder scratch;
  const std::vector<SweepCell> cells = Cells();
  ASSERT_EQ(cells.size(), 12u);
  std::vector<std::string> files[2];
  for (const int several : {0, 1}) {
    const std::string folder = scratch.File(several ? "several" : "one");
    std::filesystem::create_directories(folder);
    std::multiset<size_t> done;
    const auto results =
        RunSweep(cells, {.directory = folder,
                         .threads = several ? 4 : 1,
                         .on_done = [&](const std::vector<size_t>& shared, double) {
                           done.insert(shared.begin(), shared.end());
                         }});
    ASSERT_EQ(results.size(), cells.size());
    for (size_t i = 0; i < cells.size(); ++i) {
      EXPECT_TRUE(results[i].ok()) << cells[i].label << ": " << results[i].status();
      EXPECT_EQ(done.count(i), 1u) << cells[i].label;
    }
    for (const std::vector<size_t>& shared : SharedCells(cells)) {
      files[several].push_back(
          testing::FileText(MetricsPath(CellDirectory(folder, cells[shared.front()]))));
    }
  }
  EXPECT_EQ(files[0].size(), 8u);
  EXPECT_EQ(files[0], files[1]);
}

TEST(SweepRun, AnInterruptedSweepBeginsNothing) {
  const ScratchFolder scratch;
  const std::atomic<bool> interrupted = true;
  for (const auto& result : RunSweep(
           Cells(), {.directory = scratch.path(), .threads = 4, .interrupted = &interrupted})) {
    EXPECT_EQ(FailureOf(result.status()), Failure::kInterrupted);
  }
}

}  // namespace
}  // namespace grapevine
