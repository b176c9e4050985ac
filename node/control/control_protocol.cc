#include "node/control/control_protocol.h"

#include <map>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "node/control/address_list.h"
#include "node/identity/host_address.h"

namespace grapevine {
namespace {

// Enough to see a difference, not enough to fill a log.
constexpr size_t kMaxValue = 200;

std::string Quoted(const std::string* value) {
  if (value == nullptr) return "not given";
  return value->size() <= kMaxValue ? absl::StrCat("\"", *value, "\"")
                                    : absl::StrCat("\"", value->substr(0, kMaxValue), "...\"");
}

std::string Differs(const std::string& name, const std::string& there, const std::string& here,
                    const std::string& remedy) {
  return absl::StrCat(name, " is ", there, " there and ", here, " on rank 0; ", remedy);
}

std::map<std::string, const std::string*> ByName(const control::Registration& registration) {
  std::map<std::string, const std::string*> values;
  for (const control::Agreement& agreement : registration.agreements()) {
    values.emplace(agreement.name(), &agreement.value());
  }
  return values;
}

const std::string* Find(const std::map<std::string, const std::string*>& values,
                        const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? nullptr : found->second;
}

std::string Disagreement(const control::Registration& own, const control::Registration& given,
                         RunStage stage) {
  const auto counts = [stage](const control::Agreement& agreement) {
    return stage == RunStage::kStart || !agreement.of_the_start();
  };
  constexpr char kRemedy[] = "start every rank with the same configuration and the same files";
  const auto here = ByName(own), there = ByName(given);
  // The order is rank 0's, which lists first what explains most.
  for (const control::Agreement& agreement : own.agreements()) {
    if (!counts(agreement)) continue;
    const std::string* value = Find(there, agreement.name());
    if (value == nullptr || *value != agreement.value()) {
      return Differs(agreement.name(), Quoted(value), Quoted(&agreement.value()), kRemedy);
    }
  }
  for (const control::Agreement& agreement : given.agreements()) {
    if (counts(agreement) && Find(here, agreement.name()) == nullptr) {
      return Differs(agreement.name(), Quoted(&agreement.value()), Quoted(nullptr), kRemedy);
    }
  }
  return "";
}

std::string Claim(const control::Registration& registration) {
  return absl::StrCat("control: rank ", registration.rank(), ", process ", registration.nonce(),
                      ", at ", registration.address(), ", call ", registration.call(), ", run \"",
                      registration.run_id(), "\"");
}

}  // namespace

void Prove(const RunToken& token, control::Registration* registration) {
  registration->set_proof(token.Proof(Claim(*registration)));
}

bool IsProven(const control::Registration& registration, const RunToken& token) {
  return token.Accepts(registration.proof(), Claim(registration));
}

std::string Objection(const control::Registration& own, const control::Registration& given,
                      RunStage stage) {
  if (given.protocol_version() != own.protocol_version()) {
    return Differs("the control protocol's version", absl::StrCat(given.protocol_version()),
                   absl::StrCat(own.protocol_version()), "run the same grapevine on every host");
  }
  if (given.build() != own.build()) {
    return Differs("the build of grapevine", given.build().empty() ? "not given" : given.build(),
                   own.build(), "run the same grapevine on every host");
  }
  if (given.world_size() != own.world_size()) {
    return Differs("the number of nodes", absl::StrCat(given.world_size()),
                   absl::StrCat(own.world_size()),
                   "give every rank the same WORLD_SIZE or host file");
  }
  if (given.rank() < 0 || given.rank() >= own.world_size()) {
    return absl::StrCat("rank ", given.rank(), " does not exist among ", own.world_size(),
                        " nodes; give each a rank of its own from 0 to ", own.world_size() - 1);
  }
  if (given.address().size() > kMaxAddressBytes) {
    return absl::StrCat("its address has ", given.address().size(), " bytes, more than ",
                        kMaxAddressBytes, "; give a shorter one with --advertise=HOST:PORT");
  }
  const absl::StatusOr<HostAddress> address = ParseHostAddress(given.address());
  if (!address.ok()) return std::string(address.status().message());
  if (address->port == 0 || IsEverywhere(address->host)) {
    return absl::StrCat("its advertised address \"", given.address(),
                        "\" cannot be dialled; give --advertise=HOST:PORT");
  }
  const bool elsewhere = !given.seen_from().empty() && !IsLoopback(given.seen_from());
  if (IsLoopback(address->host) && elsewhere) {
    return absl::StrCat("its address ", given.address(),
                        " can be dialled on its own machine only, and it comes from ",
                        given.seen_from(),
                        "; let it listen with --bind=0.0.0.0, or give --advertise=HOST:PORT");
  }
  return Disagreement(own, given, stage);
}

namespace {

std::string MeanObjection(const control::Resumed& resumed) {
  return absl::StrCat(
      "the run goes on from the mean of the models in the checkpoint of round ", resumed.round(),
      ", which had other nodes, and it does not have that; give it a --resume=DIR with the same "
      "checkpoints/round-",
      resumed.round(), " as rank 0's: that one, where disks are shared, or a copy of the folder");
}

}  // namespace

std::string PartObjection(const control::Resumed& resumed, const control::Registration& given) {
  const control::SavedPart& written = resumed.parts(given.rank());
  std::string others;
  for (const control::SavedPart& part : given.parts()) {
    if (part.round() != resumed.round()) {
      absl::StrAppend(&others, others.empty() ? "" : ", ", part.round());
      continue;
    }
    if (part.bytes() == written.bytes() && part.checksum() == written.checksum()) return "";
    if (resumed.from_mean()) return MeanObjection(resumed);
    return absl::StrCat("its part of the checkpoint of round ", resumed.round(),
                        " is not the one that was written; go on from an earlier one with "
                        "--resume=DIR/checkpoints/round-R on all nodes");
  }
  if (resumed.from_mean()) return MeanObjection(resumed);
  return absl::StrCat("it has no part of the checkpoint of round ", resumed.round(),
                      others.empty() ? "" : absl::StrCat(" (it has those of rounds ", others, ")"),
                      "; give it the --resume=DIR whose checkpoints/round-", resumed.round(),
                      " has node-", given.rank(), ".safetensors");
}

}  // namespace grapevine
