#include "topology/files/field_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/byte_order_mark.h"
#include "base/status.h"

namespace grapevine {
namespace {

constexpr std::string_view kSeparators = " \t\r,";

void Split(std::string_view line, std::vector<std::string_view>* fields) {
  fields->clear();
  line = line.substr(0, line.find_first_of("#%"));
  while (true) {
    const size_t begin = line.find_first_not_of(kSeparators);
    if (begin == std::string_view::npos) return;
    line.remove_prefix(begin);
    fields->push_back(line.substr(0, line.find_first_of(kSeparators)));
    line.remove_prefix(fields->back().size());
  }
}

}  // namespace

absl::StatusOr<FieldReader> FieldReader::Open(const std::string& path) {
  auto file = MappedFile::Open(path);
  if (!file.ok()) return WithFailure(file.status(), Failure::kInput);
  return FieldReader(path, *std::move(file));
}

FieldReader::FieldReader(std::string path, std::unique_ptr<MappedFile> file)
    : path_(std::move(path)),
      file_(std::move(file)),
      rest_(WithoutByteOrderMark(
          {reinterpret_cast<const char*>(file_->bytes().data()), file_->bytes().size()})) {}

bool FieldReader::Next() {
  while (!rest_.empty()) {
    const std::string_view line = rest_.substr(0, rest_.find('\n'));
    rest_.remove_prefix(std::min(line.size() + 1, rest_.size()));
    ++line_;
    Split(line, &fields_);
    if (!fields_.empty()) return true;
  }
  return false;
}

absl::Status FieldReader::Error(std::string_view message) const {
  return InputError(absl::StrCat(path_, ":", line_, ": ", std::string(message)));
}

std::string Quoted(std::string_view field) {
  constexpr size_t kMaxShown = 40;
  const std::string cut(field.substr(0, kMaxShown));
  return absl::StrCat("'", absl::CHexEscape(cut), field.size() > kMaxShown ? "...'" : "'");
}

}  // namespace grapevine
