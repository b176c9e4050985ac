// Plays the seeds of every fuzz target, and mutations of them, without a fuzzer:
//
//   fuzz_test CORPUS [--gtest_filter=*/TARGET] [--input=N] [--inputs=N] [--seed=N]
//
// CORPUS has a folder of seeds for each target. An input that aborts is named by its target,
// seed and number; with these it is played alone.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/mutator.h"

namespace grapevine::fuzz {
namespace {

struct Options {
  std::string corpus;
  uint64_t seed = 1;
  uint64_t inputs = 3000;
  std::optional<uint64_t> only;
};
Options options;

// What is being played, for the handler of signals.
char present[4096];

void TellPresent(int signal) {
  (void)!write(STDERR_FILENO, present, std::char_traits<char>::length(present));
  ::signal(signal, SIG_DFL);
  raise(signal);
}

std::vector<std::string> PathsIn(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  return paths;
}

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Fuzz : public ::testing::TestWithParam<std::string> {
 protected:
  static void Play(const std::string& input, const std::string& name) {
    std::snprintf(present, sizeof present, "\nThis input ends the process: %s\n", name.c_str());
    Targets().at(GetParam())(reinterpret_cast<const uint8_t*>(input.data()), input.size());
  }

  static std::vector<std::string> SeedFiles() { return PathsIn(options.corpus + "/" + GetParam()); }
};

TEST_P(Fuzz, Seeds) {
  ASSERT_FALSE(SeedFiles().empty());
  for (const std::string& file : SeedFiles()) Play(Contents(file), file);
  Play("", GetParam() + ", nothing at all");
}

TEST_P(Fuzz, MutationsOfSeeds) {
  std::vector<std::string> seeds;
  for (const std::string& file : SeedFiles()) seeds.push_back(Contents(file));
  ASSERT_FALSE(seeds.empty());
  const Mutator mutator(std::move(seeds), options.seed);
  std::printf("--seed=%llu\n", static_cast<unsigned long long>(options.seed));
  const uint64_t first = options.only.value_or(0);
  const uint64_t last = options.only ? first + 1 : options.inputs;
  for (uint64_t i = first; i < last; ++i) {
    Play(mutator.Input(i), "--gtest_filter=*/" + GetParam() + " --seed=" +
                               std::to_string(options.seed) + " --input=" + std::to_string(i));
  }
}

std::vector<std::string> TargetNames() {
  std::vector<std::string> names;
  for (const auto& [name, play] : Targets()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Targets, Fuzz, ::testing::ValuesIn(TargetNames()),
                         [](const auto& info) { return info.param; });

// A folder that nobody plays would look like seeds that hold.
TEST(Corpus, EveryFolderIsOfATarget) {
  for (const std::string& folder : PathsIn(options.corpus)) {
    EXPECT_TRUE(Targets().contains(std::filesystem::path(folder).filename())) << folder;
  }
}

bool ReadOption(const std::string& argument) {
  const std::string name = argument.substr(0, argument.find('='));
  if (name == argument) {
    options.corpus = argument;
    return true;
  }
  uint64_t value = 0;
  if (!absl::SimpleAtoi(argument.substr(name.size() + 1), &value)) return false;
  if (name == "--seed") options.seed = value;
  if (name == "--inputs") options.inputs = value;
  if (name == "--input") options.only = value;
  return name == "--seed" || name == "--inputs" || name == "--input";
}

}  // namespace
}  // namespace grapevine::fuzz

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (grapevine::fuzz::ReadOption(argv[i])) continue;
    std::fprintf(stderr, "%s: no such option\n", argv[i]);
    return 2;
  }
  for (int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGBUS, SIGILL}) {
    ::signal(signal, grapevine::fuzz::TellPresent);
  }
  return RUN_ALL_TESTS();
}
