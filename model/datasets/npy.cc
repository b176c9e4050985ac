#include "model/datasets/npy.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <optional>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/printable.h"
#include "base/status.h"

namespace grapevine {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
// The longest header in bytes. Longer headers describe structures, which are refused anyway.
constexpr int64_t kLongestHeader = 1 << 16;
constexpr size_t kMostDimensions = 32;  // NumPy's own limit
// The largest array. A header that claims a larger one is taken to be broken.
constexpr int64_t kLargestArray = int64_t{1} << 36;  // bytes
// Bytes of the part that is in memory at a time, a multiple of every item size.
constexpr int64_t kPart = int64_t{4} << 20;
constexpr size_t kQuoted = 60;  // most bytes of untrusted text in a message

// Reads the Python literals of a header, one after the other. The reader stays in place if the
// requested literal does not come next.
class LiteralReader {
 public:
  explicit LiteralReader(std::string_view text) : text_(text) {}

  // Takes a piece of syntax or a name, after any blanks.
  bool Take(std::string_view token) {
    SkipBlanks();
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }

  // Takes 'text' or "text", without escapes.
  std::optional<std::string_view> Text() {
    SkipBlanks();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) return std::nullopt;
    const size_t end = text_.find(text_[0], 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view text = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return text;
  }

  std::optional<bool> Boolean() {
    if (Take("True")) return true;
    if (Take("False")) return false;
    return std::nullopt;
  }

  // Takes an integer, which is not negative.
  std::optional<int64_t> Integer() {
    SkipBlanks();
    const size_t digits = std::min(text_.find_first_not_of("0123456789"), text_.size());
    int64_t value = 0;
    if (!absl::SimpleAtoi(std::string(text_.substr(0, digits)), &value)) return std::nullopt;
    text_.remove_prefix(digits);
    return value;
  }

  // Takes a shape: "()", "(3,)", "(3, 28)".
  std::optional<std::vector<int64_t>> Shape() {
    if (!Take("(")) return std::nullopt;
    std::vector<int64_t> shape;
    while (!Take(")")) {
      const std::optional<int64_t> extent = Integer();
      if (!extent || shape.size() == kMostDimensions) return std::nullopt;
      shape.push_back(*extent);
      if (Take(",")) continue;
      if (!Take(")")) return std::nullopt;
      break;
    }
    return shape;
  }

  bool AtEnd() {
    SkipBlanks();
    return text_.empty();
  }

  std::string_view rest() const { return text_; }

 private:
  void SkipBlanks() {
    text_.remove_prefix(std::min(text_.find_first_not_of(" \t\n"), text_.size()));
  }

  std::string_view text_;
};

absl::Status Broken(std::string_view name, std::string_view text) {
  return InputError(
      name, absl::StrCat("its header is none of NumPy's arrays: ", Printable(text, kQuoted)));
}

absl::Status NoNumbers(std::string_view name, std::string_view type) {
  return InputError(
      name, absl::StrCat("expected integers or floating-point numbers of 1 to 8 bytes, found ",
                         "elements of type ", Printable(type, kQuoted),
                         "; convert them, as in x.astype('float32')"));
}

// Parses a type such as "<f4": byte order, kind, and bytes of an element.
absl::Status ParseType(std::string_view name, std::string_view type, NpyHeader* header) {
  constexpr std::string_view kOrders = "<>|", kKinds = "biuf", kSizes = "1248";
  if (type.size() != 3 || kOrders.find(type[0]) == std::string_view::npos ||
      kKinds.find(type[1]) == std::string_view::npos ||
      kSizes.find(type[2]) == std::string_view::npos) {
    return NoNumbers(name, type);
  }
  header->type = std::string(type);
  header->kind = type[1];
  header->item_size = type[2] - '0';
  const bool little = type[0] == '<', here = std::endian::native == std::endian::little;
  header->swapped = header->item_size > 1 && little != here;
  return absl::OkStatus();
}

absl::Status CountElements(std::string_view name, NpyHeader* header) {
  header->count = 1;
  for (const int64_t extent : header->shape) {
    if (extent == 0 || extent > kLargestArray / header->item_size / header->count) {
      return InputError(name, absl::StrCat("its shape is ", ShapeText(header->shape),
                                           "; expected no extent to be 0 and at most ",
                                           kLargestArray, " bytes in all"));
    }
    header->count *= extent;
  }
  return absl::OkStatus();
}

// Parses a field of the dictionary. `fields` has the names of the fields before it.
absl::Status ParseField(std::string_view name, std::string_view text, LiteralReader* literals,
                        NpyHeader* header, std::set<std::string_view>* fields) {
  const std::optional<std::string_view> key = literals->Text();
  if (!key || !literals->Take(":") || !fields->insert(*key).second) return Broken(name, text);
  if (*key == "descr") {
    const std::optional<std::string_view> type = literals->Text();
    // A list is the type of a structure's members.
    return type ? ParseType(name, *type, header) : NoNumbers(name, literals->rest());
  }
  if (*key == "fortran_order") {
    const std::optional<bool> fortran = literals->Boolean();
    if (!fortran) return Broken(name, text);
    if (!*fortran) return absl::OkStatus();
    return InputError(name,
                      "its elements are in Fortran's order; save numpy.ascontiguousarray(x) "
                      "instead of x");
  }
  const std::optional<std::vector<int64_t>> shape = literals->Shape();
  if (*key != "shape" || !shape) return Broken(name, text);
  header->shape = *shape;
  return absl::OkStatus();
}

absl::StatusOr<NpyHeader> ParseHeader(std::string_view name, std::string_view text) {
  LiteralReader literals(text);
  NpyHeader header;
  if (!literals.Take("{")) return Broken(name, text);
  std::set<std::string_view> fields;
  while (!literals.Take("}")) {
    RETURN_IF_ERROR(ParseField(name, text, &literals, &header, &fields));
    if (literals.Take(",")) continue;
    if (!literals.Take("}")) return Broken(name, text);
    break;
  }
  if (fields.size() != 3 || !literals.AtEnd()) return Broken(name, text);
  RETURN_IF_ERROR(CountElements(name, &header));
  return header;
}

absl::StatusOr<std::vector<uint8_t>> ReadWhole(std::string_view name, int64_t size,
                                               const ReadBytes& read) {
  ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, read(size));
  if (static_cast<int64_t>(bytes.size()) == size) return bytes;
  return InputError(name, absl::StrCat("expected a header of NumPy's, found an end after ",
                                       bytes.size(), " of ", size, " bytes"));
}

