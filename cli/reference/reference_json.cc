#include "cli/reference/reference_json.h"

#include <nlohmann/json.hpp>

namespace grapevine {
namespace {

using Json = nlohmann::ordered_json;

void AddText(Json& json, const char* key, const std::string& text) {
  if (!text.empty()) json[key] = text;
}

Json JsonOf(const FlagDescription& flag) {
  Json json = {{"names", flag.names}};
  AddText(json, "placeholder", flag.placeholder);
  AddText(json, "help", flag.help);
  AddText(json, "default", flag.fallback);
  AddText(json, "group", flag.group);
  if (!flag.words.empty()) json["words"] = flag.words;
  if (flag.required) json["required"] = true;
  if (flag.repeated) json["repeated"] = true;
  return json;
}

void AddFlags(Json& json, const char* key, const std::vector<FlagDescription>& flags) {
  for (const FlagDescription& flag : flags) json[key].push_back(JsonOf(flag));
}

Json JsonOf(const CommandDescription& command) {
  Json json = {{"name", command.name}};
  AddText(json, "help", command.help);
  AddFlags(json, "arguments", command.arguments);
  AddFlags(json, "flags", command.flags);
  AddText(json, "footer", command.footer);
  for (const CommandDescription& inner : command.commands) {
    json["commands"].push_back(JsonOf(inner));
  }
  return json;
}

Json JsonOf(const Listing& listing) {
  Json json = {{"name", listing.name}};
  AddText(json, "options", listing.options);
  AddText(json, "help", listing.help);
  return json;
}

}  // namespace

std::string ReferenceJson(const CommandDescription& program,
                          const std::map<std::string, std::vector<Listing>>& registered) {
  Json json = JsonOf(program);
  for (const auto& [setting, listings] : registered) {
    for (const Listing& listing : listings) json["registered"][setting].push_back(JsonOf(listing));
  }
  return json.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

}  // namespace grapevine
