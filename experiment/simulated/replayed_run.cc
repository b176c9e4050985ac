#include "experiment/simulated/replayed_run.h"

#include <memory>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "experiment/core/experiment.h"
#include "experiment/core/experiment_identity.h"
#include "experiment/core/run_course.h"
#include "experiment/simulated/experiment_vectors.h"
#include "sim/engine/vector_store.h"
#include "sim/replay/replay.h"

namespace grapevine {
namespace {

// Returns an error if a recording breaks off. Then the events have been taken as far as they have
// causes, without a contradiction, but there is nothing to compare.
absl::Status CheckWhole(std::span<const RecordedNode> recordings, const Replay& replay) {
  int64_t recorded = 0;
  const RecordedNode* broken = nullptr;
  std::optional<std::string> waits;
  for (const RecordedNode& node : recordings) {
    recorded += node.events();
    if (broken == nullptr && !node.end()) broken = &node;
    if (!waits) waits = replay.WaitsFor(node.rank());
  }
  if (broken == nullptr) return absl::OkStatus();
  return InputError(absl::StrCat(
      "replayed ", replay.events(), " of ", recorded,
      " events without a contradiction, but no final bits are recorded to compare: ",
      broken->file(), " breaks off after event ", broken->events(), " of rank ", broken->rank(),
      " (its node did not come to its end)", waits ? "; " + *waits : ""));
}

absl::Status CheckBits(const RecordedNode& node, const SharedVector& model) {
  const RecordingEnd& end = *node.end();
  if (model.size == end.elements() && ModelChecksum(model.span()) == end.checksum()) {
    return absl::OkStatus();
  }
  const std::string machine = DifferentMachine(node.header());
  return absl::InternalError(absl::StrCat(
      "rank ", node.rank(), " ends in other bits than recorded in ", node.file(), " (", model.size,
      " elements with checksum ", absl::Hex(ModelChecksum(model.span()), absl::kZeroPad8),
      ", recorded: ", end.elements(), " with ", absl::Hex(end.checksum(), absl::kZeroPad8), ")",
      machine.empty() ? "; program and processor are the same" : "; " + machine));
}

}  // namespace

absl::StatusOr<ReplayedRun> ReplayRun(std::span<const RecordedNode> recordings) {
  const RecordedNode& first = recordings.front();
  ASSIGN_OR_RETURN(const std::unique_ptr<Experiment> experiment,
                   RecordedExperiment(first.file(), first.header()));
  const std::unique_ptr<const RunCourse> course = experiment->NewCourse();
  ASSIGN_OR_RETURN(const std::unique_ptr<VectorStore> vectors,
                   MakeVectorStore(*experiment, course.get()));
  // Where workers share a budget, one of them may do all of it.
  const Round most_rounds =
      experiment->rounds() * (experiment->has_rounds() ? 1 : experiment->workers());
  ASSIGN_OR_RETURN(const std::unique_ptr<Replay> replay,
                   Replay::Make(recordings, vectors.get(), most_rounds, [&](Rank rank) {
                     return experiment->MakeAlgorithm(rank, course.get());
                   }));
  RETURN_IF_ERROR(replay->Run());
  RETURN_IF_ERROR(CheckWhole(recordings, *replay));
  for (const RecordedNode& node : recordings) {
    const Vec model = replay->model(node.rank());
    RETURN_IF_ERROR(CheckBits(node, model ? vectors->At(model) : SharedVector{}));
  }
  return ReplayedRun{.nodes = static_cast<Rank>(recordings.size()), .events = replay->events()};
}

}  // namespace grapevine