void SwapBytes(int64_t item_size, std::span<uint8_t> bytes) {
  const auto step = static_cast<size_t>(item_size);
  for (size_t at = 0; at + step <= bytes.size(); at += step) {
    std::ranges::reverse(bytes.subspan(at, step));
  }
}

}  // namespace

absl::StatusOr<NpyHeader> ReadNpyHeader(std::string_view name, const ReadBytes& read) {
  ASSIGN_OR_RETURN(const std::vector<uint8_t> begin, ReadWhole(name, kMagic.size() + 2, read));
  if (!std::equal(kMagic.begin(), kMagic.end(), begin.begin(),
                  [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; })) {
    return InputError(name, "expected an array of NumPy's, which begins with \\x93NUMPY");
  }
  const int version = begin[kMagic.size()];
  if (version < 1 || version > 3) {
    return InputError(
        name, absl::StrCat("expected version 1, 2 or 3 of NumPy's format, found ", version));
  }
  ASSIGN_OR_RETURN(const std::vector<uint8_t> size, ReadWhole(name, version == 1 ? 2 : 4, read));
  int64_t length = 0;
  for (size_t i = size.size(); i-- > 0;) length = length << 8 | size[i];
  if (length > kLongestHeader) {
    return InputError(name, absl::StrCat("expected a header of at most ", kLongestHeader,
                                         " bytes, found ", length));
  }
  ASSIGN_OR_RETURN(const std::vector<uint8_t> text, ReadWhole(name, length, read));
  return ParseHeader(name, {reinterpret_cast<const char*>(text.data()), text.size()});
}

absl::Status ReadNpyElements(std::string_view name, const NpyHeader& header, const ReadBytes& read,
                             const std::function<absl::Status(std::span<const uint8_t>)>& take) {
  const int64_t size = header.count * header.item_size;
  for (int64_t done = 0; done < size;) {
    const int64_t wanted = std::min(kPart, size - done);
    ASSIGN_OR_RETURN(std::vector<uint8_t> part, read(wanted));
    done += static_cast<int64_t>(part.size());
    if (static_cast<int64_t>(part.size()) < wanted) {
      return InputError(name, absl::StrCat("expected ", size, " bytes of elements, found ", done));
    }
    if (header.swapped) SwapBytes(header.item_size, part);
    RETURN_IF_ERROR(take(part));
  }
  ASSIGN_OR_RETURN(const std::vector<uint8_t> more, read(1));
  if (more.empty()) return absl::OkStatus();
  return InputError(name, absl::StrCat("expected ", size, " bytes of elements, found more"));
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  return absl::StrCat("(", absl::StrJoin(shape, ", "), shape.size() == 1 ? ",)" : ")");
}

}  // namespace grapevine
