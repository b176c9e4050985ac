#include "experiment/sweep/sweep_run.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "algorithm/algorithm.h"
#include "base/status.h"
#include "experiment/core/setting_checks.h"
#include "model/problem/problem.h"
#include "run/config/config.pb.h"
#include "run/config/config_field.h"
#include "run/config/config_file.h"
#include "run/records/run_directory.h"
#include "system/mutex.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

bool IsFile(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

// Adds the files in a spec. A path may have colons, too, so every stretch of fields after the name
// is tried.
void AddFilesOfSpec(const std::string& spec, std::vector<std::string>* files) {
  for (size_t begin = spec.find(':'); begin != spec.npos; begin = spec.find(':', begin + 1)) {
    for (size_t end = begin; end != spec.npos;) {
      end = spec.find(':', end + 1);
      const std::string part = spec.substr(begin + 1, end - begin - 1);
      if (IsFile(part)) files->push_back(part);
    }
  }
}

// Returns the files that a configuration names, such as a graph, weights, a network or a profile:
// every file that exists and that a setting of the run names as its value (--init-from) or as a
// part of its spec ("file:PATH", "profile:PATH:device=cpu"), in the order of config.proto. Folders,
// as of data sets, are not among them.
std::vector<std::string> InputFiles(const Config& config) {
  std::vector<std::string> files;
  for (const ConfigField* field : ConfigFields()) {
    const bool text = field->cpp_type() == ConfigField::CPPTYPE_STRING;
    if (!text || !DescribesRun(*field) || !HasField(*field, config)) continue;
    const std::string value = FieldText(*field, config);
    if (InfoOf(*field).placeholder() == "FILE" && IsFile(value)) files.push_back(value);
    AddFilesOfSpec(value, &files);
  }
  return files;
}

// Returns a line for each input file, with path, size, place (inode) and time of the last write. It
// tells a file from one that replaced it, however old that is.
std::string InputFilesText(const Config& config) {
  std::string text;
  for (const std::string& file : InputFiles(config)) {
    struct stat found;
    if (stat(file.c_str(), &found) != 0) continue;  // the file has just gone
    absl::StrAppend(&text, file, ": ", found.st_size, " bytes, inode ", found.st_ino,
                    ", written at ", found.st_mtim.tv_sec, ".",
                    absl::Dec(found.st_mtim.tv_nsec, absl::kZeroPad9), "\n");
  }
  return text;
}

// Returns the cost of a node's gradient, in messages: that of an event, or of a network's
// arithmetic.
double GradientCost(const Config& config) {
  return (SeesData(config.model()) ? 1000.0 : 1.0) * config.accumulate();
}

// Returns the rounds of an epoch up to a factor: the number of samples in an epoch is common to all
// cells.
double RoundsPerEpoch(const Config& config) {
  constexpr double kSamples = 1e5;
  return kSamples / (static_cast<double>(config.nodes()) * config.batch() * config.accumulate());
}

double Rounds(const Config& config) {
  if (config.has_rounds()) return static_cast<double>(config.rounds());
  return config.epochs() * RoundsPerEpoch(config);
}

RunLength Length(const Config& config) {
  return {.rounds = std::max<Round>(1, std::llround(Rounds(config))),
          .rounds_per_epoch = RoundsPerEpoch(config)};
}

// Returns the summary of an earlier run with exactly this configuration and these `inputs`; nothing
// if no such run has finished.
std::optional<Summary> FinishedEarlier(const std::string& folder, const Config& config,
                                       const std::string& inputs) {
  const absl::StatusOr<ConfigFile> file = ReadConfigFile(ConfigPath(folder));
  if (!file.ok() || ConfigFileText(file->config) != ConfigFileText(config)) return std::nullopt;
  if (ReadInputs(folder) != inputs) return std::nullopt;
  const absl::StatusOr<Summary> summary = ReadSummary(folder);
  if (!summary.ok()) return std::nullopt;
  return *summary;
}

// Runs a cell, and adds the time that it takes to `seconds`. A cell that was finished earlier takes
// none.
absl::StatusOr<Summary> RunCell(const SweepCell& cell, const SweepRunOptions& options,
                                double* seconds) {
  Config config = cell.resolved.config;
  config.set_out(CellDirectory(options.directory, cell));
  config.set_overwrite(true);
  // The inputs as they are before the run reads them.
  const std::string inputs = InputFilesText(config);
  if (const std::optional<Summary> earlier = FinishedEarlier(config.out(), config, inputs)) {
    return *earlier;
  }
  const absl::Time begin = absl::Now();
  absl::StatusOr<Summary> result = options.run(config);
  *seconds += absl::ToDoubleSeconds(absl::Now() - begin);
  if (result.ok() && !inputs.empty()) {
    RETURN_IF_ERROR(WriteInputs(config.out(), inputs));
  }
  return result;
}

// Returns a key that is equal for cells with equal runs.
std::string RunOf(Config config) {
  if (AnyGraphWillDo(config)) {
    config.clear_topology();
    config.clear_mixing();
  }
  config.clear_out();
  return ConfigFileText(config);
}

}  // namespace

double CellCost(const Config& config) {
  constexpr double kRefused = 1e-3;
  const absl::StatusOr<std::shared_ptr<const Topology>> topology =
      MakeTopology(config.topology(), config.nodes(), config.seed());
  if (!topology.ok()) return kRefused;
  const absl::StatusOr<double> messages =
      MessagesPerRound(config.algorithm(), **topology, Length(config));
  if (!messages.ok()) return kRefused;
  return kRefused + Rounds(config) * (*messages + config.nodes() * GradientCost(config));
}

std::vector<std::vector<size_t>> SharedCells(const std::vector<SweepCell>& cells) {
  std::vector<std::vector<size_t>> shared;
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < cells.size(); ++i) {
    const auto [place, added] = places.emplace(RunOf(cells[i].resolved.config), shared.size());
    if (added) shared.emplace_back();
    shared[place->second].push_back(i);
  }
  return shared;
}

std::string CellDirectory(const std::string& sweep, const SweepCell& cell) {
  return absl::StrCat(sweep, "/", cell.label);
}

std::vector<absl::StatusOr<Summary>> RunSweep(const std::vector<SweepCell>& cells,
                                              const SweepRunOptions& options) {
  std::vector<absl::StatusOr<Summary>> results(cells.size(),
                                               InterruptedError("interrupted before it began"));
  const std::vector<std::vector<size_t>> shared = SharedCells(cells);
  Mutex mutex;
  size_t next = 0;
  const auto work = [&] {
    while (options.interrupted == nullptr || !*options.interrupted) {
      size_t mine;
      {
        MutexLock lock(mutex);
        if (next == shared.size()) return;
        mine = next++;
      }
      double seconds = 0;
      const absl::StatusOr<Summary> result =
          RunCell(cells[shared[mine].front()], options, &seconds);
      MutexLock lock(mutex);
      for (const size_t cell : shared[mine]) results[cell] = result;
      if (options.on_done) options.on_done(shared[mine], seconds);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < options.threads; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return results;
}

}  // namespace grapevine
