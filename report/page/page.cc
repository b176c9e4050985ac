#include "report/page/page.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status.h"
#include "report/curve.h"
#include "report/page/block.h"
#include "report/page/sections.h"
#include "report/run_reader.h"
#include "run/records/membership_text.h"
#include "run/records/run_directory.h"

namespace grapevine {
namespace {

constexpr char kHtml[] =
#include "report/page/page.html.inc"
    ;
constexpr char kStyle[] =
#include "report/page/page.css.inc"
    ;
constexpr char kScript[] =
#include "report/page/page.js.inc"
    ;

constexpr char kStart[] =
#include "report/page/start.js.inc"
    ;
constexpr char kFollow[] =
#include "report/page/follow.js.inc"
    ;

// Returns the page. `connect` says what its scripts may ask for, in the words of a
// Content-Security-Policy; `start` is the last of the scripts.
std::string Html(const std::string& data, const char* connect, const char* start) {
  // Replaces all in a single pass, which does not look at what stands in the data.
  return absl::StrReplaceAll(kHtml, {{"{{style}}", kStyle},
                                     {"{{script}}", kScript},
                                     {"{{start}}", start},
                                     {"{{connect}}", connect},
                                     {"{{data}}", data}});
}

// Returns the message as a sentence for the page.
std::string Sentence(const absl::Status& status) {
  std::string text(status.message());
  if (!absl::EndsWith(text, ".")) text += ".";
  return text;
}

PageBlock SectionOnPage(const char* id, const char* title, absl::StatusOr<PageBlocks> blocks) {
  PageBlock section = {{"id", id}, {"title", title}};
  if (blocks.ok()) {
    section["blocks"] = *std::move(blocks);
  } else {
    section["missing"] = Sentence(blocks.status());
  }
  return section;
}

PageBlock SectionsOfAll(const std::vector<RecordedRun>& runs, const std::string& target) {
  return PageBlock::array(
      {SectionOnPage("outcome", "Outcome", OutcomeBlocks(runs, target)),
       SectionOnPage("learning", "Learning", LearningBlocks(runs)),
       SectionOnPage("prediction", "Simulated beside measured", PredictionBlocks(runs)),
       SectionOnPage("staleness", "Staleness", StalenessBlocks(runs))});
}

PageBlock SectionsOf(const RecordedRun& run) {
  return PageBlock::array({SectionOnPage("graph", "Graph", GraphBlocks(run)),
                           SectionOnPage("waiting", "Who waited for whom", WaitingBlocks(run)),
                           SectionOnPage("utilization", "Utilization", UtilizationBlocks(run)),
                           SectionOnPage("settings", "Configuration", SettingsBlocks(run))});
}

void LeaveOutWhatIsMissing(PageBlock* sections) {
  PageBlock shown = PageBlock::array();
  for (PageBlock& section : *sections) {
    if (!section.contains("missing")) shown.push_back(std::move(section));
  }
  *sections = std::move(shown);
}

// A run that failed or still goes on has no summary.
std::string StateOf(const RecordedRun& run, bool live) {
  if (!IsFinishedRun(run.path)) {
    return live ? "under way" : "not finished: it is still running, or it failed";
  }
  const absl::StatusOr<Summary> summary = ReadSummary(run.path);
  const std::string members = summary.ok() ? MembershipText(*summary) : "";
  return members.empty() ? "finished" : absl::StrCat("finished, ", members);
}

PageBlock RunsOnPage(const std::vector<RecordedRun>& runs, bool live) {
  const std::vector<std::string> labels = CurveLabels(ConfigsOf(runs));
  PageBlock shown = PageBlock::array();
  for (size_t i = 0; i < runs.size(); ++i) {
    shown.push_back(
        {{"path", runs[i].path},
         {"label", labels[i]},
         {"state", StateOf(runs[i], live)},
         {"simulated", IsSimulated(runs[i].config)},
         {"program", absl::StrCat(runs[i].config.version(), " (", runs[i].config.revision(), ")")},
         {"sections", SectionsOf(runs[i])}});
    if (live) LeaveOutWhatIsMissing(&shown.back()["sections"]);
  }
  return shown;
}

PageBlock CurvesOnPage(const std::vector<RecordedRun>& runs) {
  PageBlock shown = PageBlock::array();
  for (const Curve& curve : GroupRuns(runs)) {
    shown.push_back(
        {{"label", curve.label}, {"simulated", IsSimulated(curve.runs.front()->config)}});
  }
  return shown;
}

// Returns the JSON in ASCII, without anything that means something to HTML.
std::string Escaped(const PageBlock& json) {
  const std::string text =
      json.dump(-1, ' ', /*ensure_ascii=*/true, PageBlock::error_handler_t::replace);
  return absl::StrReplaceAll(text, {{"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}});
}

}  // namespace

namespace {

// Runs may have nothing in common; then the title is their number.
std::string TitleOf(const std::vector<RecordedRun>& runs) {
  const std::string common = CommonTitle(ConfigsOf(runs));
  return common.empty() ? absl::StrCat(runs.size(), " runs") : common;
}

}  // namespace

absl::StatusOr<std::string> PageData(const PageOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<RecordedRun> runs, ReadRuns(options.runs));
  PageBlock sections = SectionsOfAll(runs, options.target);
  if (options.live) {
    LeaveOutWhatIsMissing(&sections);
    sections.insert(sections.begin(),
                    SectionOnPage("progress", "Progress", ProgressBlocks(runs.front())));
  }
  return Escaped({{"title", options.title.empty() ? TitleOf(runs) : options.title},
                  {"curves", CurvesOnPage(runs)},
                  {"sections", std::move(sections)},
                  {"runs", RunsOnPage(runs, options.live)}});
}

absl::StatusOr<std::string> PageOfRuns(const PageOptions& options) {
  ASSIGN_OR_RETURN(const std::string data, PageData(options));
  return Html(data, "'none'", kStart);
}

std::string LivePage() { return Html("null", "'self'", kFollow); }

}  // namespace grapevine
