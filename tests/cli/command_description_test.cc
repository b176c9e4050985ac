#include "cli/flags/command_description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/flags/command_line.h"
#include "cli/reference/manual_page.h"
#include "cli/reference/reference_json.h"
#include "cli/reference/shell_completion.h"
#include "tests/testing/json_text.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// What a command with flags of all sorts is described as.
CommandDescription Described() {
  CommandLine line("grapevine", "for a test");
  line.SetVersion("1");
  std::string out = "here", kind = "a", command_name;
  std::vector<std::string> runs;
  Command command = line.AddCommand("draw", "it's a command");
  command.AddFlag({.names = "-o,--out", .help = "a file", .placeholder = "FILE"}, &out).Required();
  command
      .AddFlag({.names = "--kind", .help = "a kind", .placeholder = "KIND", .group = "More"}, &kind)
      .OneOf({"a", "b"});
  command.AddText(
      {.names = "--spec", .help = "a spec", .placeholder = "SPEC", .words = {"ring", "file:PATH"}},
      /*repeated=*/true);
  command.AddSwitch({.names = "--norms,!--no-norms", .help = "a switch"});
  command.AddFlag({.names = "RUN", .help = "folders", .placeholder = "DIR"}, &runs).Required();
  command.SetFooter("Said at the\nend.\nExamples:\n  draw 'x'\n  .draw\n");
  Command help = line.AddCommand("help", "of a command");
  help.AddFlag({.names = "COMMAND", .help = "which", .placeholder = kCommandPlaceholder},
               &command_name);
  return line.Describe();
}

const FlagDescription& Named(const std::vector<FlagDescription>& flags, const std::string& name) {
  for (const FlagDescription& flag : flags) {
    for (const std::string& typed : flag.names) {
      if (typed == name) return flag;
    }
  }
  ADD_FAILURE() << "no flag " << name;
  return flags.front();
}

TEST(CommandDescription, HasWhatTheHelpHas) {
  const CommandDescription program = Described();
  EXPECT_EQ(program.name, "grapevine");
  ASSERT_EQ(program.commands.size(), 2u);
  const CommandDescription& draw = program.commands[0];
  EXPECT_EQ(draw.name, "draw");
  EXPECT_EQ(draw.help, "it's a command");
  // Those of a heading together, "Options" first.
  EXPECT_EQ(draw.flags.back().names, (std::vector<std::string>{"--kind"}));
  const FlagDescription& out = Named(draw.flags, "--out");
  EXPECT_THAT(out.names, ElementsAre("-o", "--out"));
  EXPECT_EQ(out.placeholder, "FILE");
  EXPECT_EQ(out.fallback, "here");
  EXPECT_TRUE(out.required);
  EXPECT_FALSE(out.repeated);
  EXPECT_THAT(Named(draw.flags, "--kind").words, ElementsAre("a", "b"));
  EXPECT_EQ(Named(draw.flags, "--kind").placeholder, "KIND");
  EXPECT_TRUE(Named(draw.flags, "--spec").repeated);
  EXPECT_THAT(Named(draw.flags, "--norms").names, ElementsAre("--norms", "--no-norms"));
  EXPECT_EQ(Named(draw.flags, "--norms").placeholder, "");
  ASSERT_EQ(draw.arguments.size(), 1u);
  EXPECT_THAT(draw.arguments[0].names, ElementsAre("RUN"));
  EXPECT_TRUE(draw.arguments[0].repeated);
}

TEST(CommandDescription, HasNoCommandThatIsHidden) {
  CommandLine line("program", "does things");
  line.AddCommand("seen", "for people").OnChosen([] { return absl::OkStatus(); });
  line.AddCommand("hidden", "for programs").Hide();
  const CommandDescription program = line.Describe();
  ASSERT_EQ(program.commands.size(), 1u);
  EXPECT_EQ(program.commands[0].name, "seen");
}

TEST(CommandDescription, AnArgumentThatIsACommandIsOneOfAll) {
  EXPECT_THAT(Described().commands[1].arguments[0].words, ElementsAre("draw", "help"));
}

