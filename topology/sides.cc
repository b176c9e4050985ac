#include "topology/sides.h"

#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace grapevine {

absl::StatusOr<std::vector<Rank>> ParseSides(const Spec& spec, const std::string& text) {
  std::vector<Rank> sides;
  int64_t product = 1;
  for (const std::string& field : std::vector<std::string>(absl::StrSplit(text, 'x'))) {
    Rank side = 0;
    if (!absl::SimpleAtoi(field, &side) || side < 1) {
      return SpecError(spec.text,
                       absl::StrCat("'", field, "' is not the length of a side; write 4x8"));
    }
    sides.push_back(side);
    product *= side;
    if (product > std::numeric_limits<Rank>::max()) {
      return SpecError(spec.text, "more nodes than fit 31 bits");
    }
  }
  return sides;
}

std::vector<Rank> NearSquareSides(Rank n) {
  Rank rows = 1;
  for (Rank divisor = 1; int64_t{divisor} * divisor <= n; ++divisor) {
    if (n % divisor == 0) rows = divisor;
  }
  return {rows, n / rows};
}

Rank ProductOf(std::span<const Rank> sides) {
  Rank product = 1;
  for (const Rank side : sides) product *= side;
  return product;
}

}  // namespace grapevine
