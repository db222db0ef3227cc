// Machines that programs are simulated on: a slice of a family, from the files built in or from one of the user's.
//
// A name is that of a slice built in ("tpu-v3-128"), of a file of the form of MachineFamily ("my.textproto"; its first
// slice), or of a slice of such a file ("my.textproto:big"); with a number before it, of several
// such slices that a data-centre network joins ("4xtpu-v5e-256").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "simulator/machines/machine.pb.h"

namespace toroid {

// Which values of the core times are predicted from: those that the compiler of the machine counts on, or, where the machine
// was measured and they do not hold, what was measured.
enum class Rates : uint8_t { kCompiler, kMeasured };

// "compiler", "measured".
absl::string_view RatesName(Rates rates);

struct Machine {
  MachineFamily family;
  SliceSpec slice;
  Rates rates = Rates::kCompiler;

  // In all slices.
  int64_t chips() const;
  int64_t cores() const { return chips() * family.cores_per_chip(); }
};

// Errors: kInvalidArgument if the machine has fewer cores, as programs see them, than a program has devices.
absl::Status CheckHasCores(const Machine& machine, int64_t devices);

// Names of the slices built in, smallest first in each family.
std::vector<std::string> BuiltInSlices();

// Errors: kNotFound: no such slice or file, with the nearest name; kInvalidArgument for 0 slices, too many, or several of a
// family without a data-centre network; those of ParseMachine.
absl::StatusOr<Machine> LoadMachine(const std::string& name, Rates rates = Rates::kCompiler);

// Replaces values of its core by what was measured, if `rates` are those.
void UseRates(Rates rates, Machine* machine);

// `text` in the text form of MachineFamily; `slice` empty: its first; `place` is what errors begin with.
// Errors: kInvalidArgument "PLACE:LINE:COL: what" for text that does not parse; "PLACE: FIELD ..." for a number that is
// not finite, or negative; a rate (*_per_second) or size of 0; a slice without chips, with more wraps than axes,
// with a name twice, of more than 2^20 cores.
absl::StatusOr<Machine> ParseMachine(absl::string_view text, absl::string_view slice,
                                     const std::string& place);

// Sets one number of the family, named by its path: "network.link_bytes_per_second", "slices[0].chips[1]".
// Errors: kNotFound with the nearest name; kInvalidArgument for a value that the field cannot hold.
absl::Status SetParameter(absl::string_view path, double value, MachineFamily* family);

// Paths of all numbers that SetParameter can set, those of slices left out.
std::vector<std::string> ParameterPaths(const MachineFamily& family);

// What SetParameter would replace. Errors: kNotFound.
absl::StatusOr<double> GetParameter(absl::string_view path, const MachineFamily& family);

}  // namespace toroid
