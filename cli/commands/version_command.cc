#include <dnnl.h>
#include <google/protobuf/stubs/common.h>
#include <grpcpp/grpcpp.h>
#include <zlib.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/commands/commands.h"
#include "run/records/revision.h"

namespace grapevine {
namespace {

// Not called by name, so that a build without tcmalloc (sanitizers) links.
extern "C" const char* tc_version(int*, int*, const char**) __attribute__((weak));

std::string Allocator() {
  return tc_version == nullptr ? "libc" : tc_version(nullptr, nullptr, nullptr);
}

struct Part {
  const char* name;
  std::string version;
};

std::vector<Part> Parts() {
  const dnnl_version_t& dnnl = *dnnl_version();
  return {{"revision", Revision()},
          {"compiler", __VERSION__},
#ifdef NDEBUG
          {"build", "optimized"},
#else
          {"build", "with assertions"},
#endif
          {"backends", "cpu"},
          {"onednn", absl::StrFormat("%d.%d.%d", dnnl.major, dnnl.minor, dnnl.patch)},
          {"grpc", grpc::Version()},
          {"protobuf", google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION)},
          {"zlib", zlibVersion()},
          {"allocator", Allocator()}};
}

std::string VersionLine() { return absl::StrCat("grapevine ", Version(), " (", Revision(), ")"); }

void PrintJson() {
  nlohmann::ordered_json json = {{"version", Version()}};
  for (const Part& part : Parts()) json[part.name] = part.version;
  std::cout << json.dump(2) << std::endl;
}

void PrintText() {
  std::cout << "grapevine " << Version() << "\n";
  for (const Part& part : Parts()) {
    std::cout << absl::StreamFormat("  %-10s %s\n", part.name, part.version);
  }
}

}  // namespace

void AddVersionCommand(CommandLine& line) {
  line.SetVersion(VersionLine());
  Command command = line.AddCommand("version", "print version, compiler and libraries");
  const Flag json = command.AddSwitch({.names = "--json", .help = "print one JSON object"});
  command.OnChosen([json] {
    json.given() ? PrintJson() : PrintText();
    return absl::OkStatus();
  });
}

}  // namespace grapevine
