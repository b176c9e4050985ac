// A registry of all entries of one kind that a spec can name (base/spec.h): all algorithms, all
// topologies, all data sets, and so on. Each entry registers itself in the file that defines it,
// and code that needs names, help or traits asks the registry, which is the only list of names.
//
//   const Registration kStar(Topologies(), {.name = "star", .help = "...", .make = MakeStar});
//
// at namespace scope registers an entry before main begins. A library that holds such an object
// needs alwayslink = True in its BUILD file; otherwise the linker drops the object's file, because
// nothing refers to it. (A central list of calls would not need alwayslink, but each new entry
// would have to be added to it, and users cannot edit it.) Code that decides at run time calls Add
// instead, before the name is looked up for the first time.
//
// A kind T is a struct with the strings `name`, `options` and `help`, in addition to its factory
// and traits. It has a bool `tail` if the text after some names (a path or another spec) keeps its
// colons. It has a function `variants`, which returns listings of another registry, if KIND in the
// options of some entries is a name in that registry (allreduce:KIND). The registry of a kind is a
// function-local static, so that registrations find it in any order of initialization. Entries are
// sorted by name, which does not depend on that order either.
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

// The notation and the description of an entry: "torus", "[:4x8]", "a grid that wraps around".
struct Listing {
  std::string name;     // the beginning of the entry's specs
  std::string options;  // what may follow the name, optional parts in brackets; may be empty
  std::string help;     // one line

  std::string usage() const { return name + options; }
};

// Returns the usages as a list: "ring, torus[:4x8]".
std::string JoinUsages(const std::vector<Listing>& listings);
// Returns usages with help: "ring (two neighbours), torus[:4x8] (a grid that wraps around)".
std::string JoinHelp(const std::vector<Listing>& listings);
// Returns `listing` with `variants`, the possible values of KIND in its options, added to its help.
Listing WithVariants(Listing listing, const std::vector<Listing>& variants);
// Returns an error with Failure::kUsage, which says that no `kind` ("topology") has the name `name`
// that the spec `text` begins with. It suggests the nearest name, if one is close, and lists all
// usages. If `name` is a path, it suggests specs that contain this path.
absl::Status UnknownNameError(std::string_view kind, std::string_view text, std::string_view name,
                              const std::vector<Listing>& known);
// Returns "" if a spec can name `listing` and its help is one line, and otherwise what is wrong.
std::string FlawOf(const Listing& listing);

template <typename T>
class Registry {
 public:
  // `kind` is the word for an entry in error messages: "topology".
  explicit Registry(std::string_view kind) : kind_(kind) {}
  ~Registry() {
    for (const Node* node = first_; node != nullptr;) delete std::exchange(node, node->next);
  }
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // Adds an entry. CHECK-fails if its name is taken or if no spec can name it (FlawOf).
  void Add(T entry) {
    const std::string flaw = FlawOf(ListingOf(entry));
    CHECK(flaw.empty()) << kind_ << " '" << entry.name << "' " << flaw;
    CHECK(Find(entry.name) == nullptr) << kind_ << " " << entry.name << " is registered twice";
    Node* const node = new Node{std::move(entry), first_};
    while (!first_.compare_exchange_weak(node->next, node)) {
    }
  }

  // Returns the entry with this name, or null if none exists.
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

  // Parses `text` and finds the entry that it names. Errors are those of ParseSpec and
  // UnknownNameError.
  absl::StatusOr<Named> Read(std::string_view text) const {
    const T* const kind = Find(text.substr(0, text.find(':')));
    absl::StatusOr<Spec> spec =
        kind != nullptr && HasTail(*kind) ? ParseSpecWithTail(text) : ParseSpec(text);
    if (!spec.ok()) return spec.status();
    if (kind != nullptr) return Named{*std::move(spec), kind};
    return UnknownNameError(kind_, text, spec->name, Listings());
  }

  // Returns all entries, sorted by name.
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
  // A node of the linked list of entries. The list only grows and each node is complete before it
  // is linked in, so that readers need no lock.
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

// Registers an entry on construction; meant for objects at namespace scope (see the top of this
// file).
template <typename T>
struct Registration {
  Registration(Registry<T>& registry, std::type_identity_t<T> entry) {
    registry.Add(std::move(entry));
  }
};

// Returns the name to suggest in "did you mean ...?". If `typed` abbreviates exactly one name word
// by word, it is that name; otherwise the name with the fewest edits from `typed` (insertions,
// deletions, substitutions, transpositions), the first one of several. Returns "" if none is close.
std::string NearestName(std::string_view typed, const std::vector<std::string>& names);

}  // namespace grapevine

#endif  // GRAPEVINE_BASE_REGISTRY_H_
