#include "kernels/tensor/cuda/library/shared_library.h"

#include <dlfcn.h>

#include <utility>

#include "absl/strings/str_cat.h"

namespace grapevine {
namespace {

constexpr char kToolkitFolder[] = GRAPEVINE_CUDA_HOME "/lib64/";

}  // namespace

SharedLibrary::SharedLibrary(std::string file, std::string product)
    : file_(std::move(file)), product_(std::move(product)) {
  std::string said;
  for (const std::string& place : {file_, kToolkitFolder + file_}) {
    library_ = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ != nullptr) return;
    absl::StrAppend(&said, said.empty() ? "" : "; ", dlerror());
  }
  Fail(said);
}

void* SharedLibrary::Address(const char* name) {
  if (library_ == nullptr) return nullptr;
  void* const address = dlsym(library_, name);
  if (address == nullptr) Fail(dlerror());
  return address;
}

void SharedLibrary::Fail(std::string_view said) {
  if (!status_.ok()) return;
  status_ = absl::UnavailableError(
      absl::StrCat(file_, " cannot be used: ", std::string(said), "; install ", product_,
                   ", or name the folder that has it in LD_LIBRARY_PATH"));
}

}  // namespace grapevine
