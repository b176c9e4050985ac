#include "topology/files/graphml_reader.h"

#include <expat.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "topology/files/field_reader.h"
#include "topology/stored_graph.h"

namespace grapevine {
namespace {

// The deepest nesting of elements. No graph needs more, and Expat should not remember more.
constexpr size_t kDeepest = 250;
// The longest default in bytes; each element has a copy.
constexpr size_t kLongestDefault = 256;
// The most bytes that are parsed at once; Expat counts in int, and copies what it is given.
constexpr size_t kChunk = size_t{64} << 20;
// Stands between a namespace and a name; neither can contain it.
constexpr char kSeparator = '\n';

// The kind of an element, by its name and its parent. Other elements of GraphML say nothing about
// edges.
enum class Element { kGraphml, kKey, kDefault, kGraph, kNode, kEdge, kHyperedge, kData, kOther };

Element ElementIn(Element parent, std::string_view tag) {
  switch (parent) {
    case Element::kGraphml:
      if (tag == "key") return Element::kKey;
      if (tag == "graph") return Element::kGraph;
      break;
    case Element::kKey:
      if (tag == "default") return Element::kDefault;
      break;
    case Element::kGraph:
      if (tag == "node") return Element::kNode;
      if (tag == "edge") return Element::kEdge;
      if (tag == "hyperedge") return Element::kHyperedge;
      break;
    case Element::kNode:
    case Element::kEdge:
      if (tag == "data") return Element::kData;
      if (tag == "graph") return Element::kGraph;
      break;
    default:
      break;
  }
  return Element::kOther;
}

std::string NodeName(size_t index, std::string_view id) {
  return id.empty() ? absl::StrCat("node ", index + 1)
                    : absl::StrCat("node ", index + 1, " (", std::string(id), ")");
}

std::string EdgeName(size_t index, std::string_view source, std::string_view target) {
  return absl::StrCat("edge ", index + 1, " (", std::string(source), " - ", std::string(target),
                      ")");
}

std::string Trimmed(const std::string& text) {
  return std::string(absl::StripAsciiWhitespace(text));
}

// The attributes of an element, in Expat's form.
class XmlAttributes {
 public:
  explicit XmlAttributes(const XML_Char** pairs) : pairs_(pairs) {}

  // Returns the value without blanks at its ends; empty if the attribute is absent.
  std::string Get(std::string_view name) const {
    for (const XML_Char** pair = pairs_; *pair != nullptr; pair += 2) {
      if (pair[0] == name) return Trimmed(pair[1]);
    }
    return "";
  }

 private:
  const XML_Char** pairs_;
};

// The attributes that are asked for, of one kind of element.
class Wanted {
 public:
  explicit Wanted(std::span<const std::string_view> names)
      : names_(names), defaults_(names.size()) {}

  static constexpr size_t kNone = ~size_t{0};
  // Returns the number of `name` among the attributes; kNone if it is not among them.
  size_t Find(std::string_view name) const {
    const auto found = std::ranges::find(names_, name);
    return found == names_.end() ? kNone : found - names_.begin();
  }
  void SetDefault(std::string_view name, const std::string& value) {
    if (const size_t number = Find(name); number != kNone) defaults_[number] = value;
  }
  const GraphmlValues& defaults() const { return defaults_; }

 private:
  const std::span<const std::string_view> names_;
  GraphmlValues defaults_;
};

// Builds the graph from the elements that Expat reports. Thread-compatible.
class GraphmlParser {
 public:
  GraphmlParser(const std::string& path, const GraphmlAttributes& attributes)
      : path_(path), of_nodes_(attributes.of_nodes), of_edges_(attributes.of_edges) {
    XML_SetUserData(xml_.get(), this);
    XML_SetElementHandler(
        xml_.get(),
        [](void* self, const XML_Char* name, const XML_Char** attributes) {
          static_cast<GraphmlParser*>(self)->Start(name, XmlAttributes(attributes));
        },
        [](void* self, const XML_Char*) { static_cast<GraphmlParser*>(self)->End(); });
    XML_SetCharacterDataHandler(xml_.get(), [](void* self, const XML_Char* text, int size) {
      static_cast<GraphmlParser*>(self)->Text({text, static_cast<size_t>(size)});
    });
    XML_SetStartDoctypeDeclHandler(
        xml_.get(), [](void* self, const XML_Char*, const XML_Char*, const XML_Char*, int inner) {
          static_cast<GraphmlParser*>(self)->DocumentType(inner != 0);
        });
  }

  absl::StatusOr<GraphmlGraph> Parse(std::string_view text) {
    do {
      const std::string_view chunk = text.substr(0, kChunk);
      text.remove_prefix(chunk.size());
      const auto read = XML_Parse(xml_.get(), chunk.data(), static_cast<int>(chunk.size()),
                                  text.empty() ? XML_TRUE : XML_FALSE);
      RETURN_IF_ERROR(status_);
      if (read != XML_STATUS_OK) {
        return Malformed(XML_ErrorString(XML_GetErrorCode(xml_.get())));
      }
    } while (!text.empty());
    if (!has_graph_) return Error("not GraphML: there is no element graph");
    RETURN_IF_ERROR(ResolveEnds());
    return std::move(graph_);
  }

