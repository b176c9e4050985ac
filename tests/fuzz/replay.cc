// Plays the seeds of a fuzz target, and mutations of them, without a fuzzer:
//
//   NAME_fuzz_test CORPUS [--input=N] [--inputs=N] [--seed=N]
//
// An input that aborts is named by seed and number; --input=N plays it alone.
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
#include "tests/fuzz/fuzz_input.h"
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

void Play(const std::string& input, const std::string& name) {
  std::snprintf(present, sizeof present, "\nThis input ends the process: %s\n", name.c_str());
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

std::vector<std::string> SeedFiles() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(options.corpus)) {
    files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Fuzz, Seeds) {
  ASSERT_FALSE(SeedFiles().empty()) << options.corpus;
  for (const std::string& file : SeedFiles()) Play(Contents(file), file);
  Play("", "nothing at all");
}

TEST(Fuzz, MutationsOfSeeds) {
  std::vector<std::string> seeds;
  for (const std::string& file : SeedFiles()) seeds.push_back(Contents(file));
  ASSERT_FALSE(seeds.empty());
  const Mutator mutator(std::move(seeds), options.seed);
  std::printf("--seed=%llu\n", static_cast<unsigned long long>(options.seed));
  const uint64_t first = options.only.value_or(0);
  const uint64_t last = options.only ? first + 1 : options.inputs;
  for (uint64_t i = first; i < last; ++i) {
    Play(mutator.Input(i),
         "--seed=" + std::to_string(options.seed) + " --input=" + std::to_string(i));
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
  testing::InitGoogleTest(&argc, argv);
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
