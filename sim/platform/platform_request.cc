#include "sim/platform/platform_request.h"

#include <glog/logging.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
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
#include "topology/files/parser_limits.h"

namespace grapevine {
namespace {

constexpr std::string_view kFile = "file:";

// The path in a spec that names a file.
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

// A preset's name becomes the spec that it stands for; the user's options override its own.
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

using boost::property_tree::ptree;

// A hundred thousand links; the parsed tree takes many times the bytes of the file.
constexpr size_t kMaxBytes = size_t{16} << 20;
// The parser is recursive.
constexpr int64_t kDeepest = 250;

using Attributes = std::map<std::string, std::string>;  // by name

std::string AttributeOf(const ptree& element, const std::string& name) {
  return element.get(ptree::path_type("<xmlattr>/" + name, '/'), "");
}

// What the <key> elements say: data refers to attributes by id.
struct Keys {
  std::map<std::string, std::string> names;    // by id
  std::map<std::string, Attributes> defaults;  // by "node", "edge"
};

Keys ReadKeys(const ptree& graphml) {
  Keys keys;
  for (const auto& [tag, element] : graphml) {
    if (tag != "key") continue;
    const std::string name = AttributeOf(element, "attr.name");
    keys.names[AttributeOf(element, "id")] = name;
    const auto value = element.get_optional<std::string>("default");
    if (!value) continue;
    const std::string owner = AttributeOf(element, "for");
    for (const std::string kind : {"node", "edge"}) {
      if (owner == kind || owner == "all" || owner.empty()) keys.defaults[kind][name] = *value;
    }
  }
  return keys;
}

class GraphmlReader {
 public:
  explicit GraphmlReader(std::string path) : path_(std::move(path)) {}

  absl::StatusOr<PlatformDescription> Read() {
    ptree document;
    RETURN_IF_ERROR(Parse(&document));
    const auto graphml = document.get_child_optional("graphml");
    if (!graphml) return Error("not GraphML: there is no element graphml");
    const auto graph = graphml->get_child_optional("graph");
    if (!graph) return Error("not GraphML: there is no element graph");
    keys_ = ReadKeys(*graphml);
    directed_ = AttributeOf(*graph, "edgedefault") == "directed";
    for (const char* kind : {"node", "edge"}) {
      RETURN_IF_ERROR(AddAll(*graph, kind));
    }
    return builder_.description();
  }

 private:
  absl::Status Parse(ptree* document) const {
    const auto file = MappedFile::Open(path_);
    if (!file.ok()) return WithFailure(file.status(), Failure::kInput);
    const auto bytes = (*file)->bytes();
    if (bytes.size() > kMaxBytes) {
      return Error(absl::StrCat("has ", bytes.size(), " bytes; GraphML is read up to ", kMaxBytes,
                                ", larger networks as textproto"));
    }
    std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!XmlIsShallow(text, kDeepest)) {
      return Error(absl::StrCat("not GraphML: elements nested more than ", kDeepest,
                                " deep, or a document type with declarations"));
    }
    try {
      std::istringstream stream(std::move(text));
      namespace xml = boost::property_tree::xml_parser;
      read_xml(stream, *document, xml::no_comments | xml::trim_whitespace);
    } catch (const boost::property_tree::xml_parser_error& error) {
      return InputError(absl::StrCat(path_, ":", error.line(), ": not GraphML: ", error.message()));
    }
    return absl::OkStatus();
  }

  absl::Status AddAll(const ptree& graph, const std::string& kind) {
    int number = 0;
    for (const auto& [tag, element] : graph) {
      if (tag == "hyperedge") return Error("has a hyperedge; write edges between two nodes");
      if (tag != kind) continue;
      ++number;
      if (element.count("graph") > 0) {
        return Error(absl::StrCat(kind, " ", number, " has a graph inside; write one flat graph"));
      }
      const absl::Status status = kind == "node" ? AddNode(element) : AddEdge(element);
      if (!status.ok()) {
        return Error(absl::StrCat(kind, " ", number, NameOf(kind, element), ": ",
                                  std::string(status.message())));
      }
    }
    return absl::OkStatus();
  }

  static std::string NameOf(const std::string& kind, const ptree& element) {
    if (kind == "node") return absl::StrCat(" (", AttributeOf(element, "id"), ")");
    return absl::StrCat(" (", AttributeOf(element, "source"), " - ", AttributeOf(element, "target"),
                        ")");
  }

  Attributes DataOf(const std::string& kind, const ptree& element) const {
    Attributes attributes;
    if (const auto found = keys_.defaults.find(kind); found != keys_.defaults.end()) {
      attributes = found->second;
    }
    for (const auto& [tag, data] : element) {
      if (tag != "data") continue;
      const auto name = keys_.names.find(AttributeOf(data, "key"));
      if (name != keys_.names.end()) attributes[name->second] = data.data();
    }
    return attributes;
  }

  absl::Status AddNode(const ptree& element) {
    Attributes attributes = DataOf("node", element);
    const std::string id = AttributeOf(element, "id");
    const std::string kind = attributes["kind"];
    if (!kind.empty() && kind != "host" && kind != "switch") {
      return absl::InvalidArgumentError(
          absl::StrCat("kind is \"", kind, "\"; write host or switch"));
    }
    if (id.empty()) return absl::InvalidArgumentError("no id; give every node one of its own");
    const std::string name = attributes["name"].empty() ? id : attributes["name"];
    if (!name_of_id_.emplace(id, name).second) {
      return absl::InvalidArgumentError("an earlier node has the same id; give it another");
    }
    return builder_.AddNode(name, kind != "switch");
  }

  absl::Status AddEdge(const ptree& element) {
    Attributes attributes = DataOf("edge", element);
    const std::string own = AttributeOf(element, "directed");
    const bool directed = own.empty() ? directed_ : own == "true";
    const std::string duplex = attributes["duplex"];
    if (!duplex.empty() && duplex != "full" && duplex != "half") {
      return absl::InvalidArgumentError(absl::StrCat(
          "duplex is \"", duplex, "\"; write full or half, or a directed edge for a link one way"));
    }
    return builder_.AddCable({.a = NodeName(AttributeOf(element, "source")),
                              .b = NodeName(AttributeOf(element, "target")),
                              .bandwidth = attributes["bandwidth"],
                              .latency = attributes["latency"],
                              .duplex = directed           ? Duplex::kOneWay
                                        : duplex == "half" ? Duplex::kHalf
                                                           : Duplex::kFull});
  }

  // The name of a node, or the id itself where there is none.
  std::string NodeName(const std::string& id) const {
    const auto found = name_of_id_.find(id);
    return found != name_of_id_.end() ? found->second : id;
  }

  absl::Status Error(const std::string& message) const { return InputError(path_, message); }

  const std::string path_;
  Keys keys_;
  bool directed_ = false;
  std::map<std::string, std::string> name_of_id_;
  PlatformBuilder builder_;
};

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
  return GraphmlReader(path).Read();
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