 private:
  void Start(std::string_view name, const XmlAttributes& attributes) {
    if (!status_.ok()) return;
    const size_t separator = name.rfind(kSeparator);
    const bool bare = separator == std::string_view::npos;
    const std::string_view space = bare ? "" : name.substr(0, separator);
    const std::string_view tag = bare ? name : name.substr(separator + 1);
    if (open_.size() == kDeepest) {
      return Stop(Malformed(absl::StrCat("elements nested more than ", kDeepest, " deep")));
    }
    if (open_.empty()) {
      if (tag != "graphml") return Stop(Error("not GraphML: there is no element graphml"));
      space_ = std::string(space);
      open_.push_back(Element::kGraphml);
      return;
    }
    const Element element = space == space_ ? ElementIn(open_.back(), tag) : Element::kOther;
    const absl::Status status = Begin(element, attributes);
    if (!status.ok()) return Stop(status);
    open_.push_back(element);
  }

  absl::Status Begin(Element element, const XmlAttributes& attributes) {
    switch (element) {
      case Element::kKey:
        return BeginKey(attributes);
      case Element::kGraph:
        return BeginGraph(attributes);
      case Element::kNode:
        return BeginNode(attributes);
      case Element::kEdge:
        return BeginEdge(attributes);
      case Element::kHyperedge:
        return Error("has a hyperedge; write edges between two nodes");
      case Element::kData:
        BeginData(attributes);
        break;
      case Element::kDefault:
        text_.clear();
        break;
      default:
        break;
    }
    return absl::OkStatus();
  }

  absl::Status BeginKey(const XmlAttributes& attributes) {
    key_name_ = attributes.Get("attr.name");
    key_for_ = attributes.Get("for");
    if (!IsWanted(key_name_)) return absl::OkStatus();
    if (has_graph_) {
      return Error(absl::StrCat("the key of ", Quoted(key_name_),
                                " stands behind the graph; write it before"));
    }
    key_names_[attributes.Get("id")] = key_name_;
    return absl::OkStatus();
  }

  bool IsWanted(const std::string& name) const {
    return of_nodes_.Find(name) != Wanted::kNone || of_edges_.Find(name) != Wanted::kNone;
  }

  absl::Status BeginGraph(const XmlAttributes& attributes) {
    if (open_.back() != Element::kGraphml) {
      return Error(absl::StrCat(open_.back() == Element::kNode
                                    ? NodeInGraphml(graph_, graph_.nodes.size() - 1)
                                    : absl::StrCat("edge ", graph_.edges.size()),
                                " has a graph inside; write one flat graph"));
    }
    if (has_graph_) return Error("has a second graph; write one a file");
    has_graph_ = true;
    const std::string standard = attributes.Get("edgedefault");
    if (!standard.empty() && standard != "directed" && standard != "undirected") {
      return Error(
          absl::StrCat("edgedefault is ", Quoted(standard), "; write directed or undirected"));
    }
    directed_ = standard == "directed";
    return absl::OkStatus();
  }

  absl::Status BeginNode(const XmlAttributes& attributes) {
    const std::string id = attributes.Get("id");
    const size_t index = graph_.nodes.size();
    const auto error = [&](std::string_view what) {
      return Error(absl::StrCat(NodeName(index, id), ": ", std::string(what)));
    };
    if (id.empty()) return error("no id; give every node one of its own");
    if (index == kMaxStoredEdges) return error("there are more nodes than can be stored");
    const int32_t number = NumberOf(id);
    if (node_of_[number] >= 0) return error("an earlier node has the same id; give it another");
    node_of_[number] = static_cast<int32_t>(index);
    graph_.nodes.push_back({id, of_nodes_.defaults()});
    return absl::OkStatus();
  }

  absl::Status BeginEdge(const XmlAttributes& attributes) {
    const std::string source = attributes.Get("source"), target = attributes.Get("target");
    const auto error = [&](std::string_view what) {
      return Error(
          absl::StrCat(EdgeName(graph_.edges.size(), source, target), ": ", std::string(what)));
    };
    if (source.empty()) return error("no source; write the ids of both nodes");
    if (target.empty()) return error("no target; write the ids of both nodes");
    const std::string own = attributes.Get("directed");
    const bool one_way = own == "true" || own == "1", both_ways = own == "false" || own == "0";
    if (!own.empty() && !one_way && !both_ways) {
      return error(absl::StrCat("directed is ", Quoted(own), "; write true or false"));
    }
    if (graph_.edges.size() == kMaxStoredEdges) {
      return error(absl::StrCat("more than ", kMaxStoredEdges, " edges"));
    }
    graph_.edges.push_back({.source = NumberOf(source),
                            .target = NumberOf(target),
                            .directed = own.empty() ? directed_ : one_way,
                            .values = of_edges_.defaults()});
    return absl::OkStatus();
  }

