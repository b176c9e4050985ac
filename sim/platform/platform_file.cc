#include "sim/platform/platform_file.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/spec.h"
#include "base/status_macros.h"
#include "sim/platform/graph_platform.h"
#include "sim/platform/platform_description.h"
#include "sim/platform/platform_graphml.h"
#include "sim/platform/platform_textproto.h"

namespace grapevine {
namespace {

absl::StatusOr<PlatformDescription> ReadByEnding(const std::string& path) {
  const std::string lower = absl::AsciiStrToLower(path);
  if (lower.ends_with(".graphml") || lower.ends_with(".xml")) return ReadPlatformGraphml(path);
  return ReadPlatformTextproto(path);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Platform>> LoadPlatformFile(const std::string& path) {
  const std::string name = absl::StrCat("file:", path);
  if (path.empty()) return SpecError(name, "a path is missing; write file:PATH");
  ASSIGN_OR_RETURN(PlatformDescription description, ReadByEnding(path));
  const int64_t hosts =
      std::ranges::count(description.nodes, true, &PlatformDescription::Node::is_host);
  if (hosts == 0) {
    return InputError(path, "has no host; ranks need hosts to run on, add some");
  }
  return std::make_shared<GraphPlatform>(name, std::move(description));
}

}  // namespace grapevine
