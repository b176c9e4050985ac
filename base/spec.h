// The one-line notation for everything with options: name:argument:key=value.
//
// "ring", "torus:4x8", "small-world:k=4:p=0.1", "mnist:/data/mnist". Colons
// separate, the first '=' of a field that begins with a key makes it an option,
// and commas separate the cells of a sweep. Topologies, algorithms, models,
// data sets and optimizers are all written this way.
//
// Errors are InvalidArgument, quote the spec and carry Failure::kUsage.
//
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

// Parses a spec. Refuses an empty name or field, a key without a value and a repeated key.
// A key consists of lower-case letters, digits, '-' and '_'. A path that would read as
// an option is written with a leading "./".
absl::StatusOr<Spec> ParseSpec(std::string_view text);

// Parses a spec whose name is followed by one argument, which may contain colons: "file:/a:b",
// "lazy:uniform". Refuses an empty name.
absl::StatusOr<Spec> ParseSpecWithTail(std::string_view text);

// Splits a list such as "ring,torus:4x8,file:g.edges" into its cells, without the white space
// around them. Refuses empty cells.
absl::StatusOr<std::vector<std::string>> SplitSpecList(std::string_view list);

// Returns an InvalidArgument error "TEXT: MESSAGE" that carries Failure::kUsage.
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

  // Returns the next argument, or `fallback` if none is left.
  std::string Argument(std::string_view fallback = "");
  // Returns the integer option `key`, or `fallback` if it is absent or bad. Bounds are inclusive.
  int64_t Integer(std::string_view key, int64_t fallback,
                  int64_t min = std::numeric_limits<int64_t>::min(),
                  int64_t max = std::numeric_limits<int64_t>::max());
  // Returns the option `key`, a finite number, or `fallback` if it is absent or bad. Bounds are
  // inclusive.
  double Real(std::string_view key, double fallback,
              double min = std::numeric_limits<double>::lowest(),
              double max = std::numeric_limits<double>::max());
  std::string Text(std::string_view key, std::string_view fallback);
  // Returns the option `key`, which must be one of `choices`, or the first choice if the option is
  // absent or bad.
  std::string Choice(std::string_view key, const std::vector<std::string>& choices);

  // Returns OK or the first error. Must be called last, and once.
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
