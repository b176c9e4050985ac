// What a script drives: some nodes, and the commands that make things happen.
#ifndef GRAPEVINE_TESTS_SCENARIOS_STAGE_H_
#define GRAPEVINE_TESTS_SCENARIOS_STAGE_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"

namespace grapevine::testing {

// The words of a command, taken one by one.
class Words {
 public:
  explicit Words(std::string_view command);

  bool empty() const { return next_ == words_.size(); }
  // The next word; empty at the end.
  std::string Take();
  // Takes the next word if it is this one.
  bool Skip(std::string_view word);
  // Takes the rest.
  std::string Rest();
  // A number, ranks ("0 2 3"; "all" is 0 .. n-1), a time ("0.5 s"). Mistakes are reported by
  // error().
  int64_t Number();
  std::vector<Rank> Ranks(Rank n);
  std::chrono::nanoseconds Time();

  // The first mistake.
  const absl::Status& error() const { return error_; }

 private:
  void Complain(const std::string& what, const std::string& word);

  std::vector<std::string> words_;
  size_t next_ = 0;
  absl::Status error_;
};

class Stage {
 public:
  virtual ~Stage() = default;
  // Carries out a command and returns what the nodes did, as lines. An error is a mistake in the
  // script.
  virtual absl::StatusOr<std::string> Do(const std::string& command) = 0;
};

// By the first words of a script: "cluster of 3 ...", "coordinator of 3 ...", "run of 3 ...". The
// stage interprets the rest of the line.
absl::StatusOr<std::unique_ptr<Stage>> MakeStage(const std::string& command);

// One for each word.
absl::StatusOr<std::unique_ptr<Stage>> MakeClusterStage(Words words);
absl::StatusOr<std::unique_ptr<Stage>> MakeCoordinatorStage(Words words);
absl::StatusOr<std::unique_ptr<Stage>> MakeRunStage(Words words);

absl::Status UnknownCommand(const std::string& command);

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_SCENARIOS_STAGE_H_
