#include "sim/platform/platform_textproto.h"

#include <google/protobuf/text_format.h>

#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/status_macros.h"
#include "run/text_proto.h"
#include "sim/platform/platform.pb.h"

namespace grapevine {
namespace {

using Positions = google::protobuf::TextFormat::ParseInfoTree;

// Turns the parts of a file into a description, and says where they stand.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

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

}  // namespace

absl::StatusOr<PlatformDescription> ReadPlatformTextproto(const std::string& path) {
  return Reader(path).Read();
}

}  // namespace grapevine
