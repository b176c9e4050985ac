// Plays the scripts of this folder and compares what they print (README.md).
//
// After a wanted change: bazel run //tests/scenarios:scenario_test -- --rewrite
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/scenarios/script.h"
#include "tests/scenarios/stage.h"

namespace grapevine::testing {
namespace {

bool rewrite = false;

std::filesystem::path Folder() {
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");  // set by bazel run
  return std::filesystem::path(workspace == nullptr ? "." : workspace) / "tests/scenarios";
}

std::vector<std::string> Scripts() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(Folder())) {
    if (entry.path().extension() == ".txt") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string Read(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Plays commands on the stage that the first one of a script names.
class Player {
 public:
  std::string Play(const std::vector<std::string>& commands) {
    std::string told;
    for (const std::string& command : commands) absl::StrAppend(&told, PlayOne(command));
    return told;
  }

 private:
  std::string PlayOne(const std::string& command) {
    if (stage_ == nullptr) {
      absl::StatusOr<std::unique_ptr<Stage>> stage = MakeStage(command);
      if (!stage.ok()) return Mistake(stage.status());
      stage_ = *std::move(stage);
      return "";
    }
    const absl::StatusOr<std::string> told = stage_->Do(command);
    return told.ok() ? *told : Mistake(told.status());
  }
  static std::string Mistake(const absl::Status& status) {
    return absl::StrCat("error: ", std::string(status.message()), "\n");
  }

  std::unique_ptr<Stage> stage_;
};

class Scenario : public ::testing::TestWithParam<std::string> {};

TEST_P(Scenario, PrintsWhatItSays) {
  const std::filesystem::path path = Folder() / (GetParam() + ".txt");
  const Script script = ParseScript(Read(path));
  ASSERT_FALSE(script.blocks.empty());
  Player player;
  const Script played =
      PlayScript(script, [&](const std::vector<std::string>& c) { return player.Play(c); });
  if (rewrite) {
    std::ofstream(path) << FormatScript(played);
    return;
  }
  for (size_t i = 0; i < script.blocks.size(); ++i) {
    EXPECT_EQ(played.blocks[i].output, script.blocks[i].output)
        << path.filename().string() << ":" << script.blocks[i].line;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Scenario, ::testing::ValuesIn(Scripts()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace grapevine::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  grapevine::testing::rewrite = argc > 1 && std::string(argv[1]) == "--rewrite";
  return RUN_ALL_TESTS();
}
