// A checkpoint's manifest and a node's part of one (run/checkpoint/).
#include <glog/logging.h>

#include <string>
#include <string_view>
#include <vector>

#include "run/checkpoint/checkpoint_files.h"
#include "tests/fuzz/fuzz_target.h"

namespace grapevine {
namespace {

void PlayManifest(std::string_view input) {
  const auto manifest = ParseManifest("manifest", input);
  if (!manifest.ok()) return fuzz::RequireClass(manifest.status(), Failure::kInput);
  CHECK_GE(manifest->round(), 0);
  CHECK_GT(manifest->nodes_size(), 0);
  for (const CheckpointPart& part : manifest->nodes()) CHECK_GT(part.bytes(), 0);
  const std::vector<Rank> members = MembersOf(*manifest);
  CHECK_EQ(static_cast<int>(members.size()), manifest->nodes_size());
  for (const Rank rank : members) CHECK_GT(PartOf(*manifest, rank).bytes(), 0);
  const std::string text = ToText(*manifest);
  const auto again = ParseManifest("manifest", text);
  CHECK(again.ok()) << again.status() << text;
  CHECK_EQ(ToText(*again), text);
}

void PlayPart(const uint8_t* data, size_t size) {
  const fuzz::InputFile file(data, size);
  const auto state = ReadNodeState(file.path(), 0);
  if (!state.ok()) return fuzz::RequireClass(state.status(), Failure::kInput);
  CHECK_GE(state->round, 0);
  for (const auto& [name, vector] : state->vectors) CHECK_LE(vector.size * 4, int64_t(size));
}

FUZZ_TARGET(checkpoint) {
  PlayManifest(fuzz::Text(data, size));
  PlayPart(data, size);
}

}  // namespace
}  // namespace grapevine
