#include "run/records/sweep_directory.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "run/config/config_field.h"
#include "run/config/config_file.h"
#include "run/records/output_file.h"
#include "run/records/run_directory.h"
#include "system/file.h"

namespace grapevine {
namespace {

namespace fs = std::filesystem;

std::string MarkerPath(const std::string& sweep) { return absl::StrCat(sweep, "/sweep.textproto"); }
std::string TextPath(const std::string& sweep) { return absl::StrCat(sweep, "/sweep.txt"); }

// Returns the elements of a list, in the order of the cells.
std::vector<std::string> ValuesOf(size_t list, const std::vector<SweepCell>& cells) {
  std::vector<std::string> values;
  std::set<std::string> seen;
  for (const SweepCell& cell : cells) {
    const std::string& value = cell.coordinates[list].second;
    if (seen.insert(value).second) values.push_back(ListElement(value));
  }
  return values;
}

// The marker has the lists as comments, so that it can serve as a file for --config.
std::string MarkerText(const std::vector<SweepCell>& cells) {
  std::string text;
  const SweepCell& first = cells.front();
  for (size_t i = 0; i < first.coordinates.size(); ++i) {
    absl::StrAppend(&text, "# ", FlagName(ConfigFieldNamed(first.coordinates[i].first)), "=",
                    absl::StrJoin(ValuesOf(i, cells), ","), "\n");
  }
  return text + ConfigFileText(first.resolved.config);
}

// Returns the lists of a marker by the names of their fields.
std::map<std::string, std::string> ListsIn(const std::string& marker) {
  std::map<std::string, std::string> lists;
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(marker, '\n'))) {
    for (const ConfigField* field : ConfigFields()) {
      const std::string flag = absl::StrCat("# ", FlagName(*field), "=");
      if (line.starts_with(flag)) lists[field->name()] = line.substr(flag.size());
    }
  }
  return lists;
}

// Returns the text of the marker; empty if there is none, and so no sweep in the folder.
std::string EarlierMarkerText(const std::string& sweep) {
  return ReadFile(MarkerPath(sweep)).value_or("");
}

// Returns a line of `line_of` that `text` lacks; empty if there is none.
std::string LineThatIsNotIn(const std::string& text, const std::string& line_of) {
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  const std::set<std::string> known(lines.begin(), lines.end());
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(line_of, '\n'))) {
    if (!known.contains(line)) return line;
  }
  return "";
}

absl::Status AnotherSweep(const std::string& path, const std::string& earlier,
                          const std::string& wanted) {
  std::string what;
  if (const std::string line = LineThatIsNotIn(earlier, wanted); !line.empty()) {
    what = absl::StrCat("`", line, "` is not in it");
  } else {
    what = absl::StrCat("it has `", LineThatIsNotIn(wanted, earlier), "`");
  }
  return OutputError(absl::StrCat(path, " holds another sweep (", what,
                                  "); choose another --out, or replace it with --overwrite"));
}

// Returns the cells of the sweep in that folder.
absl::StatusOr<std::vector<SweepCell>> CellsIn(const std::string& sweep) {
  const std::string marker = EarlierMarkerText(sweep);
  return ResolveSweep({.flags = ListsIn(marker), .file = MarkerPath(sweep), .text = marker});
}

// Returns the folders of the cells that exist, without links: a link leads outside the sweep.
absl::StatusOr<std::vector<std::string>> EarlierCells(const std::string& sweep) {
  const auto cells = CellsIn(sweep);
  if (!cells.ok()) {
    return OutputError(absl::StrCat(
        "cannot tell which folders are the earlier sweep's: ", cells.status().message(),
        "; choose another --out, or remove the folder yourself"));
  }
  std::vector<std::string> folders;
  for (const SweepCell& cell : *cells) {
    std::string folder = absl::StrCat(sweep, "/", cell.label);
    std::error_code error;
    const bool is_link = fs::is_symlink(folder, error);
    if (!cell.label.empty() && !is_link && IsRunDirectory(folder)) {
      folders.push_back(std::move(folder));
    }
  }
  return folders;
}

absl::Status CheckNoLinks(const std::string& sweep, const std::vector<SweepCell>& cells) {
  for (const SweepCell& cell : cells) {
    const std::string folder = absl::StrCat(sweep, "/", cell.label);
    std::error_code error;
    if (!fs::is_symlink(folder, error)) continue;
    return OutputError(absl::StrCat(folder,
                                    " is a link; a cell of the sweep would replace what it leads "
                                    "to: remove it, or choose another --out"));
  }
  return absl::OkStatus();
}

absl::Status CheckReplaceable(const std::string& path, const std::vector<SweepCell>& cells) {
  RETURN_IF_ERROR(EarlierCells(path).status());
  return CheckNoLinks(path, cells);
}

