#include "run/text_proto.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "system/file.h"

namespace grapevine {
namespace {

// Larger than any file written by a person. A parsed message takes many times this memory.
constexpr size_t kMaxBytes = size_t{64} << 20;

// Keeps the first error; the parser counts lines from 0.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  FirstError(const std::string& path, Failure failure) : path_(path), failure_(failure) {}
  void AddError(int line, int, const std::string& message) override {
    if (status_.ok()) status_ = ErrorAtLine(path_, line + 1, message, failure_);
  }
  const absl::Status& status() const { return status_; }

 private:
  const std::string& path_;
  const Failure failure_;
  absl::Status status_;
};

}  // namespace

absl::Status ErrorAtLine(const std::string& path, int line, std::string_view what,
                         Failure failure) {
  return WithFailure(
      absl::InvalidArgumentError(absl::StrCat(path, ":", line, ": ", std::string(what))), failure);
}

absl::Status ReadTextProto(const std::string& path, Failure bad_content,
                           google::protobuf::Message* message,
                           google::protobuf::TextFormat::ParseInfoTree* positions) {
  const absl::StatusOr<std::unique_ptr<MappedFile>> file = MappedFile::Open(path);
  if (!file.ok()) return WithFailure(file.status(), Failure::kInput);
  const auto bytes = (*file)->bytes();
  return ParseTextProto(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                        bad_content, message, positions);
}

absl::Status ParseTextProto(const std::string& name, std::string_view text, Failure bad_content,
                            google::protobuf::Message* message,
                            google::protobuf::TextFormat::ParseInfoTree* positions) {
  const std::string type(message->GetTypeName());
  if (text.size() > kMaxBytes) {
    return InputError(name, absl::StrCat("is not a textproto of ", type, ": it has ", text.size(),
                                         " bytes, more than ", kMaxBytes));
  }
  google::protobuf::io::ArrayInputStream stream(text.data(), static_cast<int>(text.size()));
  FirstError errors(name, bad_content);
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.WriteLocationsTo(positions);
  if (parser.Parse(&stream, message)) return absl::OkStatus();
  RETURN_IF_ERROR(errors.status());
  return ErrorAtLine(name, 1, absl::StrCat("is not a textproto of ", type), bad_content);
}

}  // namespace grapevine
