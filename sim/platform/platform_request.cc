#include "sim/platform/platform_request.h"

#include <glog/logging.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/registry.h"
#include "base/spec.h"
#include "base/status.h"
#include "base/units.h"
#include "run/text_proto.h"
#include "sim/platform/graph_platform.h"
#include "sim/platform/platform.pb.h"
#include "sim/platform/platform_kind.h"
#include "system/file.h"
#include "topology/files/graphml_reader.h"

namespace grapevine {
namespace {

constexpr std::string_view kFile = "file:";

// Returns the path in a spec that names a file.
std::optional<std::string> PathIn(std::string_view network) {
  if (network.starts_with(kFile)) return std::string(network.substr(kFile.size()));
  for (const std::string_view ending : {".textproto", ".graphml"}) {
    if (network.ends_with(ending)) return std::string(network);
  }
  return std::nullopt;
}

absl::StatusOr<std::shared_ptr<const Platform>> MakeFromFile(const std::string& path,
                                                             const PlatformRequest& request) {
  const char* const flag = request.bandwidth     ? "--bandwidth"
                           : request.latency     ? "--latency"
                           : request.half_duplex ? "--half-duplex"
                                                 : nullptr;
  if (flag != nullptr) {
    return SpecError(request.network,
                     absl::StrCat("the file says what its links can do; change it there and leave ",
                                  flag, " out"));
  }
  return LoadPlatformFile(path);
}

// Replaces a preset by the spec that it stands for; the user's options override those of the
// preset.
absl::StatusOr<Spec> Expand(Spec spec) {
  const PlatformKind* const kind = Platforms().Find(spec.name);
  if (kind == nullptr || kind->preset.empty()) return spec;
  if (!spec.arguments.empty()) {
    return SpecError(spec.text, absl::StrCat("unexpected '", spec.arguments[0], "'"));
  }
  absl::StatusOr<Spec> expanded = ParseSpec(kind->preset);
  if (!expanded.ok()) return expanded.status();
  expanded->text = spec.text;
  for (const auto& [key, value] : spec.options) expanded->options[key] = value;
  return expanded;
}

// Puts the options given beside `spec` into `expanded`.
absl::Status AddFlags(const PlatformRequest& request, const Spec& spec, Spec* expanded) {
  struct Given {
    std::string_view flag;
    std::string key;
    std::string value;
  };
  std::vector<Given> given;
  if (request.bandwidth) {
    given.push_back({"--bandwidth", "bandwidth", FormatBandwidth(*request.bandwidth)});
  }
  if (request.latency) {
    given.push_back(
        {"--latency", "latency", FormatDuration(std::chrono::nanoseconds(*request.latency))});
  }
  if (request.half_duplex) given.push_back({"--half-duplex", "duplex", "half"});
  for (const Given& flag : given) {
    if (spec.options.contains(flag.key)) {
      return SpecError(spec.text,
                       absl::StrCat("says ", flag.key, "=", spec.options.at(flag.key), ", and ",
                                    std::string(flag.flag), " says it too; leave one out"));
    }
    expanded->options[flag.key] = flag.value;
  }
  return absl::OkStatus();
}

// Families, files and presets.
std::vector<Listing> Known() {
  std::vector<Listing> known = Platforms().Listings();
  known.push_back({.name = "file", .options = ":PATH", .help = "a network of your own"});
  return known;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Platform>> MakePlatform(const PlatformRequest& request) {
  if (const auto path = PathIn(request.network)) return MakeFromFile(*path, request);
  ASSIGN_OR_RETURN(const Spec spec, ParseSpec(request.network));
  ASSIGN_OR_RETURN(Spec expanded, Expand(spec));
  const PlatformKind* const family = Platforms().Find(expanded.name);
  if (family == nullptr) return UnknownNameError("network", spec.text, expanded.name, Known());
  CHECK(family->make) << spec.name << " stands for " << expanded.name << ", itself a preset";
  RETURN_IF_ERROR(AddFlags(request, spec, &expanded));
  return family->make(expanded, request.hosts);
}

namespace {

using Positions = google::protobuf::TextFormat::ParseInfoTree;

// Turns the parts of a file into a description, and adds their positions to errors.
class TextprotoReader {
 public:
  explicit TextprotoReader(const std::string& path) : path_(path) {}

  absl::StatusOr<PlatformDescription> Read() {
    absl::Status status = ReadTextProto(path_, Failure::kInput, &file_, &positions_);
    for (int i = 0; status.ok() && i < file_.host_size(); ++i) {
      status = At("host", i, builder_.AddNode(file_.host(i).name(), true));
    }
    for (int i = 0; status.ok() && i < file_.switch__size(); ++i) {
      status = At("switch", i, builder_.AddNode(file_.switch_(i).name(), false));
    }
    for (int i = 0; status.ok() && i < file_.link_size(); ++i) status = AddLink(i);
    if (status.ok()) status = At("loopback", -1, builder_.SetLoopback(file_.loopback()));
    RETURN_IF_ERROR(status);
    return builder_.description();
  }

 private:
  absl::Status AddLink(int index) {
    const PlatformFile::Link& link = file_.link(index);
    const Duplex duplex = link.duplex() == PlatformFile::HALF      ? Duplex::kHalf
                          : link.duplex() == PlatformFile::ONE_WAY ? Duplex::kOneWay
                                                                   : Duplex::kFull;
    return At("link", index,
              builder_.AddCable({.a = link.a(),
                                 .b = link.b(),
                                 .bandwidth = link.bandwidth(),
                                 .latency = link.latency(),
                                 .duplex = duplex}));
  }

  absl::Status At(std::string_view field, int index, const absl::Status& status) const {
    if (status.ok()) return status;
    const auto* descriptor = file_.GetDescriptor()->FindFieldByName(std::string(field));
    return ErrorAtLine(path_, positions_.GetLocation(descriptor, index).line + 1,
                       absl::StrCat(std::string(field), ": ", std::string(status.message())),
                       Failure::kInput);
  }

  const std::string& path_;
  PlatformFile file_;
  Positions positions_;
  PlatformBuilder builder_;
};

// Enough for a hundred thousand links. What is parsed takes many times the bytes of the file.
constexpr size_t kMaxBytes = size_t{16} << 20;

// The names of attributes are in the order of their enumerators.
enum NodeAttribute { kKind, kName };
constexpr std::array<std::string_view, 2> kNodeAttributes = {"kind", "name"};
enum EdgeAttribute { kBandwidth, kLatency, kDuplex };
constexpr std::array<std::string_view, 3> kEdgeAttributes = {"bandwidth", "latency", "duplex"};

const std::string& NameOf(const GraphmlNode& node) {
  return node.values[kName].empty() ? node.id : node.values[kName];
}

absl::Status AddNode(const GraphmlNode& node, PlatformBuilder* builder) {
  const std::string& kind = node.values[kKind];
  if (!kind.empty() && kind != "host" && kind != "switch") {
    return absl::InvalidArgumentError(absl::StrCat("kind is \"", kind, "\"; write host or switch"));
  }
  return builder->AddNode(NameOf(node), kind != "switch");
}

absl::Status AddEdge(const GraphmlGraph& graph, const GraphmlEdge& edge, PlatformBuilder* builder) {
  const std::string& duplex = edge.values[kDuplex];
  if (!duplex.empty() && duplex != "full" && duplex != "half") {
    return absl::InvalidArgumentError(absl::StrCat(
        "duplex is \"", duplex, "\"; write full or half, or a directed edge for a link one way"));
  }
  return builder->AddCable({.a = NameOf(graph.nodes[edge.source]),
                            .b = NameOf(graph.nodes[edge.target]),
                            .bandwidth = edge.values[kBandwidth],
                            .latency = edge.values[kLatency],
                            .duplex = edge.directed      ? Duplex::kOneWay
                                      : duplex == "half" ? Duplex::kHalf
                                                         : Duplex::kFull});
}

absl::Status ErrorAtElement(const std::string& path, const std::string& element,
                            const absl::Status& status) {
  return InputError(path, absl::StrCat(element, ": ", std::string(status.message())));
}

absl::StatusOr<PlatformDescription> ReadByEnding(const std::string& path) {
  const std::string lower = absl::AsciiStrToLower(path);
  if (lower.ends_with(".graphml") || lower.ends_with(".xml")) return ReadPlatformGraphml(path);
  return ReadPlatformTextproto(path);
}

}  // namespace

absl::StatusOr<PlatformDescription> ReadPlatformTextproto(const std::string& path) {
  return TextprotoReader(path).Read();
}

absl::StatusOr<PlatformDescription> ReadPlatformGraphml(const std::string& path) {
  const auto file = MappedFile::Open(path);
  if (!file.ok()) return WithFailure(file.status(), Failure::kInput);
  const auto bytes = (*file)->bytes();
  if (bytes.size() > kMaxBytes) {
    return InputError(path, absl::StrCat("has ", bytes.size(), " bytes; GraphML is read up to ",
                                         kMaxBytes, ", larger networks as textproto"));
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  ASSIGN_OR_RETURN(
      const auto graph,
      ParseGraphml(path, text, {.of_nodes = kNodeAttributes, .of_edges = kEdgeAttributes}));
  PlatformBuilder builder;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const absl::Status status = AddNode(graph.nodes[i], &builder);
    if (!status.ok()) return ErrorAtElement(path, NodeInGraphml(graph, i), status);
  }
  for (size_t i = 0; i < graph.edges.size(); ++i) {
    const absl::Status status = AddEdge(graph, graph.edges[i], &builder);
    if (!status.ok()) return ErrorAtElement(path, EdgeInGraphml(graph, i), status);
  }
  return builder.description();
}

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