absl::Status CheckContent(const std::string& path, const std::vector<SweepCell>& cells) {
  ASSIGN_OR_RETURN(const FoundFolder found, LookBesideLock(path));
  if (found == FoundFolder::kFull) {
    const std::string earlier = EarlierMarkerText(path);
    if (earlier.empty()) {
      return OutputError(absl::StrCat(
          path, " is neither empty nor an earlier sweep's folder; choose another --out"));
    }
    const std::string wanted = MarkerText(cells);
    if (cells.front().resolved.config.overwrite()) {
      RETURN_IF_ERROR(CheckReplaceable(path, cells));
    } else if (earlier != wanted) {
      return AnotherSweep(path, earlier, wanted);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckOut(const std::string& path, const std::vector<SweepCell>& cells) {
  RETURN_IF_ERROR(CheckNobodyWrites(path));
  RETURN_IF_ERROR(CheckContent(path, cells));
  return CheckWritable(path);
}

// Removes a cell. Other files in its folder stay, and so does the folder then.
absl::Status RemoveCell(const std::string& cell, absl::Time now) {
  {
    ASSIGN_OR_RETURN(const auto lock, RunLock::Take(cell, now));
    RETURN_IF_ERROR(RemoveRun(cell));
  }
  std::error_code error;
  if (fs::is_empty(cell, error)) fs::remove(cell, error);
  if (error) return OutputFolderError(error, "remove", cell);
  return absl::OkStatus();
}

// The marker stays: if we are interrupted before it is rewritten, this is still a sweep's folder.
absl::Status RemoveEarlierSweep(const std::string& sweep, absl::Time now) {
  ASSIGN_OR_RETURN(const std::vector<std::string> cells, EarlierCells(sweep));
  for (const std::string& cell : cells) {
    RETURN_IF_ERROR(RemoveCell(cell, now));
  }
  for (const std::string& table : {SweepCsvPath(sweep), TextPath(sweep)}) {
    std::error_code error;
    fs::remove(table, error);
    if (error) return OutputFolderError(error, "remove", table);
  }
  return absl::OkStatus();
}

absl::StatusOr<LockedFolder> PrepareOut(const std::string& path,
                                        const std::vector<SweepCell>& cells, absl::Time now) {
  RETURN_IF_ERROR(CheckOut(path, cells));
  RETURN_IF_ERROR(CreateFolders(path));
  ASSIGN_OR_RETURN(LockedFolder locked, LockFolder(path, now));
  // Checks again: another sweep may have written here before the lock was taken.
  RETURN_IF_ERROR(CheckContent(path, cells));
  if (cells.front().resolved.config.overwrite()) RETURN_IF_ERROR(RemoveEarlierSweep(path, now));
  return locked;
}

std::string DefaultPath(absl::Time now) {
  return absl::StrCat("runs/", absl::FormatTime("%Y%m%d-%H%M%S", now, absl::UTCTimeZone()),
                      "-sweep");
}

absl::StatusOr<LockedFolder> PrepareDefaultOut(absl::Time now) {
  ASSIGN_OR_RETURN(std::string path, CreateFreshFolder(DefaultPath(now)));
  return LockFolder(std::move(path), now);
}

}  // namespace

absl::Status CheckSweepDirectory(const std::vector<SweepCell>& cells) {
  const Config& config = cells.front().resolved.config;
  return config.has_out() ? CheckOut(config.out(), cells) : CheckWritable("runs");
}

absl::StatusOr<LockedFolder> CreateSweepDirectory(const std::vector<SweepCell>& cells,
                                                  absl::Time now) {
  const Config& config = cells.front().resolved.config;
  ASSIGN_OR_RETURN(LockedFolder sweep, config.has_out() ? PrepareOut(config.out(), cells, now)
                                                        : PrepareDefaultOut(now));
  RETURN_IF_ERROR(WriteOutputFile(MarkerPath(sweep.path), MarkerText(cells)));
  return sweep;
}

std::vector<std::string> CellLabels(const std::string& sweep) {
  std::vector<std::string> labels;
  if (EarlierMarkerText(sweep).empty()) return labels;
  const auto cells = CellsIn(sweep);
  if (!cells.ok()) return labels;
  for (const SweepCell& cell : *cells) labels.push_back(cell.label);
  return labels;
}

std::string SweepCsvPath(const std::string& sweep) { return absl::StrCat(sweep, "/sweep.csv"); }

absl::Status WriteSweepTables(const std::string& sweep, const std::string& csv,
                              const std::string& text) {
  RETURN_IF_ERROR(WriteOutputFile(SweepCsvPath(sweep), csv));
  return WriteOutputFile(TextPath(sweep), text);
}

}  // namespace grapevine