  void BeginData(const XmlAttributes& attributes) {
    text_.clear();
    value_ = nullptr;
    const auto name = key_names_.find(attributes.Get("key"));
    if (name == key_names_.end()) return;
    const bool of_node = open_.back() == Element::kNode;
    const size_t number = (of_node ? of_nodes_ : of_edges_).Find(name->second);
    if (number == Wanted::kNone) return;
    value_ = &(of_node ? graph_.nodes.back().values : graph_.edges.back().values)[number];
  }

  void Text(std::string_view text) {
    if (!status_.ok() || open_.empty()) return;
    const bool kept =
        open_.back() == Element::kDefault || (open_.back() == Element::kData && value_ != nullptr);
    if (kept) text_.append(text);
  }

  void End() {
    if (!status_.ok()) return;
    if (open_.back() == Element::kData && value_ != nullptr) *value_ = Trimmed(text_);
    if (open_.back() == Element::kDefault) EndDefault();
    open_.pop_back();
  }

  void EndDefault() {
    const std::string value = Trimmed(text_);
    if (IsWanted(key_name_) && value.size() > kLongestDefault) {
      return Stop(Error(absl::StrCat("the default of ", Quoted(key_name_), " has ", value.size(),
                                     " bytes, more than ", kLongestDefault)));
    }
    const bool of_all = key_for_.empty() || key_for_ == "all";
    if (of_all || key_for_ == "node") of_nodes_.SetDefault(key_name_, value);
    if (of_all || key_for_ == "edge") of_edges_.SetDefault(key_name_, value);
  }

  void DocumentType(bool declarations) {
    if (!declarations) return;
    Stop(Malformed("a document type with declarations; remove them"));
  }

  // Returns the number of an id. Each id gets a number when it is first met, since edges may come
  // before their nodes.
  int32_t NumberOf(const std::string& id) {
    const auto [at, is_new] = numbers_.try_emplace(id, static_cast<int32_t>(node_of_.size()));
    if (is_new) node_of_.push_back(-1);
    return at->second;
  }

  // Replaces the numbers at the ends of edges by nodes.
  absl::Status ResolveEnds() {
    for (size_t i = 0; i < graph_.edges.size(); ++i) {
      GraphmlEdge& edge = graph_.edges[i];
      const int32_t source = node_of_[edge.source], target = node_of_[edge.target];
      if (source < 0 || target < 0) {
        const std::string from = IdOf(edge.source), to = IdOf(edge.target);
        return Error(absl::StrCat(EdgeName(i, from, to), ": no node has the id ",
                                  Quoted(source < 0 ? from : to), "; add it or correct the id"));
      }
      edge.source = source;
      edge.target = target;
    }
    return absl::OkStatus();
  }

  // Returns the id with a number, for messages.
  std::string IdOf(int32_t number) const {
    for (const auto& [id, other] : numbers_) {
      if (other == number) return id;
    }
    return "";
  }

  void Stop(absl::Status status) {
    status_ = std::move(status);
    XML_StopParser(xml_.get(), XML_FALSE);
  }

  absl::Status Malformed(std::string_view what) const {
    return InputError(absl::StrCat(path_, ":", XML_GetCurrentLineNumber(xml_.get())),
                      absl::StrCat("not GraphML: ", std::string(what)));
  }
  absl::Status Error(std::string_view what) const { return InputError(path_, what); }

  struct Free {
    void operator()(XML_Parser parser) const { XML_ParserFree(parser); }
  };
  const std::unique_ptr<XML_ParserStruct, Free> xml_{XML_ParserCreateNS(nullptr, kSeparator)};
  const std::string& path_;
  Wanted of_nodes_;
  Wanted of_edges_;

  absl::Status status_;        // the first error, which ends the parsing
  std::vector<Element> open_;  // the open elements, outermost first
  std::string space_;     // the namespace of <graphml>; elements of another one are not GraphML
  std::string key_name_;  // attr.name of the <key> that is or was open
  std::string key_for_;   // "for" of that <key>
  std::string text_;      // text of the open <default> or <data>, if it is kept
  std::string* value_ = nullptr;  // where the open <data> goes; null if it is not kept
  bool has_graph_ = false;
  bool directed_ = false;

  absl::flat_hash_map<std::string, std::string> key_names_;  // by id of the <key>
  absl::flat_hash_map<std::string, int32_t> numbers_;        // numbers of nodes, by id
  std::vector<int32_t> node_of_;  // nodes, by number; -1: the id is only in edges
  GraphmlGraph graph_;            // the ends of its edges are numbers until all is read
};

}  // namespace

absl::StatusOr<GraphmlGraph> ParseGraphml(const std::string& path, std::string_view text,
                                          const GraphmlAttributes& attributes) {
  return GraphmlParser(path, attributes).Parse(text);
}

std::string NodeInGraphml(const GraphmlGraph& graph, size_t index) {
  return NodeName(index, graph.nodes[index].id);
}

std::string EdgeInGraphml(const GraphmlGraph& graph, size_t index) {
  const GraphmlEdge& edge = graph.edges[index];
  return EdgeName(index, graph.nodes[edge.source].id, graph.nodes[edge.target].id);
}

}  // namespace grapevine
