// Cells on several threads leave what they leave on one.
#include "experiment/sweep/sweep_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "base/status.h"
#include "experiment/core/experiment_problem.h"
#include "experiment/sweep/simulated_cells.h"
#include "run/config/sweep_cells.h"
#include "run/records/run_directory.h"
#include "tests/model/scratch_folder.h"
#include "tests/testing/file_text.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;

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
    DatasetCache data;
    const auto results =
        RunSweep(cells, {.directory = folder,
                         .run = SimulatedCells(&data, nullptr),
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
  for (const auto& result : RunSweep(Cells(), {.directory = scratch.path(),
                                              .run = [](const Config&) { return Summary(); },
                                              .threads = 4,
                                              .interrupted = &interrupted})) {
    EXPECT_EQ(FailureOf(result.status()), Failure::kInterrupted);
  }
}

// Whatever runs a cell: the next begins when it has ended, and one that was finished with the same
// settings is not run again.
TEST(SweepRun, GoesOnWhereItWasInterrupted) {
  const ScratchFolder scratch;
  const std::vector<SweepCell> cells = *ResolveSweep({.flags = {{"lr", "0.1,0.2,0.3,0.4"}}});
  std::atomic<bool> interrupted = false;
  std::vector<double> begun;
  const auto run = [&](const Config& config) -> absl::StatusOr<Summary> {
    begun.push_back(config.lr());
    RETURN_IF_ERROR(CreateRunDirectory(config, absl::Now()).status());
    if (begun.size() == 3) {
      interrupted = true;
      return InterruptedError("interrupted (SIGINT)");
    }
    Summary summary;
    summary.rounds = static_cast<int64_t>(begun.size());
    RETURN_IF_ERROR(WriteSummary(config.out(), summary));
    return summary;
  };
  std::vector<bool> ran;
  const auto sweep = [&] {
    ran.clear();
    return RunSweep(cells, {.directory = scratch.path(),
                            .run = run,
                            .interrupted = &interrupted,
                            .on_done = [&](const std::vector<size_t>&, double seconds) {
                              ran.push_back(seconds > 0);
                            }});
  };
  const auto first = sweep();
  EXPECT_THAT(begun, ElementsAre(0.1, 0.2, 0.3));
  EXPECT_TRUE(first[1].ok());
  EXPECT_EQ(FailureOf(first[2].status()), Failure::kInterrupted);
  EXPECT_EQ(FailureOf(first[3].status()), Failure::kInterrupted);
  interrupted = false;
  const auto second = sweep();
  EXPECT_THAT(begun, ElementsAre(0.1, 0.2, 0.3, 0.3, 0.4));
  EXPECT_THAT(ran, ElementsAre(false, false, true, true));
  EXPECT_EQ(second[1]->rounds, 2) << "of the first time";
  EXPECT_EQ(second[3]->rounds, 5);
}

// What a finished cell was computed from may be another file now.
TEST(SweepRun, RunsACellAgainWhoseInputHasChanged) {
  const ScratchFolder scratch;
  const std::string graph = scratch.Write("a:b.edges", "0 1\n");
  const std::string weights = scratch.Write("start.safetensors", "x");
  const std::vector<SweepCell> cells =
      *ResolveSweep({.flags = {{"topology", "ring,file:" + graph},
                               {"compute", "profile:" + scratch.File("none") + ":device=cpu"},
                               {"init_from", weights}}});
  std::filesystem::create_directories(scratch.File("sweep"));
  std::vector<std::string> begun;
  std::function<void()> when_begun = [] {};
  const auto run = [&](const Config& config) -> absl::StatusOr<Summary> {
    begun.push_back(config.topology());
    when_begun();
    RETURN_IF_ERROR(CreateRunDirectory(config, absl::Now()).status());
    RETURN_IF_ERROR(WriteSummary(config.out(), Summary()));
    return Summary();
  };
  const auto sweep = [&] {
    begun.clear();
    for (const auto& result : RunSweep(cells, {.directory = scratch.File("sweep"), .run = run})) {
      EXPECT_TRUE(result.ok()) << result.status();
    }
    return begun;
  };
  const auto touch = [](const std::string& file) {
    std::filesystem::last_write_time(
        file, std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  };
  EXPECT_EQ(sweep().size(), 2u);
  EXPECT_THAT(sweep(), ElementsAre());
  touch(graph);
  EXPECT_THAT(sweep(), ElementsAre("file:" + graph));
  touch(weights);
  EXPECT_THAT(sweep(), ElementsAre("ring", "file:" + graph));

  // Older than the cell that it replaces the graph of, as long and in the same place.
  const std::string other = scratch.Write("other.edges", "1 0\n");
  std::filesystem::last_write_time(
      other, std::filesystem::file_time_type::clock::now() - std::chrono::hours(24));
  std::filesystem::rename(other, graph);
  EXPECT_THAT(sweep(), ElementsAre("file:" + graph));
  EXPECT_THAT(sweep(), ElementsAre());

  // Written when a cell has begun, before its folder is there.
  when_begun = [&] { std::ofstream(weights) << std::string(begun.size() + 1, 'y'); };
  std::filesystem::remove_all(scratch.File("sweep"));
  EXPECT_EQ(sweep().size(), 2u);
  when_begun = [] {};
  EXPECT_THAT(sweep(), ElementsAre("ring", "file:" + graph));
}

// Lists of batches and models have gradients of several times.
TEST(MeasureGradients, OncePerModelDataAndBatch) {
  const ScratchFolder scratch;
  const auto resolve = [](const std::map<std::string, std::string>& changes) {
    std::map<std::string, std::string> flags = changes;
    flags.insert({{"model", "softmax"},
                  {"data", "synthetic:train=64:test=32"},
                  {"topology", "hypercube,ring"},
                  {"nodes", "6"},
                  {"lr", "0.1,0.2"},
                  {"rounds", "1"}});
    return *ResolveSweep({.flags = flags});
  };
  std::vector<SweepCell> cells = resolve({{"batch", "4,8"}});
  std::map<int, std::string> times;
  DatasetCache data;
  const auto measure = [&](std::vector<SweepCell>* of) {
    return MeasureGradients(
        scratch.path(), &data, /*interrupted=*/nullptr,
        [&](const SweepCell& cell, const std::string& time) {
          EXPECT_TRUE(times.emplace(cell.resolved.config.batch(), time).second) << cell.label;
          EXPECT_EQ(cell.resolved.config.topology(), "ring") << "there is no hypercube of 6";
        },
        of);
  };
  ASSERT_EQ(measure(&cells), absl::OkStatus());
  EXPECT_EQ(times.size(), 2u);
  for (const SweepCell& cell : cells) {
    EXPECT_EQ(cell.resolved.config.compute(), times[cell.resolved.config.batch()]) << cell.label;
  }

  // What a cell began with holds when the sweep goes on.
  Config begun = cells[3].resolved.config;
  EXPECT_EQ(begun.batch(), 8);
  begun.set_compute("77ms");
  begun.set_out(CellDirectory(scratch.path(), cells[3]));
  ASSERT_TRUE(CreateRunDirectory(begun, absl::Now()).ok());
  times.erase(4);
  std::vector<SweepCell> again = resolve({{"batch", "4,8"}});
  ASSERT_EQ(measure(&again), absl::OkStatus());
  EXPECT_EQ(again[2].resolved.config.compute(), "77ms");
  EXPECT_EQ(again[0].resolved.config.compute(), times[4]);

  // What is given, or learns nothing, is left alone.
  times.clear();
  std::vector<SweepCell> given = resolve({{"compute", "1ms,2ms"}});
  std::vector<SweepCell> phantom = resolve({{"model", "phantom:1kB,phantom:2kB"}});
  ASSERT_EQ(measure(&given), absl::OkStatus());
  ASSERT_EQ(measure(&phantom), absl::OkStatus());
  EXPECT_EQ(times.size(), 0u);
  EXPECT_EQ(given[2].resolved.config.compute(), "2ms");
  EXPECT_FALSE(phantom[0].resolved.config.has_compute());
}

TEST(MeasureGradients, OfNoMoreOnceInterrupted) {
  const ScratchFolder scratch;
  std::vector<SweepCell> cells = *ResolveSweep({.flags = {{"model", "softmax"},
                                                          {"data", "synthetic:train=64:test=32"},
                                                          {"nodes", "2"},
                                                          {"batch", "4,8,16"},
                                                          {"rounds", "1"}}});
  DatasetCache data;
  std::atomic<bool> interrupted = false;
  int measured = 0;
  const absl::Status status = MeasureGradients(
      scratch.path(), &data, &interrupted,
      [&](const SweepCell&, const std::string&) {
        ++measured;
        interrupted = true;
      },
      &cells);
  EXPECT_EQ(FailureOf(status), Failure::kInterrupted) << status;
  EXPECT_EQ(measured, 1);
}

}  // namespace
}  // namespace grapevine
