// The one-line notation for everything with options: name:argument:key=value.
//
// "ring", "torus:4x8", "small-world:k=4:p=0.1", "mnist:/data/mnist". Colons
// separate, the first '=' of a field that begins with a key makes it an option,
// and commas separate the cells of a sweep. Topologies, algorithms, models,
// data sets and optimizers are all written this way.
//
// Errors are InvalidArgument, quote the spec and carry Failure::kUsage.
// Thread-safety: Spec is a value; a SpecReader belongs to one thread and must
// not outlive its Spec.
#ifndef GRAPEVINE_BASE_SPEC_H_
#define GRAPEVINE_BASE_SPEC_H_

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace grapevine {

struct Spec {
  std::string text;  // as the user wrote it
  std::string name;
  std::vector<std::string> arguments;          // the fields without a key, in order
  std::map<std::string, std::string> options;  // key -> value
};

// Refuses an empty name or field, a key without a value and a repeated key.
// A key is lower-case letters, digits, '-' and '_'; a path that would read as
// an option is written with a leading "./".
absl::StatusOr<Spec> ParseSpec(std::string_view text);

// What follows the name as the one argument, with its colons: "file:/a:b", "lazy:uniform".
// Refuses an empty name.
absl::StatusOr<Spec> ParseSpecWithTail(std::string_view text);

// The cells of "ring,torus:4x8,file:g.edges", trimmed; refuses empty ones.
absl::StatusOr<std::vector<std::string>> SplitSpecList(std::string_view list);

// An InvalidArgument error "TEXT: MESSAGE" that carries Failure::kUsage.
absl::Status SpecError(std::string_view text, std::string_view message);

// Reads a Spec field by field and reports at the end the first bad value, or a field that was
// never asked for, together with the known keys.
//
//   SpecReader reader(spec);
//   const int64_t degree = reader.Integer("d", 3, 1);
//   const std::string order = reader.Choice("order", {"awc", "atc"});
//   RETURN_IF_ERROR(reader.Finish());
class SpecReader {
 public:
  explicit SpecReader(const Spec& spec) : spec_(spec) {}

  // The next argument, or `fallback` when there are no more.
  std::string Argument(std::string_view fallback = "");
  // Options; the bounds are inclusive. After an error they return `fallback`.
  int64_t Integer(std::string_view key, int64_t fallback,
                  int64_t min = std::numeric_limits<int64_t>::min(),
                  int64_t max = std::numeric_limits<int64_t>::max());
  // Finite numbers only.
  double Real(std::string_view key, double fallback,
              double min = std::numeric_limits<double>::lowest(),
              double max = std::numeric_limits<double>::max());
  std::string Text(std::string_view key, std::string_view fallback);
  // One of `choices`; the first is the default.
  std::string Choice(std::string_view key, const std::vector<std::string>& choices);

  // OK, or the first error. Call it last, once.
  absl::Status Finish();

 private:
  const std::string* Find(std::string_view key);
  void Refuse(std::string_view key, std::string_view why);

  const Spec& spec_;
  size_t next_argument_ = 0;
  std::vector<std::string> known_;
  absl::Status status_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_BASE_SPEC_H_
