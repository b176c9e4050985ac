#include "experiment/sweep/input_files.h"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "run/config/config_field.h"

namespace grapevine {
namespace {

bool IsFile(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

// A path may have colons, too: every stretch of fields after the name is tried.
void AddFilesOfSpec(const std::string& spec, std::vector<std::string>* files) {
  for (size_t begin = spec.find(':'); begin != spec.npos; begin = spec.find(':', begin + 1)) {
    for (size_t end = begin; end != spec.npos;) {
      end = spec.find(':', end + 1);
      const std::string part = spec.substr(begin + 1, end - begin - 1);
      if (IsFile(part)) files->push_back(part);
    }
  }
}

}  // namespace

std::vector<std::string> InputFiles(const Config& config) {
  std::vector<std::string> files;
  for (const ConfigField* field : ConfigFields()) {
    const bool text = field->cpp_type() == ConfigField::CPPTYPE_STRING;
    if (!text || !DescribesRun(*field) || !HasField(*field, config)) continue;
    const std::string value = FieldText(*field, config);
    if (InfoOf(*field).placeholder() == "FILE" && IsFile(value)) files.push_back(value);
    AddFilesOfSpec(value, &files);
  }
  return files;
}

std::string InputFilesText(const Config& config) {
  std::string text;
  for (const std::string& file : InputFiles(config)) {
    struct stat found;
    if (stat(file.c_str(), &found) != 0) continue;  // it has just gone
    absl::StrAppend(&text, file, ": ", found.st_size, " bytes, inode ", found.st_ino,
                    ", written at ", found.st_mtim.tv_sec, ".",
                    absl::Dec(found.st_mtim.tv_nsec, absl::kZeroPad9), "\n");
  }
  return text;
}

}  // namespace grapevine