TEST(CommandDescription, PlaceholdersSayWhereAPathIs) {
  for (const char* file : {"FILE", "file:PATH"}) {
    EXPECT_EQ(PathKindOf(file), PathKind::kFile) << file;
  }
  for (const char* folder : {"DIR", "mnist:DIR"}) {
    EXPECT_EQ(PathKindOf(folder), PathKind::kFolder) << folder;
  }
  for (const char* neither : {"", "N", "ring", "phantom:SIZE", "HOST[:PORT]"}) {
    EXPECT_EQ(PathKindOf(neither), PathKind::kNone) << neither;
  }
}

TEST(ManualPages, SayWhatTheHelpSaysInTheMacrosOfMan) {
  const std::vector<ManualPage> pages =
      ManualPages(Described(), {.version = "1.2.3", .date = "2024-02-29"});
  ASSERT_EQ(pages.size(), 3u);
  EXPECT_EQ(pages[0].name, "grapevine");
  EXPECT_THAT(pages[0].text, HasSubstr(".BR grapevine\\-draw (1)\nit\\(aqs a command\n"));
  EXPECT_EQ(pages[1].name, "grapevine-draw");
  const std::string& page = pages[1].text;
  EXPECT_THAT(page, HasSubstr(".TH GRAPEVINE\\-DRAW 1 \"2024-02-29\" \"Grapevine 1.2.3\""));
  EXPECT_THAT(page, HasSubstr("\\fBgrapevine draw\\fR [\\fIOPTIONS\\fR] \\fIRUN\\fR...\n"));
  EXPECT_THAT(page, HasSubstr(".TP\n\\fB\\-o\\fR, \\fB\\-\\-out\\fR=\\fIFILE\\fR\n"
                              "a file [here] (required)\n"));
  EXPECT_THAT(page, HasSubstr(".SS More\n.TP\n\\fB\\-\\-kind\\fR=\\fIKIND\\fR\n"));
  EXPECT_THAT(page, HasSubstr(".SH NOTES\nSaid at the end.\n"));
  // As it is, and no request.
  EXPECT_THAT(page, HasSubstr(".SH EXAMPLES\n.nf\ndraw \\(aqx\\(aq\n\\&.draw\n.fi\n"));
}

TEST(ShellCompletion, NamesTheProgram) {
  CommandDescription mine = Described();
  mine.name = "mine";
  for (const std::string& script : {BashCompletion(mine), ZshCompletion(mine)}) {
    EXPECT_THAT(script, HasSubstr("_mine() {"));
    EXPECT_THAT(script, HasSubstr("file"));
    EXPECT_THAT(script, Not(HasSubstr("grapevine")));
    EXPECT_THAT(script, Not(HasSubstr("PROGRAM")));
  }
}

TEST(ReferenceJson, HasAllThatIsDescribedAndRegistered) {
  const auto json = testing::JsonOf(ReferenceJson(
      Described(),
      {{"topology", {{"ring", "", "round"}, {"torus", "[:4x8]", "\xff"}}}, {"mixing", {}}}));
  EXPECT_EQ(json["name"], "grapevine");
  ASSERT_EQ(json["commands"].size(), 2u);
  const auto& draw = json["commands"][0];
  EXPECT_EQ(draw["help"], "it's a command");
  EXPECT_THAT(std::string(draw["footer"]), HasSubstr("Examples:\n  draw 'x'"));
  EXPECT_EQ(draw["arguments"][0]["names"][0], "RUN");
  EXPECT_EQ(draw["arguments"][0]["repeated"], true);
  const auto& kind = draw["flags"].back();
  EXPECT_EQ(kind["names"][0], "--kind");
  EXPECT_EQ(kind["placeholder"], "KIND");
  EXPECT_EQ(kind["default"], "a");
  EXPECT_EQ(kind["group"], "More");
  EXPECT_EQ(kind["words"].size(), 2u);
  EXPECT_FALSE(kind.contains("required"));
  EXPECT_EQ(json["registered"]["topology"][0]["help"], "round");
  EXPECT_FALSE(json["registered"]["topology"][0].contains("options"));
  EXPECT_EQ(json["registered"]["topology"][1]["options"], "[:4x8]");
  EXPECT_EQ(json["registered"]["topology"][1]["help"], "\xef\xbf\xbd");
  EXPECT_FALSE(json["registered"].contains("mixing"));
}

}  // namespace
}  // namespace grapevine
