// Everything of one kind that a spec can name (base/spec.h): algorithms, topologies, data sets,
// ... Each entry registers itself in the file that defines it, and code that needs names, help
// or traits asks the registry: there is no other list of names.
//
//   const Registration kStar(Topologies(), {.name = "star", .help = "...", .make = MakeStar});
//
// at namespace scope registers before main begins. A library that holds such an object needs
// alwayslink = True in its BUILD file: nothing refers to the object, so that the linker would
// otherwise drop its file. (A list of calls in one place would not need it, but would be a
// second file to edit for each new entry, and one that users cannot edit.) Code that decides at
// run time calls Add instead, before anybody looks for the name.
//
// A kind T is a struct with the strings `name`, `options` and `help`, in addition to its
// factory and traits; with a bool `tail` if the text after some names (a path or another spec)
// keeps its colons; and with a function `variants` if KIND in the options of some is a name in
// another registry, whose listings it returns (allreduce:KIND). Its registry is a function-local
// static, so that registrations find it in any order of initialization; entries are sorted by name,
// which does not depend on that order either.
//
// Thread-safety: safe from any thread, before main and after. Entries are never changed or
// removed: pointers to them stay valid as long as the registry.
#ifndef GRAPEVINE_BASE_REGISTRY_H_
#define GRAPEVINE_BASE_REGISTRY_H_

#include <glog/logging.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/spec.h"

namespace grapevine {

// How an entry is written and what it is: "torus", "[:4x8]", "a grid that wraps around".
struct Listing {
  std::string name;     // what specs begin with
  std::string options;  // what may follow, optional parts in brackets; may be empty
  std::string help;     // one line

  std::string usage() const { return name + options; }
};

// "ring, torus[:4x8]".
std::string JoinUsages(const std::vector<Listing>& listings);
// "ring (two neighbours), torus[:4x8] (a grid that wraps around)".
std::string JoinHelp(const std::vector<Listing>& listings);
// Its help continued by what KIND in its options may be.
Listing WithVariants(Listing listing, const std::vector<Listing>& variants);
// Says that no `kind` ("topology") is called `name`, in the spec `text`; suggests the nearest
// name, if one is close, or of a path what it may be of, and lists all usages. kUsage.
absl::Status UnknownNameError(std::string_view kind, std::string_view text, std::string_view name,
                              const std::vector<Listing>& known);
// Empty where a spec can name it and help can list it; else what is wrong.
std::string FlawOf(const Listing& listing);

template <typename T>
class Registry {
 public:
  // `kind` is what errors call an entry: "topology".
  explicit Registry(std::string_view kind) : kind_(kind) {}
  ~Registry() {
    for (const Node* node = first_; node != nullptr;) delete std::exchange(node, node->next);
  }
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // A name that exists already, or that no spec can have, is a bug.
  void Add(T entry) {
    const std::string flaw = FlawOf(ListingOf(entry));
    CHECK(flaw.empty()) << kind_ << " '" << entry.name << "' " << flaw;
    CHECK(Find(entry.name) == nullptr) << kind_ << " " << entry.name << " is registered twice";
    Node* const node = new Node{std::move(entry), first_};
    while (!first_.compare_exchange_weak(node->next, node)) {
    }
  }

  // Null where there is none.
  const T* Find(std::string_view name) const {
    for (const Node* node = first_; node != nullptr; node = node->next) {
      if (node->entry.name == name) return &node->entry;
    }
    return nullptr;
  }

  // A parsed spec, and the entry that it names.
  struct Named {
    Spec spec;
    const T* kind;
  };

  // ParseSpec's errors, or UnknownNameError.
  absl::StatusOr<Named> Read(std::string_view text) const {
    const T* const kind = Find(text.substr(0, text.find(':')));
    absl::StatusOr<Spec> spec =
        kind != nullptr && HasTail(*kind) ? ParseSpecWithTail(text) : ParseSpec(text);
    if (!spec.ok()) return spec.status();
    if (kind != nullptr) return Named{*std::move(spec), kind};
    return UnknownNameError(kind_, text, spec->name, Listings());
  }

  // By name.
  std::vector<const T*> All() const {
    std::vector<const T*> all;
    for (const Node* node = first_; node != nullptr; node = node->next) all.push_back(&node->entry);
    std::ranges::sort(all, {}, [](const T* entry) { return std::string_view(entry->name); });
    return all;
  }

  std::vector<Listing> Listings() const {
    std::vector<Listing> listings;
    for (const T* entry : All()) listings.push_back(ListingOf(*entry));
    return listings;
  }

 private:
  // A list that only grows needs no lock: a node is complete before it is linked in.
  struct Node {
    const T entry;
    const Node* next;
  };

  static bool HasTail(const T& entry) {
    if constexpr (requires { entry.tail; }) return entry.tail;
    return false;
  }
  static Listing ListingOf(const T& entry) {
    const Listing listing{entry.name, entry.options, entry.help};
    if constexpr (requires { entry.variants; }) {
      if (entry.variants) return WithVariants(listing, entry.variants());
    }
    return listing;
  }

  const std::string kind_;
  std::atomic<const Node*> first_ = nullptr;
};

// Registers at namespace scope; see above.
template <typename T>
struct Registration {
  Registration(Registry<T>& registry, std::type_identity_t<T> entry) {
    registry.Add(std::move(entry));
  }
};

// For "did you mean ...?": the only name that `typed` abbreviates, word by word; else the name with
// the fewest edits from it (insertions, deletions, substitutions, transpositions), the first of
// several; "" when none is close.
std::string NearestName(std::string_view typed, const std::vector<std::string>& names);

}  // namespace grapevine

#endif  // GRAPEVINE_BASE_REGISTRY_H_
