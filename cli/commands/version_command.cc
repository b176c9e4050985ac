#ifdef GRAPEVINE_WITH_CUDA
#include <cuda_runtime_api.h>
#include <cudnn_version.h>
#endif
#include <dnnl.h>
#include <google/protobuf/stubs/common.h>
#include <grpcpp/grpcpp.h>
#include <zlib.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/commands/commands.h"
#include "experiment/core/spec_help.h"
#include "run/config/config_field.h"
#include "run/records/revision.h"

namespace grapevine {
namespace {

// Not called by name, so that a build without tcmalloc (sanitizers) links.
extern "C" const char* tc_version(int*, int*, const char**) __attribute__((weak));

std::string Allocator() {
  return tc_version == nullptr ? "libc" : tc_version(nullptr, nullptr, nullptr);
}

// Return the versions of the toolkit and the library with which this was built; empty without them.
std::string CudaVersion() {
#ifdef CUDART_VERSION
  return absl::StrFormat("%d.%d", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
#else
  return "";
#endif
}

std::string CudnnVersion() {
#ifdef CUDNN_MAJOR
  return absl::StrFormat("%d.%d.%d", CUDNN_MAJOR, CUDNN_MINOR, CUDNN_PATCHLEVEL);
#else
  return "";
#endif
}

struct Part {
  const char* name;
  std::string version;  // empty: this build has none
};

std::vector<Part> Parts() {
  const dnnl_version_t& dnnl = *dnnl_version();
  return {{"revision", Revision()},
          {"date", RevisionDate()},
          {"compiler", __VERSION__},
#ifdef NDEBUG
          {"build", "optimized"},
#else
          {"build", "with assertions"},
#endif
          {"onednn", absl::StrFormat("%d.%d.%d", dnnl.major, dnnl.minor, dnnl.patch)},
          {"cuda", CudaVersion()},
          {"cudnn", CudnnVersion()},
          {"grpc", grpc::Version()},
          {"protobuf", google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION)},
          {"zlib", zlibVersion()},
          {"allocator", Allocator()}};
}

std::vector<std::string> Backends() {
  std::vector<std::string> backends = {"cpu"};
  if (!CudaVersion().empty()) backends.push_back("cuda");
  return backends;
}

std::string VersionLine() { return absl::StrCat("grapevine ", Version(), " (", Revision(), ")"); }

void PrintJson() {
  nlohmann::ordered_json json = {{"version", Version()}};
  for (const Part& part : Parts()) {
    json[part.name] = nullptr;
    if (!part.version.empty()) json[part.name] = part.version;
  }
  json["backends"] = Backends();
  for (const std::string& field : SettingsWithSpecs()) {
    json["registered"][field] = ValueWords(ConfigFieldNamed(field));
  }
  std::cout << json.dump(2) << std::endl;
}

void PrintText() {
  std::cout << "grapevine " << Version() << "\n";
  for (const auto& [name, version] : Parts()) {
    if (!version.empty()) std::cout << absl::StreamFormat("  %-10s %s\n", name, version);
  }
  std::cout << absl::StreamFormat("  %-10s %s\n", "backends", absl::StrJoin(Backends(), ", "));
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
